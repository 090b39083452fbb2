"""Cached answers, and one fetch for identical calls at the same time."""

import asyncio
import math
import tracemalloc
from dataclasses import replace
from time import monotonic

import orjson
import pytest
import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from scrapy.utils.defer import deferred_from_coro

from webdata.accounts.access.cache import STALE_FOR, Cache, CacheControl, CacheEntry, Hit, cache_key, fresh_seconds
from webdata.crawling.warm_crawlers import Answer, Call
from webdata.domain.errors import (
    BlockedError,
    NotFoundError,
    OutOfCreditsError,
    OverloadedError,
    RateLimitedError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.resources.bing_search import BING_SEARCH
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.runtime.process.shares import MEBIBYTE, CallShare, HeldBytes
from webdata.stores.ephemeral.cache_memory import MemoryCache
from webdata.stores.ephemeral.cache_redis import RedisCache, owned
from webdata.stores.ephemeral.redis_server import RedisServer

FRESH = WEB_SEARCH.fresh_seconds
PLAIN = CacheControl()
NO_CACHE = CacheControl(no_cache=True)
STALE = CacheControl(stale_seconds=math.inf)


def call(q="coffee", resource=WEB_SEARCH, sandbox=True, **fields):
    return Call(resource, WebQuery(q=q, **fields), sandbox, deadline=20)


class Upstream:
    """Answers after some time, each time with another record, and counts its calls."""

    def __init__(self, outcome=Outcome.OK, error=None, seconds=0.02):
        self.calls, self.outcome, self.error, self.seconds, self.called = [], outcome, error, seconds, asyncio.Event()

    @property
    def fetches(self):
        return len(self.calls)

    async def __call__(self, call):
        self.calls.append(call)
        self.called.set()
        record = {"query": "kaffe ☕", "results": [self.fetches]}
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return Answer(record, self.outcome, "http", {"fetch": 0.02}, (), "a_web", "proxy", "feeds")


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest_twisted.async_yield_fixture(params=["memory", "redis"])
async def cache(request, clock):
    if request.param == "memory":
        yield Cache(MemoryCache(1_000_000), 3600, clock)
        return
    shared = request.getfixturevalue("shared_redis")
    server = RedisServer(shared.url)
    yield Cache(RedisCache(server), 3600, clock)
    await deferred_from_coro(server.close())


async def answered(cache, call, fetch, control):
    """An answer by the steps of `Admission`, but without a payment."""
    try:
        async with cache.flight(call, control) as flight:
            if flight.hit:
                return flight.hit
            answer = await fetch(flight.call)
            await flight.land(answer)
            return answer
    except STALE_FOR:
        stale = await cache.stale(call, control)
        if stale is None:
            raise
        return stale


def states(answers):
    """The state of each answer, and the number of its fetch."""
    return [
        (answer.state, orjson.loads(answer.entry.body)["results"][0])
        if isinstance(answer, Hit)
        else ("MISS", answer.record["results"][0])
        for answer in answers
    ]


@pytest.mark.task
async def test_the_second_identical_call_is_a_hit(cache, clock):
    """An identical call is answered with the record of the first one, and with its metadata."""
    upstream = Upstream()
    first = await answered(cache, call(), upstream, PLAIN)
    clock.now += 12.5
    second = await answered(cache, call(), upstream, PLAIN)

    assert upstream.fetches == 1
    assert isinstance(first, Answer)
    assert second == Hit(
        CacheEntry(orjson.dumps(first.record), Outcome.OK, "http", "a_web", "proxy", "feeds", [], clock.now - 12.5),
        12.5,
        cache_key(call()),
    )


@pytest.mark.task
async def test_a_hit_ends_with_its_lifetime(cache, clock):
    """An answer is a hit for exactly the lifetime of its resource."""
    upstream = Upstream()
    await answered(cache, call(), upstream, PLAIN)
    clock.now += FRESH - 0.01
    assert states([await answered(cache, call(), upstream, PLAIN)]) == [("HIT", 1)]
    clock.now += 0.01
    assert states([await answered(cache, call(), upstream, PLAIN)]) == [("MISS", 2)]


@pytest.mark.task
@pytest.mark.parametrize(("outcome", "fetches"), [(Outcome.EMPTY, 1), (Outcome.DEGRADED, 2)])
async def test_degraded_answers_are_not_cached(cache, outcome, fetches):
    """Empty answers are cached; degraded ones are not."""
    upstream = Upstream(outcome)
    for _ in range(2):
        await answered(cache, call(), upstream, PLAIN)
    assert upstream.fetches == fetches


@pytest.mark.task
async def test_no_cache_fetches_and_replaces_the_entry(cache):
    """With no-cache each call fetches, although an answer is cached; the new answer replaces it."""
    upstream = Upstream()
    await answered(cache, call(), upstream, PLAIN)
    both = await asyncio.gather(*(answered(cache, call(), upstream, NO_CACHE) for _ in range(2)))
    assert states(both) == [("MISS", 2), ("MISS", 3)]
    assert states([await answered(cache, call(), upstream, PLAIN)]) in ([("HIT", 2)], [("HIT", 3)])


@pytest.mark.task
async def test_identical_calls_at_once_are_one_fetch(cache):
    """A hundred identical calls at once are one fetch and hits. A different call has its own fetch."""
    upstream, other = Upstream(), Upstream()
    calls = [answered(cache, call(), upstream, PLAIN) for _ in range(100)]
    answers = await asyncio.gather(*calls, answered(cache, call("tea"), other, PLAIN))
    assert (upstream.fetches, other.fetches) == (1, 1)
    assert sorted(states(answers)) == [*[("HIT", 1)] * 99, ("MISS", 1), ("MISS", 1)]


@pytest.mark.task
async def test_a_failure_is_raised_in_all_calls_that_wait(cache):
    """When the fetch fails all calls that wait fail at once, and the next call fetches anew."""
    upstream = Upstream(error=BlockedError("captcha page", "captcha"))
    failures = await asyncio.gather(
        *(answered(cache, call(), upstream, PLAIN) for _ in range(100)), return_exceptions=True
    )
    assert failures == [upstream.error] * 100
    assert upstream.fetches == 1
    upstream.error = None
    assert states([await answered(cache, call(), upstream, PLAIN)]) == [("MISS", 2)]


@pytest.mark.task
async def test_a_call_with_less_time_leads_no_other(cache):
    """Its time ends before that of others, who would fail with it."""
    hasty, patient = Upstream(error=UpstreamTimeoutError("no answer")), Upstream()
    first = asyncio.create_task(answered(cache, replace(call(), deadline=1), hasty, PLAIN))
    await hasty.called.wait()
    assert states(await asyncio.gather(answered(cache, call(), patient, PLAIN))) == [("MISS", 1)]
    with pytest.raises(UpstreamTimeoutError):
        await first


@pytest.mark.task
async def test_a_leader_without_credit_fails_alone(cache):
    """When the leader has no credit, the next call that waits fetches for all others."""
    poor, rich = Upstream(error=OutOfCreditsError("no credits left")), Upstream()
    first = asyncio.create_task(answered(cache, call(), poor, PLAIN))
    await poor.called.wait()
    answers = await asyncio.gather(*(answered(cache, call(), rich, PLAIN) for _ in range(10)))
    assert (poor.fetches, rich.fetches) == (1, 1)
    assert sorted(states(answers)) == [*[("HIT", 1)] * 9, ("MISS", 1)]
    with pytest.raises(OutOfCreditsError):
        await first


@pytest.mark.task
async def test_a_cancelled_leader_is_replaced(cache):
    """When the leader is cancelled, as at the end of the service, the next call that waits fetches."""
    upstream = Upstream()
    first = asyncio.create_task(answered(cache, call(), upstream, PLAIN))
    await upstream.called.wait()
    others = [asyncio.create_task(answered(cache, call(), upstream, PLAIN)) for _ in range(5)]
    await asyncio.sleep(0)
    first.cancel()
    others[0].cancel()
    assert sorted(states(await asyncio.gather(*others[1:]))) == [*[("HIT", 2)] * 3, ("MISS", 2)]
    assert states([await answered(cache, call(), upstream, PLAIN)]) == [("HIT", 2)]


@pytest.mark.task
async def test_a_failure_without_callers_has_no_effect(cache):
    """A fetch that fails when no call waits for it any more has no effect on later calls."""
    upstream = Upstream(error=BlockedError("captcha page", "captcha"))
    only = asyncio.create_task(answered(cache, call(), upstream, PLAIN))
    await upstream.called.wait()
    only.cancel()
    await asyncio.sleep(0.03)
    upstream.error = None
    assert states([await answered(cache, call(), upstream, PLAIN)]) == [("MISS", 2)]


@pytest.mark.task
@pytest.mark.parametrize(
    "error", [BlockedError("captcha page"), UpstreamTimeoutError("no answer"), OverloadedError("no room", 1)]
)
async def test_a_stale_answer_replaces_an_error(cache, clock, error):
    """A stale answer replaces an error only where the caller allows it."""
    upstream = Upstream()
    await answered(cache, call(), upstream, PLAIN)
    clock.now += FRESH + 100
    upstream.error = error

    stale = await answered(cache, call(), upstream, CacheControl(stale_seconds=101))
    assert states([stale]) == [("STALE", 1)]
    assert stale.age == FRESH + 100
    for control in (PLAIN, CacheControl(stale_seconds=100)):
        with pytest.raises(type(error)):
            await answered(cache, call(), upstream, control)
    assert states([await answered(cache, call(), upstream, CacheControl(no_cache=True, stale_seconds=101))]) == [
        ("STALE", 1)
    ]


@pytest.mark.task
@pytest.mark.parametrize("error", [NotFoundError("404"), OutOfCreditsError("no credits left"), ZeroDivisionError()])
async def test_some_errors_are_never_replaced_by_a_stale_answer(cache, clock, error):
    """A missing thing, missing credits and internal errors are raised despite a stale answer."""
    upstream = Upstream()
    await answered(cache, call(), upstream, PLAIN)
    clock.now += FRESH
    upstream.error = error
    with pytest.raises(type(error)):
        await answered(cache, call(), upstream, STALE)


@pytest.mark.task
async def test_without_a_stale_answer_the_error_is_raised(cache):
    """Where no answer is cached, a caller that allows a stale one gets the error."""
    upstream = Upstream(error=BlockedError("captcha page"))
    with pytest.raises(BlockedError):
        await answered(cache, call(), upstream, STALE)


@pytest.mark.task
async def test_an_age_is_never_negative(cache, clock):
    """An answer from a machine whose clock is ahead has no negative age."""
    await answered(cache, call(), Upstream(), PLAIN)
    clock.now -= 100
    assert (await answered(cache, call(), Upstream(), PLAIN)).age == 0


@pytest_twisted.async_yield_fixture
async def two(shared_redis):
    """Two caches that share a Redis, as those of two processes."""
    servers = [RedisServer(shared_redis.url) for _ in range(2)]
    yield [Cache(RedisCache(server), 3600) for server in servers]
    for server in servers:
        await deferred_from_coro(server.close())


def callers(caches, upstream, times=1, one=None):
    """Tasks of `times` callers in each process."""
    return [
        asyncio.create_task(answered(cache, one or call(), upstream, PLAIN)) for cache in caches for _ in range(times)
    ]


@pytest.mark.task
async def test_two_processes_share_one_fetch(two):
    """Identical calls at once in processes that share a store are one fetch, however long it takes."""
    upstream = Upstream(seconds=0.3)
    answers = await asyncio.gather(*callers(two, upstream, 25))
    assert upstream.fetches == 1
    assert sorted(states(answers)) == [*[("HIT", 1)] * 49, ("MISS", 1)]


@pytest.mark.task
@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.DEGRADED])
async def test_after_a_failure_another_process_fetches(two, outcome):
    """When one process's fetch fails its calls that wait fail, and the other process fetches, once."""
    lost, won = Upstream(error=BlockedError("captcha page"), seconds=0.1), Upstream(outcome)
    first = callers(two[:1], lost, 3)
    await lost.called.wait()
    others = await asyncio.gather(*callers(two[1:], won, 3))
    assert sorted(states(others)) == [("HIT", 1), ("HIT", 1), ("MISS", 1)]
    assert (lost.fetches, won.fetches) == (1, 1)
    for one in await asyncio.gather(*first, return_exceptions=True):
        assert isinstance(one, BlockedError)


