"""The choice of proxies by their past results."""

from collections import Counter
from heapq import heappop, heappush
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from tests.fetching.clock import Clock
from webdata.domain.errors import QueryError
from webdata.domain.proxies import pools
from webdata.fetching.circuit_breaker import FIRST_SECONDS, JITTER, LONGEST_SECONDS, PROBE_SECONDS
from webdata.fetching.proxy_pool import MOST_SESSIONS, ProxyPool, check_region, used_pools

SECRET = "s3cret"


def proxies(count=2, region="DE", clock=None, seed=1):
    urls = [(region, f"http://user:{SECRET}@host{number}:1") for number in range(count)]
    return ProxyPool(pools(urls), clock or Clock(), Random(seed))


def chosen(pool, times=100, **how):
    return Counter(pool.choose("google_web", "DE", **how).label for _ in range(times))


def lose(pool, label, times=1, verdict="lost"):
    for _ in range(times):
        pool.report("google_web", label, verdict, 0.1)


def test_a_region_without_a_pool_has_no_proxy():
    """Without a pool for its region or for any region, a call has no proxy; nor has one without a region."""
    pool = proxies()
    assert pool.choose("google_web", "JP") is None
    assert pool.choose("google_web", None) is None
    assert (pool.has_pool("DE"), pool.has_pool("JP")) == (True, False)


def test_the_pool_any_serves_calls_without_another_pool():
    """The pool ANY serves calls without a region, and regions without their own pool."""
    pool = proxies(region="ANY")
    assert pool.choose("google_web", None).label in ("ANY-1", "ANY-2")
    assert pool.choose("google_web", "JP").region == "ANY"
    assert not pool.has_pool("JP")


def test_working_proxies_get_equal_shares():
    """Equally good proxies get about equal shares."""
    assert min(chosen(proxies(4), 1000).values()) > 200


def test_fast_proxies_are_chosen_more_often():
    """Of two working proxies the faster one is chosen more often, but not always."""
    pool = proxies()
    for _ in range(20):
        pool.report("google_web", "DE-1", "won", 0.2)
        pool.report("google_web", "DE-2", "won", 0.8)
    counts = chosen(pool, 1000)
    assert counts["DE-1"] > 2 * counts["DE-2"] > 0


def test_a_failure_opens_the_circuit_of_a_proxy():
    """After a failure a proxy is not chosen for some seconds."""
    clock = Clock()
    pool = proxies(clock=clock)
    lose(pool, "DE-1")
    assert chosen(pool, 50) == {"DE-2": 50}
    row = next(row for row in pool.snapshot() if row["proxy"] == "DE-1")
    assert (row["circuit"], row["lost"], row["blocked_by"]) == ("open", 1, {})
    assert FIRST_SECONDS * (1 - JITTER) <= row["open_for"] <= FIRST_SECONDS * (1 + JITTER)


def test_a_half_open_circuit_is_probed_by_one_call():
    """After its open time a proxy serves one call until that has ended; a success closes the circuit."""
    clock = Clock()
    pool = proxies(clock=clock)
    lose(pool, "DE-1")
    clock.now += 7
    assert chosen(pool, 500)["DE-1"] == 1
    pool.report("google_web", "DE-1", "won", 0.1)
    assert chosen(pool, 500)["DE-1"] > 20


def test_a_probe_without_a_result_times_out():
    """A probe without a reported result times out, and the proxy is probed again."""
    clock = Clock()
    pool = proxies(clock=clock)
    lose(pool, "DE-1")
    clock.now += 7
    assert chosen(pool, 500)["DE-1"] == 1
    clock.now += PROBE_SECONDS
    assert chosen(pool, 500)["DE-1"] == 1


def test_the_snapshot_has_the_circuit():
    """The snapshot shows a circuit as closed, open, half-open, also while it is probed, and closed again."""
    clock = Clock()
    pool = proxies(1, clock=clock)
    states = [pool.snapshot()[0]["circuit"]]
    lose(pool, "DE-1")
    states.append(pool.snapshot()[0]["circuit"])
    clock.now += 7
    states.append(pool.snapshot()[0]["circuit"])
    pool.choose("google_web", "DE")
    states.append(pool.snapshot()[0]["circuit"])
    pool.report("google_web", "DE-1", "won", 0.2)
    states.append(pool.snapshot()[0]["circuit"])
    assert states == ["closed", "open", "half_open", "half_open", "closed"]


