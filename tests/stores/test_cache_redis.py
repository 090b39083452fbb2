"""What processes do together over one Redis."""

import asyncio

import pytest
import pytest_twisted
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.cache_redis import RedisCache, owned
from webdata.stores.redis_server import RedisServer

pytestmark = pytest.mark.task


@pytest_twisted.async_yield_fixture
async def cache(shared_redis):
    server = RedisServer(shared_redis.url)
    yield RedisCache(server)
    await deferred_from_coro(server.close())


async def test_one_owner_at_a_time(cache):
    """Of many who claim a key at once one may bring it; the next may when it is released, by its owner alone."""
    claimed = await asyncio.gather(*(cache.claim("one", f"owner {number}", 5, 0) for number in range(50)))
    assert claimed == [True, *[False] * 49]
    assert await cache.claim("two", "owner 1", 5, 0) is True
    await cache.release("one", "owner 1")
    assert await cache.claim("one", "owner 1", 5, 0) is False
    await cache.release("one", "owner 0")
    assert await cache.claim("one", "owner 1", 5, 0) is True


async def test_a_dead_owner(cache):
    """A key whose owner does not claim it again is free after its time; one that does keeps it."""
    assert await cache.claim("one", "dead", 0.05, 0) is True
    assert await cache.claim("two", "alive", 0.05, 0) is True
    assert await cache.claim("two", "alive", 5, 0) is True
    await asyncio.sleep(0.07)

    assert await cache.claim("one", "next", 5, 0) is True
    assert await cache.claim("two", "next", 5, 0) is False


async def test_what_was_put_is_there_for_all(cache):
    """What is kept meanwhile is found by all, whoever owns the key; where it is too old only the owner may bring it."""
    await cache.claim("one", "first", 5, 0)
    await cache.put("one", b"coffee", 60)

    assert await cache.claim("one", "second", 5, 0) == b"coffee"
    assert await cache.claim("one", "second", 5, 61) is False
    assert await cache.claim("one", "first", 5, 61) is True


async def test_nothing_is_owned_for_ever(cache, shared_redis):
    """The lease is in Redis with its time."""
    await cache.claim("one", "first", 5, 0)
    with Redis.from_url(shared_redis.url) as client:
        assert 4000 < client.pttl(owned("one")) <= 5000


async def test_a_lost_redis_lets_everyone(own_redis):
    """Without its Redis nobody waits for anybody."""
    server = RedisServer(own_redis.url)
    cache = RedisCache(server)
    assert await cache.claim("one", "first", 5, 0) is True
    own_redis.kill()
    assert await cache.claim("one", "second", 5, 0) is True
    await cache.release("one", "first")
    await server.close()