@pytest.mark.task
async def test_each_process_fetches_a_degraded_answer(two):
    """A degraded answer serves the calls that wait in its process; the other process then fetches its own."""
    upstream = Upstream(Outcome.DEGRADED, seconds=0.1)
    answers = await asyncio.gather(*callers(two, upstream, 2))
    assert sorted(states(answers)) == [("HIT", 1), ("HIT", 2), ("MISS", 1), ("MISS", 2)]


@pytest.mark.task
async def test_another_process_fetches_for_a_leader_without_credit(two):
    """When the leader in one process has no credit, a call in the other process fetches."""
    poor, rich = Upstream(error=OutOfCreditsError("no credits left"), seconds=0.1), Upstream()
    first = callers(two[:1], poor)
    await poor.called.wait()
    assert sorted(states(await asyncio.gather(*callers(two[1:], rich, 5)))) == [*[("HIT", 1)] * 4, ("MISS", 1)]
    with pytest.raises(OutOfCreditsError):
        await first[0]


@pytest.mark.task
async def test_a_long_fetch_renews_its_lease(two, monkeypatch):
    """A process renews its lease while it fetches, so that no other process does."""
    monkeypatch.setattr("webdata.accounts.access.cache.LEASE_SECONDS", 0.2)
    monkeypatch.setattr("webdata.accounts.access.cache.RENEWAL_SECONDS", 0.05)
    upstream = Upstream(seconds=0.6)
    assert sorted(states(await asyncio.gather(*callers(two, upstream)))) == [("HIT", 1), ("MISS", 1)]


