"""The attempt after a lost one."""

import asyncio
from random import Random
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetching.clock import Clock
from webdata.domain.attempts import TRANSPORTS
from webdata.domain.errors import BlockedError, NotFoundError, UpstreamError
from webdata.domain.proxies import pools
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import Fetch, QueryRun
from webdata.fetching.proxy_pool import ProxyPool
from webdata.fetching.retry_policy import Backoff, NextAttempt, RetryPolicy, first_answer
from webdata.fetching.transport_policy import Scope, TransportPolicy

HERE = Scope("google_web", "DE")
KINDS = {
    "blocked": ["captcha", "consent", "javascript", "login", "denied", "budget"],
    "upstream": [
        "timeout",
        "reset",
        "proxy",
        "http_500",
        "http_408",
        "http_400",
        "too_complex",
        "too_large",
        "truncated",
        None,
    ],
    "degraded": [None],
    "not_found": [None],
    "layout": [None],
}
LOSSES = st.sampled_from([(outcome, kind) for outcome, kinds in KINDS.items() for kind in kinds])


def retries(transports=None, **options):
    proxies = ProxyPool(pools([("DE", "http://one:1"), ("DE", "http://two:1")]))
    return RetryPolicy(
        transports or TransportPolicy(clock=Clock(), random=Random(1)), proxies, random=Random(1), **options
    )


def attempt(outcome="blocked", kind=None, transport="http"):
    return {"transport": transport, "proxy": None, "outcome": outcome, "kind": kind, "seconds": 0.1}


def after(attempts, *, of=None, left=60, other_proxy=False, retry_after=0.0):
    """The next attempt after these, with `left` seconds; `other_proxy` where the pool has another one."""
    run = QueryRun("DE", deadline=left, started_at=monotonic())
    fetch = Fetch(run, scope=HERE, proxy="DE-1" if other_proxy else None)
    return (of or retries()).after(fetch, attempts, retry_after)


@pytest.mark.parametrize(
    ("outcome", "kind", "transport", "expected"),
    [
        ("blocked", "javascript", "http", "browser"),
        ("blocked", "javascript", "browser", None),
        ("blocked", "denied", "http", "impersonate"),
        ("blocked", "denied", "impersonate", "browser"),
        ("blocked", "captcha", "http", "impersonate"),
        ("blocked", "consent", "http", "http"),
        ("blocked", "login", "http", None),
        ("blocked", "budget", "http", None),
        ("upstream", "http_500", "http", "http"),
        ("upstream", "reset", "http", "http"),
        ("upstream", "http_408", "http", "http"),
        ("upstream", "http_400", "http", None),
        ("upstream", "too_large", "http", None),
        ("upstream", "too_complex", "http", None),
        ("upstream", "dns_failed", "http", "http"),
        ("upstream", "dns_timeout", "http", None),
        ("degraded", None, "http", "http"),
        ("layout", None, "http", None),
        ("not_found", None, "http", None),
    ],
)
def test_the_next_attempt_depends_on_the_loss(outcome, kind, transport, expected):
    """After a block a transport follows that may pass it, after a failure the same one, after an answer none."""
    following = after([attempt(outcome, kind, transport)])
    assert (following and following.transport) == expected


@pytest.mark.parametrize("kind", ["captcha", "denied", "login", "proxy"])
def test_another_proxy_is_used_before_another_transport(kind):
    """A loss that the proxy may have caused is followed by another proxy, without a pause."""
    outcome = "upstream" if kind == "proxy" else "blocked"
    assert after([attempt(outcome, kind)], other_proxy=True) == NextAttempt("http", other_proxy=True)


@pytest.mark.parametrize("kind", ["captcha", "denied"])
def test_other_proxies_leave_an_attempt_for_each_transport(kind):
    """With any number of proxies, a persistent block reaches the browser within the attempts of a call."""
    attempts, following, of = [], NextAttempt("http"), retries()
    while following:
        attempts.append(attempt(kind=kind, transport=following.transport))
        following = after(attempts, of=of, other_proxy=True)
    assert [one["transport"] for one in attempts] == ["http", "http", "impersonate", "browser"]


