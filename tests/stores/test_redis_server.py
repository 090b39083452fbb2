"""A Redis that goes and comes back, in earnest."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from time import monotonic, sleep

import pytest
from redis import Redis

from webdata.domain.errors import ConfigError
from webdata.stores.cache_redis import RedisCache
from webdata.stores.interfaces import DEFAULT_PLAN
from webdata.stores.limits_redis import RedisLimits
from webdata.stores.redis_server import AWAY, RedisServer

pytestmark = pytest.mark.task

NOTICEABLE = 0.5
"""Seconds that no call may wait longer for a Redis that is gone."""


@asynccontextmanager
async def opened(url):
    server = RedisServer(url)
    await server.open()
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr("webdata.stores.redis_server.PROBE_SECONDS", 0.1)


async def back(server):
    async with asyncio.timeout(5):
        while server.warnings():  # noqa: ASYNC110  # it tells nobody when it is back
            await asyncio.sleep(0.02)


async def waited(awaitables):
    """How long the longest of many took, and what they gave."""
    begun = monotonic()
    given = await asyncio.gather(*awaitables)
    return monotonic() - begun, given


async def test_killed_and_back(own_redis, caplog):
    """A killed Redis finds nothing and refuses nobody; the operator is told, and it is used again once it is back."""
    async with opened(own_redis.url) as server:
        cache, limits = RedisCache(server), RedisLimits(server, 60)
        await cache.put("one", b"coffee", 60)
        assert await cache.get("one") == b"coffee"
        assert server.warnings() == []
        own_redis.kill()
        seconds, given = await waited(
            [cache.get("one"), cache.put("two", b"tea", 60), limits.enter("k", DEFAULT_PLAN, "a")]
        )
        assert seconds < NOTICEABLE
        assert given == [None, None, None]
        assert server.warnings() == [AWAY]
        await limits.leave("k", "a")

        own_redis.start()
        await back(server)
        await cache.put("one", b"again", 60)
        assert await cache.get("one") == b"again"
        assert (await limits.enter("k", DEFAULT_PLAN, "b")).remaining == DEFAULT_PLAN.requests - 1
    told = [record.getMessage() for record in caplog.records if record.name == "webdata.stores.redis_server"]
    assert [words[:13] for words in told] == ["Redis is away", "Redis is back"]


async def test_frozen_and_back(own_redis):
    """A Redis that takes commands and does not answer keeps nobody waiting, not even those behind it in line."""
    longest = []
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        for _ in range(3):
            os.kill(own_redis.process.pid, signal.SIGSTOP)
            try:
                seconds, given = await waited(cache.get(f"{number}") for number in range(600))
            finally:
                os.kill(own_redis.process.pid, signal.SIGCONT)
            longest.append(seconds)
            assert set(given) == {None}
            await back(server)
        assert await cache.get("one") == b"coffee"
    assert min(longest) < NOTICEABLE  # others may keep this machine busy


async def test_full_and_empty_again(own_redis):
    """A Redis that answers, but keeps nothing, is as good as away, until it keeps something again."""
    async with opened(own_redis.url) as server:
        with Redis.from_url(own_redis.url) as client:
            client.config_set("maxmemory", 1)
            await RedisCache(server).put("one", b"coffee", 60)
            assert server.warnings() == [AWAY]
            await asyncio.sleep(0.3)
            assert server.warnings() == [AWAY]
            client.config_set("maxmemory", 0)
        await back(server)


async def test_restarted_between_two_calls(own_redis):
    """A restart that nobody noticed costs one look-up at most."""
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        own_redis.kill()
        own_redis.start()
        await cache.get("one")
        await back(server)
        await cache.put("one", b"again", 60)
        assert await cache.get("one") == b"again"


async def test_later_than_the_service(own_redis):
    """A service starts without its Redis, and uses it once it is there."""
    own_redis.kill()
    async with opened(own_redis.url) as server:
        assert server.warnings() == [AWAY]
        own_redis.start()
        await back(server)


async def test_a_busy_process_blames_nobody(own_redis):
    """That the process itself was busy with something else for long is not taken for a Redis that is away."""
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        busy = asyncio.create_task(keep_busy())
        assert [await cache.get("one") for _ in range(3)] == [b"coffee"] * 3
        await busy
        assert server.warnings() == []


async def keep_busy():
    for _ in range(10):
        sleep(0.06)  # noqa: ASYNC251  # it is what pages do that take long to parse
        await asyncio.sleep(0)


async def test_whose_caller_is_gone(shared_redis):
    """A command whose caller is gone harms none of those that were sent with it."""
    async with opened(shared_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        first, gone, last = (asyncio.create_task(cache.get("one")) for _ in range(3))
        await asyncio.sleep(0)
        gone.cancel()
        assert await asyncio.gather(first, last) == [b"coffee", b"coffee"]
        assert server.warnings() == []


async def test_a_wrong_password(own_redis, caplog):
    """A password that Redis refuses stops the start, and is not repeated."""
    with Redis.from_url(own_redis.url) as client:
        client.config_set("requirepass", "right")
    server = RedisServer(own_redis.url.replace("//", "//:wrong@"))
    with pytest.raises(ConfigError, match="refuses the user or password") as caught:
        await server.open()
    await server.close()
    assert "wrong" not in str(caught.value)
    async with opened(own_redis.url.replace("//", "//:right@")) as server:
        assert server.warnings() == []


def test_what_is_no_url():
    """What is no URL of a Redis is refused with one that is."""
    with pytest.raises(ConfigError, match=r"redis://127\.0\.0\.1:6379/0"):
        RedisServer("http://127.0.0.1")
