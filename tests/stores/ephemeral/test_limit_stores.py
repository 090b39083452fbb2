"""The common behaviour of rate limits, for each kind of store, and compared with a simple model."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
import pytest_twisted
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.stores.accounts.model import Plan
from webdata.stores.ephemeral import limits_redis
from webdata.stores.ephemeral.interfaces import Limit
from webdata.stores.ephemeral.limits_memory import MemoryLimits
from webdata.stores.ephemeral.limits_redis import RedisLimits
from webdata.stores.ephemeral.redis_server import RedisServer

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


async def call(limits, key_id, plan):
    """Begin and end a call."""
    limit = await limits.enter(key_id, plan, "call")
    await limits.leave(key_id, "call")
    return limit


@pytest.mark.task
async def test_a_request_over_the_limit_is_refused(limits):
    """Each request reduces the remaining ones; one too many is refused, with the time to wait."""
    assert [(await call(limits, "key", PLAN)).remaining for _ in range(3)] == [2, 1, 0]
    refused = await call(limits, "key", PLAN)

    assert (refused.refused, refused.remaining) == ("requests", 0)
    assert 0 < refused.retry_after <= 1
    assert refused.reset == pytest.approx(refused.retry_after, abs=0.001)


@pytest.mark.task
async def test_a_request_after_retry_after_is_admitted(limits):
    """A request is admitted after `retry_after` seconds, and refused just before."""
    for _ in range(3):
        await call(limits, "key", PLAN)
    refused = await call(limits, "key", PLAN)
    await asyncio.sleep(refused.retry_after - 0.2)
    assert (await call(limits, "key", PLAN)).refused == "requests"
    await asyncio.sleep(0.21)

    assert (await call(limits, "key", PLAN)).refused is None


@pytest.mark.task
async def test_calls_in_flight_are_limited(limits):
    """One call too many in flight is refused and not counted; the next is admitted when another has ended."""
    plan = Plan("two", requests=100, seconds=60, in_flight=2)
    await limits.enter("key", plan, "a")
    await limits.enter("key", plan, "b")
    refused = await limits.enter("key", plan, "c")
    assert (refused.refused, refused.remaining, refused.retry_after) == ("in_flight", 98, 1)

    await limits.leave("key", "c")  # it was refused
    assert (await limits.enter("key", plan, "d")).refused == "in_flight"
    await limits.leave("key", "a")
    assert (await limits.enter("key", plan, "e")).remaining == 97


@pytest.mark.task
async def test_keys_are_counted_separately(limits):
    """The requests of one key do not count for another."""
    for _ in range(4):
        await call(limits, "key", PLAN)

    assert (await call(limits, "other", PLAN)).remaining == 2


@pytest.mark.task
async def test_a_smaller_plan_applies_at_once(limits):
    """After a change to a smaller plan, earlier requests count, and all excess ones must leave the window."""
    for _ in range(5):
        await call(limits, "key", Plan("large", requests=10, seconds=60, in_flight=5))
        await asyncio.sleep(0.01)
    refused = await call(limits, "key", Plan("small", requests=2, seconds=60, in_flight=5))

    assert (refused.refused, refused.remaining) == ("requests", 0)
    assert refused.retry_after >= refused.reset + 0.03


@pytest.mark.task
async def test_a_plan_without_requests_admits_none(limits):
    """A plan of zero requests refuses every call."""
    assert (await call(limits, "key", Plan("none", requests=0, seconds=60, in_flight=1))).refused == "requests"


@pytest.mark.task
async def test_concurrent_calls_are_counted_exactly(limits):
    """Of many concurrent calls exactly as many as the plan allows are admitted."""
    plan = Plan("ten", requests=10, seconds=60, in_flight=500)
    results = await asyncio.gather(*(limits.enter("key", plan, f"{number}") for number in range(300)))

    assert sorted(limit.remaining for limit in results if not limit.refused) == list(range(10))


class Model:
    """The rules of LimitStore, computed from all requests since the start."""

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
"""Requests leave the window one by one, each after exactly `seconds`."""


async def compare(limits, wait, plan, steps):
    """Run the steps on the store, whose clock `wait` moves, and on the model, and compare."""
    model, serial = Model(plan), 0
    for what, number in steps:
        if what == "wait":
            wait(number)
            model.now += number
        elif what == "leave":
            calls = sorted(model.in_flight)
            call_id = calls[number % len(calls)] if calls else "none"
            await limits.leave("key", call_id)
            model.in_flight.discard(call_id)
        else:
            serial += 1
            limit, expected = await limits.enter("key", plan, f"{serial:03}"), model.enter(f"{serial:03}")
            assert (limit.refused, limit.remaining) == (expected.refused, expected.remaining)
            assert limit.reset == pytest.approx(expected.reset)
            assert limit.retry_after == pytest.approx(expected.retry_after)
            if what == "call":
                await limits.leave("key", f"{serial:03}")
                model.in_flight.discard(f"{serial:03}")


def run_in_thread(coroutine):
    """Run a coroutine in an event loop in another thread: Hypothesis calls synchronous functions only."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result(30)