def test_no_other_proxy_is_used_against_scripts():
    """After a JavaScript challenge the browser follows, even if there are other proxies."""
    assert after([attempt(kind="javascript")], other_proxy=True) == NextAttempt("browser")


def test_a_consent_form_is_sent_once():
    """A second consent page is a block."""
    attempts = [attempt(kind="consent"), attempt(kind="consent")]
    assert after(attempts) is None


def test_after_two_resets_the_next_transport_is_used():
    """Some sites reset the connections of other clients than browsers: the next transport resembles one."""
    attempts = [attempt("upstream", "reset")] * 2
    assert after(attempts) == NextAttempt("impersonate")


def test_a_short_requested_pause_is_made():
    """A short pause that the site requests is made; a longer one ends the fetch."""
    of = retries(backoff=Backoff(0.2, 2.0))
    assert after([attempt(kind="denied")], of=of, retry_after=1.5) == NextAttempt("http", delay=1.5)
    assert after([attempt(kind="denied")], of=of, retry_after=60) is None
    assert after([attempt(kind="denied")], of=of, other_proxy=True, retry_after=60) == NextAttempt(
        "http", other_proxy=True
    )


def test_a_pause_that_did_not_help_is_not_repeated():
    """After a second request for a pause no attempt follows."""
    limited = attempt("blocked", "denied")
    assert after([limited], retry_after=1).delay == 1
    assert after([limited, limited], retry_after=1) is None


def test_no_attempt_begins_without_enough_time():
    """An attempt needs the time of its transport's last ones; the browser's is longer than that of plain HTTP."""
    transports = TransportPolicy()
    of = retries(transports)
    assert after([attempt(kind="javascript")], of=of, left=1) is None
    transports.report(HERE, "browser", won=True, seconds=0.5)
    assert after([attempt(kind="javascript")], of=of, left=1) == NextAttempt("browser")


def test_an_attempt_that_is_not_made_is_no_probe():
    """A half-open circuit that a fetch had no time to probe is probed by the next fetch."""
    clock = Clock()
    transports = TransportPolicy(clock=clock, random=Random(1))
    for _ in range(3):
        transports.report(HERE, "browser", won=False, seconds=0)
        clock.now += 0.1
    clock.now += 10
    of = retries(transports)
    assert after([attempt(kind="javascript")], of=of, left=-1) is None
    assert after([attempt(kind="javascript")], of=of) == NextAttempt("browser")
    assert after([attempt(kind="javascript")], of=of) == NextAttempt("impersonate")


@given(st.integers(1, 200), st.floats(0, 10), st.floats(0, 100))
def test_pauses_grow_and_are_bounded(attempts, first, most):
    """A pause at most doubles with each attempt, and is never longer than the longest."""
    seconds = Backoff(first, most).seconds(attempts, Random(attempts))
    assert 0 <= seconds <= most
    assert seconds <= first * 2.0 ** (attempts - 1)


@given(
    st.sets(st.sampled_from(["impersonate", "browser"])),
    st.integers(1, 6),
    st.lists(st.tuples(LOSSES, st.booleans(), st.floats(0, 3)), min_size=1, max_size=40),
    st.lists(st.tuples(st.sampled_from(TRANSPORTS), st.booleans(), st.floats(0, 20)), max_size=30),
)
def test_a_fetch_never_has_more_attempts_than_allowed(others, max_attempts, losses, history):
    """A fetch has at most `max_attempts`, by available transports without open circuits, within its time."""
    clock = Clock()
    available = {"http", *others}
    transports = TransportPolicy(tuple(available), clock=clock, random=Random(1))
    of = retries(transports, max_attempts=max_attempts)
    for transport, won, later in history:
        transports.report(HERE, transport, won=won, seconds=0.1)
        clock.now += later
    transport, attempts, left = transports.first(HERE), [], 20.0
    for (outcome, kind), other_proxy, seconds in losses:
        assert transport in available
        attempts.append(attempt(outcome, kind, transport))
        left -= seconds
        following = after(attempts, of=of, left=left, other_proxy=other_proxy)
        if following is None:
            break
        assert following.delay <= left
        if following.transport != transport:
            rows = [row for row in transports.snapshot() if row["transport"] == following.transport]
            assert all(row["circuit"] != "open" for row in rows)
        transport = following.transport
    assert len(attempts) <= max_attempts


