"""The choice of proxies by how they have done."""

from collections import Counter
from heapq import heappop, heappush
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from webdata.config.proxies import pools
from webdata.domain.errors import QueryError
from webdata.fetching.circuit_breaker import FIRST_SECONDS, JITTER, LONGEST_SECONDS, PROBE_SECONDS
from webdata.fetching.proxy_pool import MOST_SESSIONS, ProxyPool, check_region, used_pools

SECRET = "s3cret"


class Clock:
    """Time that stands still until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


def proxies(count=2, region="DE", clock=None, seed=1):
    urls = [(region, f"http://user:{SECRET}@host{number}:1") for number in range(count)]
    return ProxyPool(pools(urls), clock or Clock(), Random(seed))


def chosen(some, times=100, **how):
    return Counter(some.choose("google_web", "DE", **how).label for _ in range(times))


def lose(some, label, times=1, verdict="lost"):
    for _ in range(times):
        some.report("google_web", label, verdict, 0.1)


def test_a_region_without_a_pool_has_no_proxy():
    """Without a pool for its region, or for any, a call has no proxy; nor has one without a region."""
    some = proxies()
    assert some.choose("google_web", "JP") is None
    assert some.choose("google_web", None) is None
    assert (some.has_pool("DE"), some.has_pool("JP")) == (True, False)


def test_any_serves_calls_without_a_pool_of_their_own():
    """The pool ANY is for calls without a region, and for regions without proxies, which it is no pool of."""
    some = proxies(region="ANY")
    assert some.choose("google_web", None).label in ("ANY-1", "ANY-2")
    assert some.choose("google_web", "JP").region == "ANY"
    assert not some.has_pool("JP")


def test_all_that_are_well_are_used():
    """Proxies of equal health get about equal shares."""
    assert min(chosen(proxies(4), 1000).values()) > 200


def test_fast_ones_are_used_more():
    """Of two that are well, the faster one is chosen more often, and the slower one still is."""
    some = proxies()
    for _ in range(20):
        some.report("google_web", "DE-1", "won", 0.2)
        some.report("google_web", "DE-2", "won", 0.8)
    counts = chosen(some, 1000)
    assert counts["DE-1"] > 2 * counts["DE-2"] > 0


def test_one_that_fails_has_its_circuit_opened():
    """After a failure a proxy is left out for some seconds."""
    clock = Clock()
    some = proxies(clock=clock)
    lose(some, "DE-1")
    assert chosen(some, 50) == {"DE-2": 50}
    row = next(row for row in some.snapshot() if row["proxy"] == "DE-1")
    assert (row["circuit"], row["lost"], row["blocked_by"]) == ("open", 1, {})
    assert FIRST_SECONDS * (1 - JITTER) <= row["open_for"] <= FIRST_SECONDS * (1 + JITTER)


def test_a_half_open_circuit_is_probed_by_one_call():
    """When its open time is over one call goes through it until that has ended; a success closes the circuit."""
    clock = Clock()
    some = proxies(clock=clock)
    lose(some, "DE-1")
    clock.now = 7
    assert chosen(some, 500)["DE-1"] == 1
    some.report("google_web", "DE-1", "won", 0.1)
    assert chosen(some, 500)["DE-1"] > 20


def test_a_probe_that_is_never_reported_is_given_up():
    """A probe whose end is not reported does not keep its proxy out for ever."""
    clock = Clock()
    some = proxies(clock=clock)
    lose(some, "DE-1")
    clock.now = 7
    assert chosen(some, 500)["DE-1"] == 1
    clock.now += PROBE_SECONDS
    assert chosen(some, 500)["DE-1"] == 1


def test_its_circuit_is_in_the_snapshot():
    """The circuit is closed, open, half-open when its time is over, also while it is probed, and closed again."""
    clock = Clock()
    some = proxies(1, clock=clock)
    states = [some.snapshot()[0]["circuit"]]
    lose(some, "DE-1")
    states.append(some.snapshot()[0]["circuit"])
    clock.now = 7
    states.append(some.snapshot()[0]["circuit"])
    some.choose("google_web", "DE")
    states.append(some.snapshot()[0]["circuit"])
    some.report("google_web", "DE-1", "won", 0.2)
    states.append(some.snapshot()[0]["circuit"])
    assert states == ["closed", "open", "half_open", "half_open", "closed"]


def test_the_sites_that_block_it_are_in_the_snapshot():
    """A proxy that one engine's site blocks works for others, and its row names that engine."""
    some = proxies(1)
    for _ in range(25):
        some.report("google_web", "DE-1", "blocked", 0.2)
    some.report("bing_web", "DE-1", "won", 0.2)
    (row,) = some.snapshot()
    assert (row["circuit"], row["blocked"], row["success_rate"]) == ("closed", 25, 1.0)
    assert list(row["blocked_by"]) == ["google_web"]
    assert row["blocked_by"]["google_web"] < 0.01
    (there,) = some.snapshot("google_web")
    assert (there["circuit"], "blocked_by" in there) == ("open", False)


