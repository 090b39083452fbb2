"""What follows an attempt that was lost."""

from random import Random
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.config.proxies import pools
from webdata.domain.attempts import TRANSPORTS
from webdata.domain.errors import BlockedError, NotFoundError, UpstreamError
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import Fetch, QueryRun
from webdata.fetching.proxy_pool import ProxyPool
from webdata.fetching.retry_policy import Backoff, NextAttempt, RetryPolicy, first_answer
from webdata.fetching.transport_policy import Scope, TransportPolicy

HERE = Scope("google_web", "DE")
KINDS = {
    "blocked": ["captcha", "consent", "javascript", "login", "denied", "budget"],
    "upstream": ["timeout", "reset", "proxy", "http_500", "http_408", "http_400", "too_large", "truncated", None],
    "degraded": [None],
    "not_found": [None],
    "layout": [None],
}
LOSSES = st.sampled_from([(outcome, kind) for outcome, kinds in KINDS.items() for kind in kinds])


class Clock:
    """Seconds that a test moves on."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def retries(transports=None, **options):
    proxies = ProxyPool(pools([("DE", "http://one:1"), ("DE", "http://two:1")]))
    return RetryPolicy(
        transports or TransportPolicy(clock=Clock(), random=Random(1)), proxies, random=Random(1), **options
    )


def attempt(outcome="blocked", kind=None, transport="http"):
    return {"transport": transport, "proxy": None, "outcome": outcome, "kind": kind, "seconds": 0.1}


def after(attempts, *, of=None, left=60, other_proxy=False, retry_after=0.0):
    """What follows these attempts, with so many seconds left; `other_proxy` where there is one to change to."""
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
        ("degraded", None, "http", "http"),
        ("layout", None, "http", None),
        ("not_found", None, "http", None),
    ],
)
def test_the_attempt_after_a_loss(outcome, kind, transport, expected):
    """A block leads to what passes its kind, a failure to another try, an answer to nothing."""
    following = after([attempt(outcome, kind, transport)])
    assert (following and following.transport) == expected


@pytest.mark.parametrize("kind", ["captcha", "denied", "login", "proxy"])
def test_another_proxy_comes_before_another_transport(kind):
    """What may be the proxy's fault is tried by another one, at once."""
    outcome = "upstream" if kind == "proxy" else "blocked"
    assert after([attempt(outcome, kind)], other_proxy=True) == NextAttempt("http", other_proxy=True)


@pytest.mark.parametrize("kind", ["captcha", "denied"])
def test_other_proxies_leave_an_attempt_for_each_transport(kind):
    """However many proxies there are, a block that stays reaches the browser within the attempts of a call."""
    attempts, following, of = [], NextAttempt("http"), retries()
    while following:
        attempts.append(attempt(kind=kind, transport=following.transport))
        following = after(attempts, of=of, other_proxy=True)
    assert [one["transport"] for one in attempts] == ["http", "http", "impersonate", "browser"]


def test_no_other_proxy_helps_against_scripts():
    """A JavaScript challenge goes to the browser, whatever proxies there are."""
    assert after([attempt(kind="javascript")], other_proxy=True) == NextAttempt("browser")


def test_a_consent_page_is_answered_once():
    """A second one after the form was sent is a block."""
    attempts = [attempt(kind="consent"), attempt(kind="consent")]
    assert after(attempts) is None


def test_a_handshake_that_is_refused_twice_leads_on():
    """Some sites close the connections of clients that are no browsers: the next transport is one."""
    attempts = [attempt("upstream", "reset")] * 2
    assert after(attempts) == NextAttempt("impersonate")


def test_a_short_pause_that_the_upstream_wants_is_made():
    """A site that wants no requests for a moment gets none; for longer the fetch ends."""
    of = retries(backoff=Backoff(0.2, 2.0))
    assert after([attempt(kind="denied")], of=of, retry_after=1.5) == NextAttempt("http", delay=1.5)
    assert after([attempt(kind="denied")], of=of, retry_after=60) is None
    assert after([attempt(kind="denied")], of=of, other_proxy=True, retry_after=60) == NextAttempt(
        "http", other_proxy=True
    )


def test_a_pause_that_did_not_help_is_not_repeated():
    """A site that wants another pause after the one it got gets no further request."""
    limited = attempt("blocked", "denied")
    assert after([limited], retry_after=1).delay == 1
    assert after([limited, limited], retry_after=1) is None


def test_no_attempt_begins_that_cannot_end_in_time():
    """The browser needs more time than plain HTTP; how much is learnt from its last attempts."""
    transports = TransportPolicy()
    of = retries(transports)
    assert after([attempt(kind="javascript")], of=of, left=1) is None
    transports.report(HERE, "browser", won=True, seconds=0.5)
    assert after([attempt(kind="javascript")], of=of, left=1) == NextAttempt("browser")


def test_an_attempt_that_is_not_made_keeps_nobody_from_probing():
    """A half-open browser that a fetch had no time for is probed by the next fetch."""
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
    """A pause is never longer than twice the one before could be, nor than the longest."""
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
    """Whatever happens: so many attempts at most, only by available transports with closed circuits, in time."""
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
    """Engines by name, with what each answers or fails with; records who was requested."""

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
    """Each gets an equal share of the time that is left, and the first answer counts."""
    some = Candidates(one=BlockedError("a captcha"), two=UpstreamError("a reset"), three="page", four="other")
    assert await some.answer() == "page"
    assert some.requested == [("one", 3.0), ("two", 4.0), ("three", 6.0)]


@pytest.mark.task
async def test_that_a_thing_does_not_exist_is_an_answer():
    """No other candidate is requested after a loss that the others would have, too."""
    some = Candidates(one=NotFoundError("404"), two="page")
    with pytest.raises(NotFoundError):
        await some.answer()
    assert len(some.requested) == 1


@pytest.mark.task
async def test_of_several_losses_the_first_is_raised():
    """What the best candidate failed with says most."""
    some = Candidates(one=BlockedError("a captcha"), two=UpstreamError("a reset"))
    with pytest.raises(BlockedError):
        await some.answer()


@pytest.mark.task
async def test_candidates_with_an_open_circuit_are_left_out():
    """Unless all are open: then the one that opens first is requested all the same."""
    some = Candidates(one="page of one", two="page of two")
    some.breakers["one"].open_for(60)
    assert await some.answer() == "page of two"
    some.breakers["two"].open_for(120)
    assert await some.answer() == "page of one"
    assert some.breakers["one"].state == "open"