@pytest.mark.task
async def test_the_fetch_of_a_dead_process_is_taken_over(two, shared_redis):
    """Once the lease of a dead process ends another one fetches, in the time that is left."""
    with Redis.from_url(shared_redis.url) as client:
        client.set(owned(cache_key(call())), "dead", px=200)
    upstream = Upstream()
    assert states(await asyncio.gather(*callers(two[:1], upstream))) == [("MISS", 1)]
    assert 19 < upstream.calls[0].deadline < 19.9


@pytest.mark.timed
@pytest.mark.task
async def test_waiting_for_another_process_ends_at_the_deadline(two, shared_redis):
    """A call that has waited for another process until its deadline fails then, and does not fetch."""
    with Redis.from_url(shared_redis.url) as client:
        client.set(owned(cache_key(call())), "slow", px=60_000)
    upstream, begun = Upstream(), monotonic()
    answers = callers(two[:1], upstream, 3, Call(WEB_SEARCH, WebQuery(q="coffee"), True, deadline=0.3))
    for one in await asyncio.gather(*answers, return_exceptions=True):
        assert isinstance(one, UpstreamTimeoutError)
    assert 0.1 < monotonic() - begun < 1
    assert upstream.fetches == 0


@pytest.mark.task
async def test_no_cache_does_not_wait_for_another_process(two):
    """With no-cache a call fetches although another process fetches the same, and its answer is cached for others."""
    slow, quick = Upstream(seconds=0.3), Upstream()
    first = callers(two[:1], slow)
    await slow.called.wait()
    assert states([await answered(two[1], call(), quick, NO_CACHE)]) == [("MISS", 1)]
    assert states([await answered(two[1], call(), quick, PLAIN)]) == [("HIT", 1)]
    assert not first[0].done()
    await first[0]