def test_the_snapshot_has_the_engines_that_block_a_proxy():
    """A proxy that one engine's site blocks works for other engines, and its row names the one that blocks."""
    pool = proxies(1)
    for _ in range(25):
        pool.report("google_web", "DE-1", "blocked", 0.2)
    pool.report("bing_web", "DE-1", "won", 0.2)
    (row,) = pool.snapshot()
    assert (row["circuit"], row["blocked"], row["success_rate"]) == ("closed", 25, 1.0)
    assert list(row["blocked_by"]) == ["google_web"]
    assert row["blocked_by"]["google_web"] < 0.01
    (there,) = pool.snapshot("google_web")
    assert (there["circuit"], "blocked_by" in there) == ("open", False)


def test_open_times_grow_and_are_bounded():
    """Each open time is longer than the one before, up to a limit."""
    clock = Clock()
    pool = proxies(1, clock=clock)
    times = []
    for _ in range(12):
        lose(pool, "DE-1")
        times.append(pool.snapshot()[0]["open_for"])
        clock.now += times[-1] + 1
    assert times[0] < times[2] < times[4] < times[6]
    assert max(times) <= LONGEST_SECONDS * (1 + JITTER)


def test_failures_at_once_open_the_circuit_once():
    """Many calls that fail at once open the circuit for as long as one failure."""
    pool = proxies(1)
    lose(pool, "DE-1", times=10)
    assert pool.snapshot()[0]["open_for"] <= FIRST_SECONDS * (1 + JITTER)


def test_with_all_circuits_open_the_first_to_end_is_chosen():
    """The proxy whose open time ends first is chosen, or another while that one is probed."""
    clock = Clock()
    pool = proxies(2, clock=clock)
    lose(pool, "DE-1")
    clock.now += 4
    lose(pool, "DE-2")
    assert pool.choose("google_web", "DE").label == "DE-1"
    assert pool.choose("google_web", "DE").label == "DE-2"


def test_a_block_counts_for_its_engine_only():
    """A proxy that one site blocks is still chosen for other engines."""
    pool = proxies()
    lose(pool, "DE-1", verdict="blocked")
    assert chosen(pool, 50) == {"DE-2": 50}
    assert {pool.choose("bing_web", "DE").label for _ in range(50)} == {"DE-1", "DE-2"}


def test_a_failure_counts_for_all_engines():
    """A proxy that does not accept connections is chosen for no engine."""
    pool = proxies()
    lose(pool, "DE-1")
    assert {pool.choose("bing_web", "DE").label for _ in range(50)} == {"DE-2"}


def test_proxies_to_avoid_are_avoided():
    """The proxies to avoid are not chosen, unless there is no other."""
    pool = proxies()
    assert chosen(pool, 50, avoid=["DE-1"]) == {"DE-2": 50}
    assert (pool.has_other("DE", ["DE-1"]), pool.has_other("DE", ["DE-1", "DE-2"])) == (True, False)
    assert chosen(pool, 50, avoid=["DE-1", "DE-2"]).keys() == {"DE-1", "DE-2"}


def test_a_session_has_one_proxy():
    """All calls of a session go through one proxy until it fails, and then through another."""
    pool = proxies(4)
    ((first, _),) = chosen(pool, 50, session="paging").items()
    assert len(chosen(pool, 200)) == 4
    lose(pool, first)
    ((second, _),) = chosen(pool, 50, session="paging").items()
    assert second != first


def test_sessions_are_bounded():
    """Beyond the limit the least recently used session is dropped."""
    pool = proxies(4)
    for number in range(MOST_SESSIONS + 10):
        pool.choose("google_web", "DE", session=str(number))
    assert len(pool._pinned) == MOST_SESSIONS


def test_fetches_of_one_query_have_one_proxy():
    """The proxy of the fetch before is chosen again until it fails."""
    pool = proxies(4)
    assert chosen(pool, 50, last="DE-3") == {"DE-3": 50}
    lose(pool, "DE-3")
    assert "DE-3" not in chosen(pool, 50, last="DE-3")


