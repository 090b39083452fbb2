"""What every store of limits does, run over each of them, and beside a naive model."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
import pytest_twisted
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.interfaces import Limit, Plan
from webdata.stores.limits_memory import MemoryLimits
from webdata.stores.limits_redis import RedisLimits
from webdata.stores.redis_server import RedisServer

PLAN = Plan("trial", requests=3, seconds=1, in_flight=2)
WIDE = Plan("wide", requests=1000, seconds=60, in_flight=50)


@pytest_twisted.async_yield_fixture(params=["memory", "redis"])
async def limits(request):
    if request.param == "memory":
        yield MemoryLimits()
        return
    shared = request.getfixturevalue("shared_redis")
    server = RedisServer(shared.url)
    yield RedisLimits(server, longest_call=60)
    await deferred_from_coro(server.close())


def clean(url):
    with Redis.from_url(url) as client:
        client.flushall()


async def passed(limits, key_id, plan):
    """One whole call."""
    limit = await limits.enter(key_id, plan, "call")
    await limits.leave(key_id, "call")
    return limit


@pytest.mark.task
async def test_requests_are_counted_down(limits):
    """Each request leaves one less; one too many is refused, and told when the next has room."""
    assert [(await passed(limits, "key", PLAN)).remaining for _ in range(3)] == [2, 1, 0]
    refused = await passed(limits, "key", PLAN)

    assert (refused.refused, refused.remaining) == ("requests", 0)
    assert 0 < refused.retry_after <= 1
    assert refused.reset == pytest.approx(refused.retry_after, abs=0.001)


@pytest.mark.task
async def test_who_waits_as_told_is_let_in(limits):
    """After as many seconds as were told there is room for the next request, and not just before."""
    for _ in range(3):
        await passed(limits, "key", PLAN)
    refused = await passed(limits, "key", PLAN)
    await asyncio.sleep(refused.retry_after - 0.2)
    assert (await passed(limits, "key", PLAN)).refused == "requests"
    await asyncio.sleep(0.21)

    assert (await passed(limits, "key", PLAN)).refused is None


@pytest.mark.task
async def test_calls_in_flight(limits):
    """One call too many in flight is refused and counts for nothing; when one has ended the next is let in."""
    plan = Plan("two", requests=100, seconds=60, in_flight=2)
    await limits.enter("key", plan, "a")
    await limits.enter("key", plan, "b")
    refused = await limits.enter("key", plan, "c")
    assert (refused.refused, refused.remaining, refused.retry_after) == ("in_flight", 98, 1)

    await limits.leave("key", "c")  # it never was in flight
    assert (await limits.enter("key", plan, "d")).refused == "in_flight"
    await limits.leave("key", "a")
    assert (await limits.enter("key", plan, "e")).remaining == 97


@pytest.mark.task
async def test_keys_are_counted_apart(limits):
    """What one key does takes nothing from another."""
    for _ in range(4):
        await passed(limits, "key", PLAN)

    assert (await passed(limits, "other", PLAN)).remaining == 2


@pytest.mark.task
async def test_a_smaller_plan_counts_at_once(limits):
    """After a change to a smaller plan the requests that were made count, and as many as are too many have to leave."""
    for _ in range(5):
        await passed(limits, "key", Plan("large", requests=10, seconds=60, in_flight=5))
        await asyncio.sleep(0.01)
    refused = await passed(limits, "key", Plan("small", requests=2, seconds=60, in_flight=5))

    assert (refused.refused, refused.remaining) == ("requests", 0)
    assert refused.retry_after >= refused.reset + 0.03


@pytest.mark.task
async def test_a_plan_of_nothing(limits):
    """A plan without requests lets nobody in."""
    assert (await passed(limits, "key", Plan("none", requests=0, seconds=60, in_flight=1))).refused == "requests"


@pytest.mark.task
async def test_many_at_once_are_counted_exactly(limits):
    """Of many calls at the same time exactly as many as the plan allows are let in."""
    plan = Plan("ten", requests=10, seconds=60, in_flight=500)
    told = await asyncio.gather(*(limits.enter("key", plan, f"{number}") for number in range(300)))

    assert sorted(limit.remaining for limit in told if not limit.refused) == list(range(10))


class Naive:
    """The rule word for word, over all that ever happened."""

    def __init__(self, plan):
        self.plan, self.now, self.counted, self.in_flight = plan, 0, [], set()

    def enter(self, call_id):
        recent = [at for at in self.counted if self.now - at < self.plan.seconds]
        reset = min(recent) + self.plan.seconds - self.now if recent else 0
        left = self.plan.requests - len(recent)
        if left <= 0:
            return Limit(self.plan, 0, reset, "requests", sorted(recent)[-left] + self.plan.seconds - self.now)
        if len(self.in_flight) >= self.plan.in_flight:
            return Limit(self.plan, left, reset, "in_flight", 1)
        self.counted.append(self.now)
        self.in_flight.add(call_id)
        return Limit(self.plan, left - 1, reset or self.plan.seconds)


STEPS = st.lists(
    st.one_of(
        st.just(("call", 0)),
        st.just(("enter", 0)),
        st.tuples(st.just("leave"), st.integers(0, 8)),
        st.tuples(st.just("wait"), st.sampled_from([1, 2, 3, 10])),
    ),
    min_size=10,
    max_size=50,
)
PLANS = st.builds(Plan, st.just("any"), st.integers(1, 6), st.sampled_from([1, 3, 10]), st.integers(1, 5))
EDGE = (Plan("any", 2, 3, 1), [("call", 0), ("wait", 1), *[("call", 0), ("call", 0), ("wait", 2)] * 3])
"""Requests leave the window exactly when their seconds are over, one after the other."""


async def play(limits, wait, plan, steps):
    """Do the steps in earnest and in the model, and compare. Seconds may pass besides, but not half a one."""
    naive, serial = Naive(plan), 0
    for what, number in steps:
        if what == "wait":
            wait(number)
            naive.now += number
        elif what == "leave":
            calls = sorted(naive.in_flight)
            call_id = calls[number % len(calls)] if calls else "none"
            await limits.leave("key", call_id)
            naive.in_flight.discard(call_id)
        else:
            serial += 1
            limit, expected = await limits.enter("key", plan, f"{serial:03}"), naive.enter(f"{serial:03}")
            assert (limit.refused, limit.remaining) == (expected.refused, expected.remaining)
            assert limit.reset == pytest.approx(expected.reset, abs=0.5)
            assert limit.retry_after == pytest.approx(expected.retry_after, abs=0.5)
            if what == "call":
                await limits.leave("key", f"{serial:03}")
                naive.in_flight.discard(f"{serial:03}")


def apart(coroutine):
    """Run a coroutine in a loop of its own, in another thread: a property's examples cannot await."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result(30)


