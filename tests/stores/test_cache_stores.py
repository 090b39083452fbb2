"""What every store of cached answers does, run over each of them."""

import asyncio

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.cache_memory import MemoryCache
from webdata.stores.cache_redis import RedisCache
from webdata.stores.redis_server import RedisServer

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
async def test_what_is_put_comes_back(cache, value):
    """Bytes come back as they were put, under their key and no other."""
    await cache.put("one", value, 60)
    await cache.put("ONE", b"other", 60)

    assert await cache.get("one") == value
    assert await cache.get("two") is None


async def test_the_last_put_counts(cache):
    """What is put later takes the place of what was there, and has its own time."""
    await cache.put("one", b"first", 0.05)
    await cache.put("one", b"second", 60)
    await asyncio.sleep(0.07)

    assert await cache.get("one") == b"second"


async def test_time_ends(cache):
    """What was put for a while is gone after it."""
    await cache.put("one", b"coffee", 0.05)
    assert await cache.get("one") == b"coffee"
    await asyncio.sleep(0.07)

    assert await cache.get("one") is None


async def test_many_at_once(cache):
    """Hundreds of gets and puts at the same time each have their own answer."""
    await asyncio.gather(*(cache.put(f"{number}", f"value {number}".encode(), 60) for number in range(600)))
    found = await asyncio.gather(*(cache.get(f"{number}") for number in range(600)))

    assert found == [f"value {number}".encode() for number in range(600)]


async def test_what_is_kept_is_there_to_claim(cache):
    """Who claims a key gets what is kept under it, if it stays for long enough; else it may bring it."""
    await cache.put("one", b"coffee", 60)

    assert await cache.claim("one", "first", 5, 0) == b"coffee"
    assert await cache.claim("one", "first", 5, 59) == b"coffee"
    assert await cache.claim("one", "first", 5, 60) is True
    assert await cache.claim("two", "first", 5, 0) is True


async def test_an_owner_claims_again(cache):
    """An owner may claim its key as often as it likes; one that is released, or was never claimed, can be released."""
    for _ in range(2):
        assert await cache.claim("one", "first", 5, 0) is True
    for _ in range(2):
        await cache.release("one", "first")

    assert await cache.claim("one", "second", 5, 0) is True
