"""How fast a key may call."""

import asyncio

import pytest

from webdata.access.rate_limits import RateLimits, check_limit, limit_headers
from webdata.domain.errors import RateLimitedError
from webdata.stores.interfaces import Limit, Plan
from webdata.stores.limits_memory import MemoryLimits
from webdata.stores.limits_redis import RedisLimits
from webdata.stores.redis_server import RedisServer

PLAN = Plan("trial", requests=3, seconds=60, in_flight=1)


@pytest.mark.task
async def test_a_call_is_in_flight_until_its_block_ends():
    """A call is in flight for as long as its block, however that ends."""
    limits = RateLimits(MemoryLimits())
    async with limits.counted("key", PLAN) as first:
        assert (first.refused, first.remaining) == (None, 2)
        assert (await one(limits, PLAN)).refused == "in_flight"
        assert (await one(limits, PLAN)).refused == "in_flight"  # one that was refused has ended nothing
    with pytest.raises(ZeroDivisionError):
        async with limits.counted("key", PLAN):
            raise ZeroDivisionError
    last = await one(limits, PLAN)
    assert (last.refused, last.remaining) == (None, 0)


@pytest.mark.task
async def test_memory_counts_while_redis_is_away(own_redis):
    """A Redis that is killed in the middle of calls is stood in for by memory, at once, and counts again when back."""
    plan = Plan("trial", requests=3, seconds=60, in_flight=5)
    server = RedisServer(own_redis.url)
    limits = RateLimits(MemoryLimits(), RedisLimits(server, 60))
    async with limits.counted("key", plan) as by_redis:
        assert by_redis.remaining == 2
        own_redis.kill()
    left = [await one(limits, plan) for _ in range(4)]
    assert [limit.remaining for limit in left] == [2, 1, 0, 0]
    assert left[-1].refused == "requests"

    own_redis.start()
    async with asyncio.timeout(5):
        while server.warnings():  # noqa: ASYNC110  # it tells nobody when it is back
            await asyncio.sleep(0.05)
    assert (await one(limits, plan)).remaining == 2
    await server.close()


async def one(limits, plan):
    async with limits.counted("key", plan) as limit:
        return limit


def test_headers():
    """The headers tell the plan and how the key stands with it; seconds are rounded up."""
    assert limit_headers(Limit(PLAN, remaining=2, reset=41.2)) == {
        "x-ratelimit-requests-limit": "3",
        "x-ratelimit-requests-remaining": "2",
        "x-ratelimit-requests-reset": "42",
        "ratelimit-policy": '"requests";q=3;w=60',
        "ratelimit": '"requests";r=2;t=42',
    }


def test_a_refusal_says_when_to_come_back():
    """A call that was refused is told what its plan allows and after how many whole seconds it is worth another try."""
    check_limit(Limit(PLAN, 2, 60))
    with pytest.raises(RateLimitedError, match=r"3 requests in 60 seconds .* come back in 12 seconds") as caught:
        check_limit(Limit(PLAN, 0, 11.01, "requests", 11.01))
    assert caught.value.retry_after == 12
    with pytest.raises(RateLimitedError, match=r"allows, which is 1: let one end first") as caught:
        check_limit(Limit(PLAN, 2, 60, "in_flight", 1))
    assert caught.value.retry_after == 1