@given(PLANS, STEPS)
@example(*EDGE)
@settings(deadline=None)
def test_memory_slides_as_the_model(plan, steps):
    """Whatever comes, memory lets in, refuses and tells what the rule says word for word."""
    now = 1000.0

    def wait(seconds):
        nonlocal now
        now += seconds

    apart(play(MemoryLimits(lambda: now), wait, plan, steps))


@given(PLANS, STEPS)
@example(*EDGE)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_redis_slides_as_the_model(shared_redis, plan, steps):
    """Whatever comes, Redis lets in, refuses and tells what the rule says word for word."""
    clean(shared_redis.url)

    async def played():
        server = RedisServer(shared_redis.url)
        try:
            with Redis.from_url(shared_redis.url) as client:
                await play(RedisLimits(server, 600), lambda seconds: age(client, seconds), plan, steps)
        finally:
            await server.close()

    apart(played())


def age(client, seconds):
    """Make what was counted so much older: nobody can set the clock of a server."""
    for name in client.keys("webdata:requests:*"):
        older = [int(at) - seconds * 1_000_000 for at in client.lrange(name, 0, -1)]
        client.delete(name)
        client.rpush(name, *older)


@pytest.mark.task
async def test_calls_of_a_dead_process_end(shared_redis):
    """In Redis a call that never leaves, since its process died, is in flight no longer than the longest call."""
    plan = Plan("one", requests=100, seconds=60, in_flight=1)
    dead, alive = RedisServer(shared_redis.url), RedisServer(shared_redis.url)
    await RedisLimits(dead, longest_call=0.2).enter("key", plan, "never left")
    await dead.close()
    limits = RedisLimits(alive, longest_call=0.2)
    assert (await limits.enter("key", plan, "a")).refused == "in_flight"
    await asyncio.sleep(0.25)

    assert (await limits.enter("key", plan, "b")).refused is None
    await alive.close()


@pytest.mark.task
async def test_redis_forgets_keys_that_rest(shared_redis):
    """Nothing is left in Redis of a key that made no requests for a window and a call's longest time."""
    server = RedisServer(shared_redis.url)
    await RedisLimits(server, longest_call=0.3).enter("key", PLAN, "a")
    await server.close()
    with Redis.from_url(shared_redis.url) as client:
        left = {name: client.pttl(name) for name in client.keys("*")}
        assert len(left) == 2
        assert all(0 < milliseconds <= 1000 for milliseconds in left.values())


@pytest.mark.task
async def test_processes_count_together(shared_redis):
    """Over several connections to one Redis exactly as many calls are let in as the plan allows."""
    plan = Plan("ten", requests=100, seconds=60, in_flight=10)
    servers = [RedisServer(shared_redis.url) for _ in range(4)]
    stores = [RedisLimits(server, 60) for server in servers]
    told = await asyncio.gather(*(stores[number % 4].enter("key", plan, f"{number}") for number in range(200)))
    for server in servers:
        await server.close()

    assert sorted(limit.remaining for limit in told if not limit.refused) == list(range(90, 100))
    assert [limit.refused for limit in told].count("in_flight") == 190
