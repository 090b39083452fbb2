"""The connection to a real Redis that is killed, frozen, full or restarted."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from time import monotonic, sleep

import pytest
from redis import Redis

from webdata.domain.errors import ConfigError
from webdata.stores.accounts.model import DEFAULT_PLAN
from webdata.stores.ephemeral.cache_redis import RedisCache
from webdata.stores.ephemeral.limits_redis import RedisLimits
from webdata.stores.ephemeral.redis_server import AWAY, RedisServer

pytestmark = pytest.mark.task

MOST_SECONDS = 0.5
"""The longest that a call may wait for a Redis that is away."""


@asynccontextmanager
async def opened(url):
    server = RedisServer(url)
    await server.open()
    try:
        yield server
    finally:
        await server.close()


@pytest.fixture(autouse=True)
def probe_often(monkeypatch):
    monkeypatch.setattr("webdata.stores.ephemeral.redis_server.PROBE_SECONDS", 0.1)


async def until_back(server):
    async with asyncio.timeout(5):
        while server.warnings():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.02)


async def timed(awaitables):
    """The seconds that the slowest of many took, and their results."""
    begun = monotonic()
    results = await asyncio.gather(*awaitables)
    return monotonic() - begun, results


@pytest.mark.timed
async def test_a_killed_redis_is_used_again_when_it_is_back(own_redis, caplog):
    """A killed Redis is an empty cache without limits and a warning; it is used again when it is back."""
    async with opened(own_redis.url) as server:
        cache, limits = RedisCache(server), RedisLimits(server, 60)
        await cache.put("one", b"coffee", 60)
        assert await cache.get("one") == b"coffee"
        assert server.warnings() == []
        own_redis.kill()
        seconds, results = await timed(
            [cache.get("one"), cache.put("two", b"tea", 60), limits.enter("k", DEFAULT_PLAN, "a")]
        )
        assert seconds < MOST_SECONDS
        assert results == [None, None, None]
        assert server.warnings() == [AWAY]
        await limits.leave("k", "a")

        own_redis.start()
        await until_back(server)
        await cache.put("one", b"again", 60)
        assert await cache.get("one") == b"again"
        assert (await limits.enter("k", DEFAULT_PLAN, "b")).remaining == DEFAULT_PLAN.requests - 1
    messages = [
        record.getMessage() for record in caplog.records if record.name == "webdata.stores.ephemeral.redis_server"
    ]
    assert [message[:13] for message in messages] == ["Redis is away", "Redis is back"]


@pytest.mark.timed
async def test_a_frozen_redis_delays_no_call(own_redis):
    """Calls do not wait for a Redis that accepts commands without answering, nor do queued ones."""
    durations = []
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        for _ in range(3):
            os.kill(own_redis.process.pid, signal.SIGSTOP)
            try:
                seconds, results = await timed(cache.get(f"{number}") for number in range(600))
            finally:
                os.kill(own_redis.process.pid, signal.SIGCONT)
            durations.append(seconds)
            assert set(results) == {None}
            await until_back(server)
        assert await cache.get("one") == b"coffee"
    assert min(durations) < MOST_SECONDS  # the machine may be busy once or twice


async def test_a_full_redis_counts_as_away(own_redis):
    """A Redis that answers but cannot store anything counts as away until it can."""
    async with opened(own_redis.url) as server:
        with Redis.from_url(own_redis.url) as client:
            client.config_set("maxmemory", 1)
            await RedisCache(server).put("one", b"coffee", 60)
            assert server.warnings() == [AWAY]
            await asyncio.sleep(0.3)
            assert server.warnings() == [AWAY]
            client.config_set("maxmemory", 0)
        await until_back(server)


async def test_a_restart_costs_at_most_one_look_up(own_redis):
    """After a restart between two calls at most one look-up fails."""
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        own_redis.kill()
        own_redis.start()
        await cache.get("one")
        await until_back(server)
        await cache.put("one", b"again", 60)
        assert await cache.get("one") == b"again"


async def test_redis_may_start_after_the_service(own_redis):
    """A service starts without its Redis and uses it when it is available."""
    own_redis.kill()
    async with opened(own_redis.url) as server:
        assert server.warnings() == [AWAY]
        own_redis.start()
        await until_back(server)


async def test_a_busy_process_does_not_mark_redis_as_away(own_redis):
    """A delay because the process itself was busy does not mark Redis as away."""
    async with opened(own_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        busy = asyncio.create_task(keep_busy())
        assert [await cache.get("one") for _ in range(3)] == [b"coffee"] * 3
        await busy
        assert server.warnings() == []


async def keep_busy():
    for _ in range(10):
        sleep(0.06)  # noqa: ASYNC251  # like the parsing of a large page
        await asyncio.sleep(0)


async def test_a_cancelled_command_does_not_affect_others(shared_redis):
    """A command whose caller is cancelled does not affect those of the same pipeline."""
    async with opened(shared_redis.url) as server:
        cache = RedisCache(server)
        await cache.put("one", b"coffee", 60)
        first, cancelled, last = (asyncio.create_task(cache.get("one")) for _ in range(3))
        await asyncio.sleep(0)
        cancelled.cancel()
        assert await asyncio.gather(first, last) == [b"coffee", b"coffee"]
        assert server.warnings() == []


async def test_a_wrong_password_is_an_error(own_redis, caplog):
    """A password that Redis refuses raises ConfigError, without the password."""
    with Redis.from_url(own_redis.url) as client:
        client.config_set("requirepass", "right")
    server = RedisServer(own_redis.url.replace("//", "//:wrong@"))
    with pytest.raises(ConfigError, match="refuses the user or password") as caught:
        await server.open()
    await server.close()
    assert "wrong" not in str(caught.value)
    async with opened(own_redis.url.replace("//", "//:right@")) as server:
        assert server.warnings() == []


def test_an_invalid_url_is_refused_with_an_example():
    """An invalid URL is refused with an example of a valid one."""
    with pytest.raises(ConfigError, match=r"redis://127\.0\.0\.1:6379/0"):
        RedisServer("http://127.0.0.1")