@given(PLANS, STEPS)
@example(*EDGE)
@settings(deadline=None)
def test_memory_limits_match_the_model(plan, steps):
    """After any steps the limits in memory equal those of the model."""
    now = 1000.0

    def wait(seconds):
        nonlocal now
        now += seconds

    run_in_thread(compare(MemoryLimits(lambda: now), wait, plan, steps))


@pytest.fixture
def redis_clock(shared_redis, monkeypatch):
    """A function that sets the seconds on the clock of the limits in Redis: the server's own cannot be set."""
    of_the_server, ours = "redis.call('TIME')", "{redis.call('GET', 'now'), 0}"
    assert of_the_server in limits_redis.ENTER
    monkeypatch.setattr(limits_redis, "ENTER", limits_redis.ENTER.replace(of_the_server, ours))
    with Redis.from_url(shared_redis.url) as client:
        yield lambda seconds: client.set("now", seconds)


@given(PLANS, STEPS)
@example(*EDGE)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_redis_limits_match_the_model(shared_redis, redis_clock, plan, steps):
    """After any steps the limits in Redis equal those of the model."""
    clean(shared_redis.url)
    now = 1_000_000_000
    redis_clock(now)

    def wait(seconds):
        nonlocal now
        now += seconds
        redis_clock(now)

    async def compared():
        server = RedisServer(shared_redis.url)
        try:
            await compare(RedisLimits(server, 600), wait, plan, steps)
        finally:
            await server.close()

    run_in_thread(compared())


@pytest.mark.task
async def test_calls_of_a_dead_process_expire(shared_redis):
    """In Redis a call without `leave`, as of a dead process, is in flight for the longest time of a call."""
    plan = Plan("one", requests=100, seconds=60, in_flight=1)
    dead, alive = RedisServer(shared_redis.url), RedisServer(shared_redis.url)
    await RedisLimits(dead, longest_call=0.2).enter("key", plan, "no leave")
    await dead.close()
    limits = RedisLimits(alive, longest_call=0.2)
    assert (await limits.enter("key", plan, "a")).refused == "in_flight"
    await asyncio.sleep(0.25)

    assert (await limits.enter("key", plan, "b")).refused is None
    await alive.close()


@pytest.mark.task
async def test_idle_keys_expire_in_redis(shared_redis):
    """All data of an idle key expires after the window and the longest time of a call."""
    server = RedisServer(shared_redis.url)
    await RedisLimits(server, longest_call=0.3).enter("key", PLAN, "a")
    await server.close()
    with Redis.from_url(shared_redis.url) as client:
        remaining = {name: client.pttl(name) for name in client.keys("*")}
        assert len(remaining) == 2
        assert all(0 < milliseconds <= 1000 for milliseconds in remaining.values())


@pytest.mark.task
async def test_processes_share_one_count(shared_redis):
    """Over several connections to one Redis exactly as many calls are admitted as the plan allows."""
    plan = Plan("ten", requests=100, seconds=60, in_flight=10)
    servers = [RedisServer(shared_redis.url) for _ in range(4)]
    stores = [RedisLimits(server, 60) for server in servers]
    results = await asyncio.gather(*(stores[number % 4].enter("key", plan, f"{number}") for number in range(200)))
    for server in servers:
        await server.close()

    assert sorted(limit.remaining for limit in results if not limit.refused) == list(range(90, 100))
    assert [limit.refused for limit in results].count("in_flight") == 190


@pytest.mark.task
async def test_windows_that_are_over_are_forgotten(monkeypatch):
    """The memory holds the windows of lately, however many keys have called."""
    monkeypatch.setattr("webdata.stores.ephemeral.limits_memory.LEAST_SWEPT", 100)
    now = [0.0]
    limits = MemoryLimits(lambda: now[0])
    for number in range(1000):
        now[0] += 0.1
        await call(limits, f"key_{number}", PLAN)
    assert len(limits._windows) <= 100
    await limits.enter("held", PLAN, "call")
    for number in range(1000):
        now[0] += 0.1
        await call(limits, f"key_{number}", PLAN)
    assert "held" in limits._windows
