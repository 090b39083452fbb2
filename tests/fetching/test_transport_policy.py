"""Where fetches begin, and what comes after a lost step."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.fetching.transport_policy import (
    LONGEST_REST,
    MOST,
    PATIENCE,
    PROBE,
    TRANSPORTS,
    Backoff,
    Ladder,
    Next,
    Place,
)

HERE = Place("google_web", "DE")
KINDS = {
    "blocked": ["captcha", "consent", "javascript", "login", "denied", "budget"],
    "upstream": ["timeout", "reset", "proxy", "http_500", "http_408", "http_400", "too_large", "truncated", None],
    "degraded": [None],
    "not_found": [None],
    "layout": [None],
}


class Clock:
    """Seconds that a test moves on."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def ladder(clock=None, transports=TRANSPORTS, **options):
    return Ladder(transports, clock=clock or Clock(), random=Random(1), **options)


def step(outcome="blocked", kind=None, transport="http"):
    return {"transport": transport, "proxy": None, "outcome": outcome, "kind": kind, "seconds": 0.1}


def lose(of, transport="http", place=HERE):
    of.report(place, transport, won=False, seconds=0)


def win(of, transport, seconds=0.1, place=HERE):
    of.report(place, transport, won=True, seconds=seconds)


def test_a_fetch_begins_with_the_cheapest():
    """Nothing is known, so plain HTTP comes first."""
    assert ladder().start(HERE) == "http"


def test_an_engine_may_leave_transports_out():
    """Only what both the process has and the engine allows is used."""
    api = Place("openalex_works", "", ("http",))
    assert ladder().after(api, [step(kind="javascript")], 30) is None
    assert ladder(transports=("http", "browser")).after(HERE, [step(kind="denied")], 30) == Next("browser")


def test_a_call_begins_where_the_last_one_was_won(clock):
    """After plain HTTP was left and the browser won, the next call begins in the browser; another region does not."""
    of = ladder(clock)
    lose(of)
    win(of, "browser", seconds=1)
    assert of.start(HERE) == "browser"
    assert of.start(Place("google_web", "US")) == of.start(Place("bing_web", "DE")) == "http"


def test_a_rest_ends_with_one_probe(clock):
    """When the rest of a cheaper transport is over, one call tries it, and the others go on as before."""
    of = ladder(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.start(HERE) for _ in range(3)] == ["http", "browser", "browser"]
    win(of, "http")
    assert [of.start(HERE) for _ in range(3)] == ["http"] * 3


def test_a_probe_that_is_lost_makes_the_rest_longer(clock):
    """Each loss in a row doubles the rest, up to a bound."""
    of = ladder(clock)
    win(of, "browser")
    rests = []
    for _ in range(12):
        lose(of)
        (row,) = [row for row in of.snapshot() if row["transport"] == "http"]
        rests.append(row["rests"])
        clock.now += row["rests"] + 1
        assert of.start(HERE) == "http"
    assert rests[1] > rests[0]
    assert rests[-1] > LONGEST_REST / 2
    assert max(rests) <= LONGEST_REST * 1.25


def test_a_probe_that_nobody_tells_of_is_given_up(clock):
    """A call that was lost on its way does not keep a transport from being tried."""
    of = ladder(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.start(HERE), of.start(HERE)] == ["http", "browser"]
    clock.now += PROBE + 1
    assert of.start(HERE) == "http"


def test_losses_of_calls_that_run_at_once_count_once(clock):
    """Fifty calls that meet the same wall make one rest, not one of ten minutes."""
    of = ladder(clock)
    for _ in range(50):
        lose(of)
    assert of.snapshot()[0]["rests"] < 10


def test_one_death_is_one_loss():
    """Steps that ran at the same time and were lost together don't use up the patience with the last transport."""
    of = ladder()
    for _ in range(8):
        of.report(HERE, "browser", won=False, seconds=0.5)
    assert of.after(HERE, [step(kind="javascript")], 30) == Next("browser")


