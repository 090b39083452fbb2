"""Rate limits of keys."""

import asyncio

import pytest

from webdata.accounts.access.rate_limits import RateLimits, check_limit, limit_headers
from webdata.domain.errors import RateLimitedError
from webdata.stores.accounts.model import Plan
from webdata.stores.ephemeral.interfaces import Limit
from webdata.stores.ephemeral.limits_memory import MemoryLimits
from webdata.stores.ephemeral.limits_redis import RedisLimits
from webdata.stores.ephemeral.redis_server import RedisServer

PLAN = Plan("trial", requests=3, seconds=60, in_flight=1)


@pytest.mark.task
async def test_a_call_is_in_flight_until_its_block_ends():
    """A call is in flight until its block ends, also with an error."""
    limits = RateLimits(MemoryLimits())
    async with limits.counted("key", PLAN) as first:
        assert (first.refused, first.remaining) == (None, 2)
        assert (await one(limits, PLAN)).refused == "in_flight"
        assert (await one(limits, PLAN)).refused == "in_flight"  # a refused call ends no other
    with pytest.raises(ZeroDivisionError):
        async with limits.counted("key", PLAN):
            raise ZeroDivisionError
    last = await one(limits, PLAN)
    assert (last.refused, last.remaining) == (None, 0)


@pytest.mark.task
async def test_memory_counts_while_redis_is_away(own_redis):
    """When Redis is killed during calls memory counts instead, at once, until Redis is back."""
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
        while server.warnings():  # noqa: ASYNC110  # it signals nothing
            await asyncio.sleep(0.05)
    assert (await one(limits, plan)).remaining == 2
    await server.close()


async def one(limits, plan):
    async with limits.counted("key", plan) as limit:
        return limit


def test_the_headers_have_the_plan_and_the_requests_left():
    """The headers have the plan, and the requests and seconds that are left; seconds are rounded up."""
    assert limit_headers(Limit(PLAN, remaining=2, reset=41.2)) == {
        "x-ratelimit-requests-limit": "3",
        "x-ratelimit-requests-remaining": "2",
        "x-ratelimit-requests-reset": "42",
        "ratelimit-policy": '"requests";q=3;w=60',
        "ratelimit": '"requests";r=2;t=42',
    }


def test_a_refusal_has_the_seconds_to_wait():
    """The message of a refused call has the plan's limit, and the whole seconds to wait."""
    check_limit(Limit(PLAN, 2, 60))
    with pytest.raises(RateLimitedError, match=r"3 requests in 60 seconds .* come back in 12 seconds") as caught:
        check_limit(Limit(PLAN, 0, 11.01, "requests", 11.01))
    assert caught.value.retry_after == 12
    with pytest.raises(RateLimitedError, match=r"allows, which is 1: let one end first") as caught:
        check_limit(Limit(PLAN, 2, 60, "in_flight", 1))
    assert caught.value.retry_after == 1