@pytest.mark.timed
@pytest.mark.task
async def test_processes_fetch_by_themselves_when_the_store_is_lost(own_redis):
    """When Redis is lost, a process that waits for another's fetch fetches by itself, at once."""
    servers = [RedisServer(own_redis.url) for _ in range(2)]
    caches = [Cache(RedisCache(server), 3600) for server in servers]
    slow, own = Upstream(seconds=2), Upstream()
    first = callers(caches[:1], slow)
    await slow.called.wait()
    second = callers(caches[1:], own)
    await asyncio.sleep(0.05)
    assert own.fetches == 0
    own_redis.kill()
    begun = monotonic()
    assert states([await second[0]]) == [("MISS", 1)]
    assert monotonic() - begun < 0.5
    assert states([await first[0]]) == [("MISS", 1)]
    for server in servers:
        await server.close()


@pytest.mark.task
async def test_no_call_fails_without_a_store(own_redis):
    """Without its Redis every call is fetched, identical ones at once still together; none fails."""
    server = RedisServer(own_redis.url)
    cache, upstream = Cache(RedisCache(server), 3600), Upstream()
    await answered(cache, call(), upstream, PLAIN)
    own_redis.kill()
    assert states([await answered(cache, call(), upstream, STALE)]) == [("MISS", 2)]
    answers = await asyncio.gather(*(answered(cache, call(), upstream, PLAIN) for _ in range(10)))
    assert sorted(states(answers)) == [*[("HIT", 3)] * 9, ("MISS", 3)]
    await server.close()


def test_the_key_cached_of_a_record_is_set():
    """A record's key `cached` is false when it was fetched and true when it is a hit."""
    answer = Answer({"cached": False, "data": []}, Outcome.OK, "http", {})
    assert orjson.loads(CacheEntry.of(answer, 0).body) == {"cached": True, "data": []}
    assert answer.record["cached"] is False


@pytest.mark.parametrize(
    "other",
    [
        call("tea"),
        call("Coffee"),
        call(num=10),
        call(region="DE"),
        call(device="mobile"),
        call(sandbox=False),
        call(resource=BING_SEARCH),
    ],
    ids=["query", "case", "field", "region", "device", "sandbox", "endpoint"],
)
def test_different_calls_have_different_keys(other):
    """Calls that differ in endpoint, query, region, device or sandbox have different keys."""
    assert cache_key(other) != cache_key(call())