def test_the_last_transport_is_patient(clock):
    """Nothing takes the place of the last one, so that it rests from its third loss in a row."""
    of = ladder(clock)
    for _ in range(PATIENCE - 1):
        lose(of, "browser")
    assert of.after(HERE, [step(kind="captcha", transport="impersonate")], 30) == Next("browser")
    lose(of, "browser")
    assert of.after(HERE, [step(kind="captcha", transport="impersonate")], 30) is None


def test_where_all_rest_the_first_to_wake_is_tried(clock):
    """Better a call that may be lost than none."""
    of = ladder(clock)
    for transport in TRANSPORTS:
        for _ in range(PATIENCE):
            lose(of, transport)
            clock.now += 0.1
    rests = {row["transport"]: row["rests"] for row in of.snapshot()}
    assert all(rests.values())
    assert of.start(HERE) == min(rests, key=rests.get)


def test_a_transport_that_wins_seldom_is_no_place_to_begin(clock):
    """One that is dear by its chance of failure gives way to one that is sure, though it is awake."""
    of = ladder(clock)
    for _ in range(20):
        of.report(HERE, "http", won=False, seconds=3)
        clock.now += 1000
        win(of, "browser", seconds=0.5)
    of.report(HERE, "http", won=True, seconds=3)
    assert of.start(HERE) == "browser"


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
def test_what_comes_after_a_step(outcome, kind, transport, expected):
    """A block leads to what passes its kind, a failure to another try, an answer to nothing."""
    following = ladder().after(HERE, [step(outcome, kind, transport)], 30)
    assert (following and following.transport) == expected


@pytest.mark.parametrize("kind", ["captcha", "denied", "login", "proxy"])
def test_another_proxy_comes_before_another_transport(kind):
    """What may be the proxy's fault is tried by another one, at once."""
    outcome = "upstream" if kind == "proxy" else "blocked"
    assert ladder().after(HERE, [step(outcome, kind)], 30, other_proxy=True) == Next("http", other_proxy=True)


@pytest.mark.parametrize("kind", ["captcha", "denied"])
def test_other_proxies_leave_a_step_for_each_transport(kind):
    """However many proxies there are, a block that stays reaches the browser within the steps of a call."""
    steps, following, of = [], Next("http"), ladder()
    while following:
        steps.append(step(kind=kind, transport=following.transport))
        following = of.after(HERE, steps, 30, other_proxy=True)
    assert [one["transport"] for one in steps] == ["http", "http", "impersonate", "browser"]


def test_no_other_proxy_helps_against_scripts():
    """A JavaScript challenge goes to the browser, whatever proxies there are."""
    assert ladder().after(HERE, [step(kind="javascript")], 30, other_proxy=True) == Next("browser")


def test_a_consent_page_is_answered_once():
    """A second one after the answer is a wall."""
    steps = [step(kind="consent"), step(kind="consent")]
    assert ladder().after(HERE, steps, 30) is None


def test_a_handshake_that_is_refused_twice_leads_on():
    """Some sites close the connections of clients that are no browsers: the next transport is one."""
    steps = [step("upstream", "reset")] * 2
    assert ladder().after(HERE, steps, 30) == Next("impersonate")


def test_a_short_wait_that_is_asked_for_is_kept():
    """A site that wants to be left alone for a moment gets it; for longer the call ends."""
    of = ladder(backoff=Backoff(0.2, 2.0))
    assert of.after(HERE, [step(kind="denied")], 30, retry_after=1.5) == Next("http", delay=1.5)
    assert of.after(HERE, [step(kind="denied")], 30, retry_after=60) is None
    assert of.after(HERE, [step(kind="denied")], 30, other_proxy=True, retry_after=60) == Next("http", other_proxy=True)


def test_a_wait_that_did_not_help_is_not_repeated():
    """Who was left alone as long as it asked for, and asks again, gets no further request."""
    limited = step("blocked", "denied")
    assert ladder().after(HERE, [limited], 60, retry_after=1).delay == 1
    assert ladder().after(HERE, [limited, limited], 60, retry_after=1) is None


