"""The common behaviour of caches, for each kind."""

import asyncio

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.cache_redis import RedisCache
from webdata.stores.ephemeral.redis_server import RedisServer

pytestmark = pytest.mark.task


@pytest_twisted.async_yield_fixture(params=["memory", "redis"])
async def cache(request):
    if request.param == "memory":
        yield MemoryCache(1_000_000)
        return
    shared = request.getfixturevalue("shared_redis")
    server = RedisServer(shared.url)
    yield RedisCache(server)
    await deferred_from_coro(server.close())


@pytest.mark.parametrize("value", [b"coffee", b"", bytes(range(256)) * 400, "kaffebønner 🫘\r\n".encode()])
async def test_a_value_is_read_as_it_was_put(cache, value):
    """A value is read under its own key, byte for byte."""
    await cache.put("one", value, 60)
    await cache.put("ONE", b"other", 60)

    assert await cache.get("one") == value
    assert await cache.get("two") is None


async def test_a_put_replaces_the_value_and_its_expiry(cache):
    """A later put replaces the value and its time to live."""
    await cache.put("one", b"first", 0.05)
    await cache.put("one", b"second", 60)
    await asyncio.sleep(0.07)

    assert await cache.get("one") == b"second"


async def test_a_value_expires(cache):
    """A value is gone after its time to live."""
    await cache.put("one", b"coffee", 0.5)
    assert await cache.get("one") == b"coffee"
    await asyncio.sleep(0.55)

    assert await cache.get("one") is None


async def test_concurrent_gets_and_puts_are_independent(cache):
    """Hundreds of concurrent gets and puts each have their own result."""
    await asyncio.gather(*(cache.put(f"{number}", f"value {number}".encode(), 60) for number in range(600)))
    values = await asyncio.gather(*(cache.get(f"{number}") for number in range(600)))

    assert values == [f"value {number}".encode() for number in range(600)]


async def test_a_claim_returns_a_value_that_stays_long_enough(cache):
    """A claim returns the cached value if it stays long enough, else permission to fill the key."""
    await cache.put("one", b"coffee", 60)

    assert await cache.claim("one", "first", 5, 0) == b"coffee"
    assert await cache.claim("one", "first", 5, 59) == b"coffee"
    assert await cache.claim("one", "first", 5, 60) is True
    assert await cache.claim("two", "first", 5, 0) is True


async def test_an_owner_may_claim_and_release_again(cache):
    """An owner may claim its key again, and release a key that is released already."""
    for _ in range(2):
        assert await cache.claim("one", "first", 5, 0) is True
    for _ in range(2):
        await cache.release("one", "first")

    assert await cache.claim("one", "second", 5, 0) is True