def test_snapshots_hold_no_address():
    """Snapshots, also those for one engine, name proxies by their labels."""
    pool = proxies()
    lose(pool, "DE-1", verdict="blocked")
    assert [row["proxy"] for row in pool.snapshot("google_web")] == ["DE-1"]
    assert pool.snapshot("bing_web") == []
    assert SECRET not in f"{pool.snapshot()} {pool.snapshot('google_web')} {pool!r}"
    assert "host0" not in f"{pool.snapshot()} {pool!r}"


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["won", "lost", "blocked"]), st.floats(0, 100), st.booleans()), max_size=200))
def test_there_is_always_a_proxy(story):
    """After any results a pool chooses one of its proxies, and none that is to be avoided."""
    clock = Clock()
    pool = proxies(3, clock=clock)
    for verdict, seconds, reported in story:
        proxy = pool.choose("google_web", "DE", avoid=["DE-2"])
        assert proxy.label in ("DE-1", "DE-3")
        clock.now += seconds
        if reported:
            pool.report("google_web", proxy.label, verdict, seconds)


BAD = {"DE-1": 0.0, "DE-2": 0.0, "DE-3": 0.0, "DE-4": 0.5, "DE-5": 0.5, "DE-6": 0.5}
"""The share of successful calls through each of the bad proxies; the four others never fail."""


def simulated(gap, seed, calls=1000, tries=3):
    """The share of successful calls, and the share of attempts through bad proxies after the 200th call.

    A call begins every `gap` seconds, whether or not those before it have ended.
    """
    clock, random = Clock(), Random(seed)
    pool = proxies(10, clock=clock, seed=seed)
    events = [(number * gap, number, 0, "begin", ()) for number in range(calls)]
    won, late = 0, []
    while events:
        clock.now, number, attempt, event, lost_with = heappop(events)
        if event == "begin":
            label = pool.choose("google_web", "DE", avoid=lost_with).label
            late += [label] if number >= 200 else []
            wins = random.random() < BAD.get(label, 1.0)
            heappush(events, (clock.now + (0.3 if wins else 0.05), number, attempt, wins, (*lost_with, label)))
        else:
            pool.report("google_web", lost_with[-1], "won" if event else "lost", 0.3)
            won += event
            if not event and attempt + 1 < tries:
                heappush(events, (clock.now, number, attempt + 1, "begin", lost_with))
    return won / calls, sum(label in BAD for label in late) / len(late)


@pytest.mark.parametrize("gap", [0.01, 0.1, 1, 30], ids=lambda gap: f"a call every {gap} s")
def test_bad_proxies_are_rarely_used(gap):
    """With 3 of 10 proxies dead and 3 failing half the time, 99 % of calls succeed and few use the bad ones."""
    for seed in range(3):
        won, bad = simulated(gap, seed)
        assert won >= 0.99
        assert bad < 0.05


def crawler_settings(**changed):
    return Settings(
        {"PROXIES": pools([("DE", "http://a:1"), ("ANY", "http://b:1")]), "REGION_MODE": "refuse", **changed}
    )


def test_a_region_without_proxies_may_be_refused():
    """The error lists the regions with proxies."""
    with pytest.raises(
        QueryError, match="X-Proxy-Location cannot be 'JP', where there is no proxy: give one of DE, EU"
    ):
        check_region("JP", crawler_settings())
    check_region("DE", crawler_settings())
    check_region("JP", crawler_settings(REGION_MODE="parameters"))


def test_without_any_proxy_all_regions_are_refused():
    """The error states that there is no proxy."""
    with pytest.raises(QueryError, match="there is no proxy: give none"):
        check_region("JP", crawler_settings(PROXIES={}))


def test_the_plain_sandbox_has_all_regions_and_no_proxies():
    """A request to the plain sandbox uses no proxy and is never refused for its region."""
    check_region("JP", crawler_settings(SANDBOX="1"))
    assert "DE" not in used_pools(crawler_settings(SANDBOX="1"))
    assert "DE" in used_pools(crawler_settings(SANDBOX="1", SANDBOX_PROXIES=True))
    assert "DE" in used_pools(crawler_settings(SANDBOX="0"))