def page(**fields):
    return Call(URL_REQUEST, UrlQuery(url="https://example.com/", response_type="markdown", **fields), True, 20)


def test_the_parts_of_a_page_have_the_key_of_the_whole():
    """The whole page is cached, so that its parts, and callers that want a younger one, find it."""
    same = [page(), page(max_chars=500), page(max_chars=500, cursor="400-5f2c81d0"), page(max_age=60)]
    assert len({cache_key(one) for one in same}) == 1
    assert cache_key(page(render="always")) != cache_key(page())


@pytest.mark.parametrize(("max_age", "expected"), [(None, 300), (0, 0), (60, 60), (300, 300)])
def test_a_call_may_want_a_younger_answer(max_age, expected):
    """Never an older one than its resource allows."""
    assert fresh_seconds(page(max_age=max_age)) == expected


def test_equal_calls_have_the_same_key():
    """The spelling of a query and its session have no effect on the key, which does not reveal the query."""
    assert cache_key(call(region="de", hl="lang_de")) == cache_key(call(region="DE", hl="de"))
    assert cache_key(call(session="paging-1")) == cache_key(call())
    assert "coffee" not in cache_key(call())


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, PLAIN),
        ("", PLAIN),
        ("no-cache", NO_CACHE),
        ("max-age=0, No-Cache ", NO_CACHE),
        ("stale-if-error", STALE),
        ("stale-if-error=60", CacheControl(stale_seconds=60)),
        ('no-cache,stale-if-error="60"', CacheControl(no_cache=True, stale_seconds=60)),
        ("stale-if-error=60, stale-if-error=5", CacheControl(stale_seconds=60)),
        ("stale-if-error=-1", PLAIN),
        ("stale-if-error=soon", PLAIN),
        ("stale-if-error=", PLAIN),
        ("no-cache-please", PLAIN),
        ("x=no-cache", PLAIN),
    ],
)
def test_cache_directives_are_parsed(header, expected):
    """The directives `no-cache` and `stale-if-error` are read; others are ignored."""
    assert CacheControl.read(header) == expected


@given(
    st.text()
    | st.lists(st.sampled_from(["no-cache", "stale-if-error", "=", '"', ",", " ", "9" * 40, "-1"])).map("".join)
)
def test_any_cache_control_header_is_accepted(header):
    """No header is an error, and none makes seconds negative."""
    assert CacheControl.read(header).stale_seconds >= 0


@given(
    st.dictionaries(st.text(), st.text() | st.none()),
    st.sampled_from(Outcome),
    st.none() | st.text(),
    st.floats(0, 1e10),
)
def test_an_entry_is_packed_and_unpacked(record, outcome, mode, at):
    """An unpacked entry is equal to the packed one."""
    entry = CacheEntry.of(Answer(record, outcome, "http", {}, region_mode=mode), at)
    assert CacheEntry.unpack(entry.pack()) == entry


@pytest.mark.task
async def test_a_hit_takes_no_memory(clock):
    """However many read a large cached answer, none has a copy of it."""
    cache = Cache(MemoryCache(200 * MEBIBYTE), 3600, clock)
    large = Answer({"text": "x" * 20 * MEBIBYTE}, Outcome.OK, "http", {}, engine="a_web")
    await cache.put(cache_key(call()), call(), large)
    tracemalloc.start()
    hits = [await cache.claim(cache_key(call()), call()) for _ in range(3)]
    assert tracemalloc.get_traced_memory()[1] < MEBIBYTE
    tracemalloc.stop()
    assert [hit.entry.body == large.json for hit in hits] == [True] * 3


@pytest.mark.task
async def test_a_hit_that_is_refused_takes_no_memory(clock):
    """A large cached answer is not copied for a key that has too many unread ones already."""
    cache, held = Cache(MemoryCache(200 * MEBIBYTE), 3600, clock), HeldBytes()
    large = Answer({"text": "x" * 20 * MEBIBYTE}, Outcome.OK, "http", {}, engine="a_web")
    await cache.put(cache_key(call()), call(), large)
    CallShare("key_1", held).hold(40 * MEBIBYTE)
    refused = replace(call(), share=CallShare("key_1", held))
    tracemalloc.start()
    with pytest.raises(RateLimitedError, match="56 MiB"):
        await cache.claim(cache_key(refused), refused)
    assert tracemalloc.get_traced_memory()[1] < MEBIBYTE
    tracemalloc.stop()