class Candidates:
    """Engines by name, with the answer or error of each; records the requests."""

    def __init__(self, **ends):
        self.ends = ends
        self.breakers = {name: CircuitBreaker() for name in ends}
        self.requested = []

    async def request(self, name, seconds):
        self.requested.append((name, round(seconds, 1)))
        if isinstance(self.ends[name], Exception):
            raise self.ends[name]
        return self.ends[name]

    async def answer(self, seconds=12):
        losses = (BlockedError, UpstreamError)
        return await first_answer(list(self.ends), self.breakers.__getitem__, self.request, seconds, losses)


@pytest.mark.task
async def test_the_next_candidate_is_requested_after_a_loss():
    """Each candidate but the last gets two thirds of the time that is left, and the first answer is returned."""
    candidates = Candidates(one=BlockedError("a captcha"), two=UpstreamError("a reset"), three="page", four="other")
    assert await candidates.answer() == "page"
    assert candidates.requested == [("one", 8.0), ("two", 8.0), ("three", 8.0)]


@pytest.mark.task
async def test_a_slow_first_candidate_leaves_the_second_a_third_of_the_time():
    """The second candidate gets what the first has left, at least a third; after an early loss nearly all of it."""
    requested = []

    async def request(candidate, seconds):
        requested.append(seconds)
        await asyncio.sleep(seconds if candidate == "slow" else 0)
        raise UpstreamError("no answer in time", "timeout")

    breaker = CircuitBreaker()
    for first in ("slow", "quick"):
        with pytest.raises(UpstreamError):
            await first_answer([first, "second"], lambda _: breaker, request, 0.9, (UpstreamError,))
    assert requested == pytest.approx([0.6, 0.3, 0.6, 0.9], abs=0.2)


@pytest.mark.task
async def test_a_call_ends_the_probe_of_no_other():
    """A candidate that another call probes stays probed when a call that had no other choice has failed."""
    candidates = Candidates(one=BlockedError("a captcha"))
    breaker = candidates.breakers["one"]
    breaker.open_for(0.001)
    await asyncio.sleep(0.01)
    breaker.probe()
    with pytest.raises(BlockedError):
        await candidates.answer()
    assert breaker.is_probed


@pytest.mark.task
async def test_a_not_found_is_an_answer():
    """After a NotFoundError no other candidate is requested."""
    candidates = Candidates(one=NotFoundError("404"), two="page")
    with pytest.raises(NotFoundError):
        await candidates.answer()
    assert len(candidates.requested) == 1


@pytest.mark.task
async def test_the_first_of_several_losses_is_raised():
    """The error is that of the best candidate."""
    candidates = Candidates(one=BlockedError("a captcha"), two=UpstreamError("a reset"))
    with pytest.raises(BlockedError):
        await candidates.answer()


@pytest.mark.task
async def test_candidates_with_an_open_circuit_are_skipped():
    """A candidate with an open circuit is requested only if all are open, the first to end first."""
    candidates = Candidates(one="page of one", two="page of two")
    candidates.breakers["one"].open_for(60)
    assert await candidates.answer() == "page of two"
    candidates.breakers["two"].open_for(120)
    assert await candidates.answer() == "page of one"
    assert candidates.breakers["one"].state == "open"