def test_sites_are_learnt_of_one_by_one(clock):
    """What one site does changes nothing for others, or for the engine; and no row tells of single sites."""
    one, other = (replace(HERE, site=f"{name}.example") for name in "ab")
    of = ladder(clock)
    lose(of, place=one)
    assert of.start(one) != "http"
    assert of.start(other) == of.start(HERE) == "http"
    assert of.snapshot() == []


def test_many_sites_push_out_no_engine(monkeypatch):
    """The memory of sites is bounded by itself."""
    monkeypatch.setattr("webdata.fetching.transport_policy.MOST", 8)
    of = ladder()
    win(of, "http")
    for number in range(100):
        win(of, "http", place=replace(HERE, site=f"{number}.example"))
    assert (len(of._sites), len(of.snapshot())) == (8, 1)


def test_no_step_is_begun_that_cannot_end_in_time():
    """The browser needs more time than plain HTTP, and what it has needed lately tells how much."""
    of = ladder()
    assert of.after(HERE, [step(kind="javascript")], left=1) is None
    win(of, "browser", seconds=0.5)
    assert of.after(HERE, [step(kind="javascript")], left=1) == Next("browser")


def test_memory_is_bounded():
    """What was used least lately is forgotten."""
    of = ladder()
    for number in range(MOST):
        win(of, "http", place=Place(f"engine {number}"))
    assert len(of.snapshot()) <= MOST
    assert of.snapshot()[-1]["engine"] == f"engine {MOST - 1}"


@given(st.integers(1, 200), st.floats(0, 10), st.floats(0, 100))
def test_pauses_grow_and_are_bounded(attempts, first, most):
    """A pause is never longer than twice the one before could be, nor than the longest."""
    seconds = Backoff(first, most).seconds(attempts, Random(attempts))
    assert 0 <= seconds <= most
    assert seconds <= first * 2.0 ** (attempts - 1)


steps_lost = st.sampled_from([(outcome, kind) for outcome, kinds in KINDS.items() for kind in kinds])


@given(
    st.sets(st.sampled_from(["impersonate", "browser"])),
    st.integers(1, 6),
    st.lists(st.tuples(steps_lost, st.booleans(), st.floats(0, 3)), min_size=1, max_size=40),
    st.lists(st.tuples(st.sampled_from(TRANSPORTS), st.booleans(), st.floats(0, 20)), max_size=30),
)
def test_a_way_is_never_longer_than_allowed(others, max_steps, losses, history):
    """Whatever happens: so many steps at most, only by what there is, never by what rests, within the time."""
    clock = Clock()
    there = {"http", *others}
    of = ladder(clock, tuple(there), max_steps=max_steps)
    for transport, won, later in history:
        of.report(HERE, transport, won=won, seconds=0.1)
        clock.now += later
    transport, steps, left = of.start(HERE), [], 20.0
    for (outcome, kind), other_proxy, seconds in losses:
        assert transport in there
        steps.append(step(outcome, kind, transport))
        left -= seconds
        following = of.after(HERE, steps, left, other_proxy=other_proxy)
        if following is None:
            break
        assert following.delay <= left
        if following.transport != transport:
            assert all(row["rests"] == 0 for row in of.snapshot() if row["transport"] == following.transport)
        transport = following.transport
    assert len(steps) <= max_steps


@given(st.lists(st.tuples(st.sampled_from(TRANSPORTS), st.booleans(), st.floats(0, 30)), max_size=60))
def test_a_rested_transport_is_left_alone(history):
    """A call begins with a transport that rests only if all of them do."""
    clock = Clock()
    of = ladder(clock)
    for transport, won, later in history:
        of.report(HERE, transport, won=won, seconds=0.1)
        clock.now += later
        resting = {row["transport"] for row in of.snapshot() if row["state"] == "resting"}
        assert of.start(HERE) not in resting or len(resting) == len(TRANSPORTS)