def test_open_times_grow_and_are_bounded():
    """Each is longer than the one before, up to a bound."""
    clock = Clock()
    some = proxies(1, clock=clock)
    times = []
    for _ in range(12):
        lose(some, "DE-1")
        times.append(some.snapshot()[0]["open_for"])
        clock.now += times[-1] + 1
    assert times[0] < times[2] < times[4] < times[6]
    assert max(times) <= LONGEST_SECONDS * (1 + JITTER)


def test_failures_at_once_open_it_once():
    """Many calls that fail at once open the circuit as one does."""
    some = proxies(1)
    lose(some, "DE-1", times=10)
    assert some.snapshot()[0]["open_for"] <= FIRST_SECONDS * (1 + JITTER)


def test_when_all_circuits_are_open_the_next_to_end_is_chosen():
    """There is always a proxy: the one whose open time ends first, or another while that one is probed."""
    clock = Clock()
    some = proxies(2, clock=clock)
    lose(some, "DE-1")
    clock.now = 4
    lose(some, "DE-2")
    assert some.choose("google_web", "DE").label == "DE-1"
    assert some.choose("google_web", "DE").label == "DE-2"


def test_a_block_counts_for_its_engine_only():
    """A proxy that one site blocks is as good as before for others."""
    some = proxies()
    lose(some, "DE-1", verdict="blocked")
    assert chosen(some, 50) == {"DE-2": 50}
    assert {some.choose("bing_web", "DE").label for _ in range(50)} == {"DE-1", "DE-2"}


def test_a_failure_counts_for_all_engines():
    """A proxy that takes no connection takes none for anybody."""
    some = proxies()
    lose(some, "DE-1")
    assert {some.choose("bing_web", "DE").label for _ in range(50)} == {"DE-2"}


def test_those_to_avoid_are_avoided():
    """A proxy that a call was lost with is not chosen for it again, unless there is no other."""
    some = proxies()
    assert chosen(some, 50, avoid=["DE-1"]) == {"DE-2": 50}
    assert (some.has_other("DE", ["DE-1"]), some.has_other("DE", ["DE-1", "DE-2"])) == (True, False)
    assert chosen(some, 50, avoid=["DE-1", "DE-2"]).keys() == {"DE-1", "DE-2"}


def test_a_session_keeps_to_its_proxy():
    """All calls of a session go through one proxy while it is well, and through one other from then on."""
    some = proxies(4)
    ((first, _),) = chosen(some, 50, session="paging").items()
    assert len(chosen(some, 200)) == 4
    lose(some, first)
    ((second, _),) = chosen(some, 50, session="paging").items()
    assert second != first


def test_sessions_are_bounded():
    """The session that was used least lately is forgotten when there are too many."""
    some = proxies(4)
    for number in range(MOST_SESSIONS + 10):
        some.choose("google_web", "DE", session=str(number))
    assert len(some._pinned) == MOST_SESSIONS


def test_fetches_of_one_query_keep_to_its_proxy():
    """The proxy of the fetch before is chosen again while it is well."""
    some = proxies(4)
    assert chosen(some, 50, last="DE-3") == {"DE-3": 50}
    lose(some, "DE-3")
    assert "DE-3" not in chosen(some, 50, last="DE-3")


