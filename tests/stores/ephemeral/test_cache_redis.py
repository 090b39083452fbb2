"""The cache of several processes in one Redis."""

import asyncio

import pytest
import pytest_twisted
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.ephemeral.cache_redis import RedisCache, owned
from webdata.stores.ephemeral.redis_server import RedisServer

pytestmark = pytest.mark.task


@pytest_twisted.async_yield_fixture
async def cache(shared_redis):
    server = RedisServer(shared_redis.url)
    yield RedisCache(server)
    await deferred_from_coro(server.close())


async def test_a_key_has_one_owner_at_a_time(cache):
    """Of many concurrent claims of a key one succeeds; the next one does after its owner has released the key."""
    claimed = await asyncio.gather(*(cache.claim("one", f"owner {number}", 5, 0) for number in range(50)))
    assert claimed == [True, *[False] * 49]
    assert await cache.claim("two", "owner 1", 5, 0) is True
    await cache.release("one", "owner 1")
    assert await cache.claim("one", "owner 1", 5, 0) is False
    await cache.release("one", "owner 0")
    assert await cache.claim("one", "owner 1", 5, 0) is True


async def test_a_claim_expires_unless_it_is_renewed(cache):
    """A claim that its owner does not renew expires; a renewed one does not."""
    assert await cache.claim("one", "dead", 0.05, 0) is True
    assert await cache.claim("two", "alive", 0.05, 0) is True
    assert await cache.claim("two", "alive", 5, 0) is True
    await asyncio.sleep(0.07)

    assert await cache.claim("one", "next", 5, 0) is True
    assert await cache.claim("two", "next", 5, 0) is False


async def test_a_cached_value_is_returned_to_every_owner(cache):
    """A claim returns the cached value to every owner; if it expires too soon, only the owner may fill the key."""
    await cache.claim("one", "first", 5, 0)
    await cache.put("one", b"coffee", 60)

    assert await cache.claim("one", "second", 5, 0) == b"coffee"
    assert await cache.claim("one", "second", 5, 61) is False
    assert await cache.claim("one", "first", 5, 61) is True


async def test_a_claim_has_an_expiry_in_redis(cache, shared_redis):
    """The key of a claim in Redis has a time to live."""
    await cache.claim("one", "first", 5, 0)
    with Redis.from_url(shared_redis.url) as client:
        assert 4000 < client.pttl(owned("one")) <= 5000


async def test_without_redis_every_claim_succeeds(own_redis):
    """While Redis is away every claim succeeds."""
    server = RedisServer(own_redis.url)
    cache = RedisCache(server)
    assert await cache.claim("one", "first", 5, 0) is True
    own_redis.kill()
    assert await cache.claim("one", "second", 5, 0) is True
    await cache.release("one", "first")
    await server.close()