def test_snapshots_hold_no_address():
    """Health and metrics name proxies by their labels, also for one engine."""
    some = proxies()
    lose(some, "DE-1", verdict="blocked")
    assert [row["proxy"] for row in some.snapshot("google_web")] == ["DE-1"]
    assert some.snapshot("bing_web") == []
    assert SECRET not in f"{some.snapshot()} {some.snapshot('google_web')} {some!r}"
    assert "host0" not in f"{some.snapshot()} {some!r}"


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["won", "lost", "blocked"]), st.floats(0, 100), st.booleans()), max_size=200))
def test_there_is_always_a_proxy(story):
    """Whatever happened before, a pool gives a proxy of its own, and one that is not to be avoided."""
    clock = Clock()
    some = proxies(3, clock=clock)
    for verdict, seconds, reported in story:
        proxy = some.choose("google_web", "DE", avoid=["DE-2"])
        assert proxy.label in ("DE-1", "DE-3")
        clock.now += seconds
        if reported:
            some.report("google_web", proxy.label, verdict, seconds)


BAD = {"DE-1": 0.0, "DE-2": 0.0, "DE-3": 0.0, "DE-4": 0.5, "DE-5": 0.5, "DE-6": 0.5}
"""Share of calls that are won through each of the bad ones; the four others win all."""


def simulated(gap, seed, calls=1000, tries=3):
    """Share of calls that were won, and of attempts after the 200th call that went through bad proxies.

    A call sets out every `gap` seconds, whether or not those before it have ended.
    """
    clock, random = Clock(), Random(seed)
    some = proxies(10, clock=clock, seed=seed)
    events = [(number * gap, number, 0, "set out", ()) for number in range(calls)]
    won, late = 0, []
    while events:
        clock.now, number, attempt, event, lost_with = heappop(events)
        if event == "set out":
            label = some.choose("google_web", "DE", avoid=lost_with).label
            late += [label] if number >= 200 else []
            wins = random.random() < BAD.get(label, 1.0)
            heappush(events, (clock.now + (0.3 if wins else 0.05), number, attempt, wins, (*lost_with, label)))
        else:
            some.report("google_web", lost_with[-1], "won" if event else "lost", 0.3)
            won += event
            if not event and attempt + 1 < tries:
                heappush(events, (clock.now, number, attempt + 1, "set out", lost_with))
    return won / calls, sum(label in BAD for label in late) / len(late)


@pytest.mark.parametrize("gap", [0.01, 0.1, 1, 30], ids=lambda gap: f"a call every {gap} s")
def test_bad_proxies_are_hardly_used(gap):
    """With 3 of 10 dead and 3 failing half the time, 99 % of calls succeed and few go to the bad ones."""
    for seed in range(3):
        won, bad = simulated(gap, seed)
        assert won >= 0.99
        assert bad < 0.05


def crawler_settings(**changed):
    return Settings(
        {"PROXIES": pools([("DE", "http://a:1"), ("ANY", "http://b:1")]), "REGION_MODE": "refuse", **changed}
    )


def test_a_region_without_proxies_is_refused_where_that_is_set():
    """The error says which regions there are."""
    with pytest.raises(
        QueryError, match="X-Proxy-Location cannot be 'JP', where there is no proxy: give one of DE, EU"
    ):
        check_region("JP", crawler_settings())
    check_region("DE", crawler_settings())
    check_region("JP", crawler_settings(REGION_MODE="parameters"))


def test_without_any_proxy_all_regions_are_refused():
    """The error says that there are none."""
    with pytest.raises(QueryError, match="there is no proxy: give none"):
        check_region("JP", crawler_settings(PROXIES={}))


def test_the_plain_sandbox_has_all_regions_and_no_proxies():
    """A test key's request goes through no proxy and is never refused for its region."""
    check_region("JP", crawler_settings(SANDBOX="1"))
    assert "DE" not in used_pools(crawler_settings(SANDBOX="1"))
    assert "DE" in used_pools(crawler_settings(SANDBOX="1", SANDBOX_PROXIES=True))
    assert "DE" in used_pools(crawler_settings(SANDBOX="0"))
