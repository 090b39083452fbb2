"""Where fetches begin, and what is remembered of transports."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.attempts import TRANSPORTS
from webdata.fetching.circuit_breaker import LONGEST_SECONDS, PROBE_SECONDS
from webdata.fetching.transport_policy import MOST, PATIENCE, Scope, TransportPolicy

HERE = Scope("google_web", "DE")


class Clock:
    """Seconds that a test moves on."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def policy(clock=None, transports=TRANSPORTS):
    return TransportPolicy(transports, clock=clock or Clock(), random=Random(1))


def lose(of, transport="http", scope=HERE):
    of.report(scope, transport, won=False, seconds=0)


def win(of, transport, seconds=0.1, scope=HERE):
    of.report(scope, transport, won=True, seconds=seconds)


def row(of, transport):
    return next(one for one in of.snapshot() if one["transport"] == transport)


def test_a_fetch_begins_with_the_cheapest():
    """Nothing is known, so plain HTTP is the first."""
    assert policy().first(HERE) == "http"


def test_an_engine_may_leave_transports_out():
    """Only what both the process has and the engine allows is used."""
    api = Scope("openalex_works", "", ("http",))
    assert policy().above(api, "http") == []
    assert policy(transports=("http", "browser")).above(HERE, "http") == ["browser"]


def test_a_fetch_begins_with_the_transport_that_worked(clock):
    """After plain HTTP was given up and the browser won, the next fetch begins in the browser, in that region."""
    of = policy(clock)
    lose(of)
    win(of, "browser", seconds=1)
    assert of.first(HERE) == "browser"
    assert of.first(Scope("google_web", "US")) == of.first(Scope("bing_web", "DE")) == "http"


def test_a_half_open_circuit_is_probed_once(clock):
    """When the circuit of a cheaper transport is half-open one fetch probes it; the others go on as before."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.first(HERE) for _ in range(3)] == ["http", "browser", "browser"]
    win(of, "http")
    assert [of.first(HERE) for _ in range(3)] == ["http"] * 3


def test_a_lost_probe_opens_the_circuit_for_longer(clock):
    """Each loss in a row doubles the open time, up to a bound."""
    of = policy(clock)
    win(of, "browser")
    times = []
    for _ in range(12):
        lose(of)
        times.append(row(of, "http")["open_for"])
        clock.now += times[-1] + 1
        assert of.first(HERE) == "http"
    assert times[1] > times[0]
    assert times[-1] > LONGEST_SECONDS / 2
    assert max(times) <= LONGEST_SECONDS * 1.25


def test_a_probe_without_a_result_is_given_up(clock):
    """A fetch that was lost on its way does not keep others from probing."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.first(HERE), of.first(HERE)] == ["http", "browser"]
    clock.now += PROBE_SECONDS + 1
    assert of.first(HERE) == "http"


def test_looking_for_a_usable_transport_begins_no_probe(clock):
    """Whether a transport is usable may be asked without an attempt: the circuit stays half-open for the next fetch."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert of.is_usable(HERE, "http")
    assert of.is_usable(HERE, "http")
    of.begin(HERE, "http")
    assert not of.is_usable(HERE, "http")


def test_losses_of_attempts_that_run_at_once_count_once(clock):
    """Fifty fetches that meet the same challenge open the circuit for seconds, not for ten minutes."""
    of = policy(clock)
    for _ in range(50):
        lose(of)
    assert of.snapshot()[0]["open_for"] < 10


def test_one_crash_is_one_loss():
    """Attempts that ran at the same time and were lost together don't use up the patience with the last transport."""
    of = policy()
    for _ in range(8):
        of.report(HERE, "browser", won=False, seconds=0.5)
    assert of.is_usable(HERE, "browser")


def test_the_circuit_of_the_last_transport_opens_later(clock):
    """Nothing replaces the last one, so its circuit opens with its third loss in a row."""
    of = policy(clock)
    for _ in range(PATIENCE - 1):
        lose(of, "browser")
    assert of.is_usable(HERE, "browser")
    lose(of, "browser")
    assert not of.is_usable(HERE, "browser")


def test_where_all_circuits_are_open_the_first_to_end_is_used(clock):
    """Better a fetch that may be lost than none."""
    of = policy(clock)
    for transport in TRANSPORTS:
        for _ in range(PATIENCE):
            lose(of, transport)
            clock.now += 0.1
    times = {one["transport"]: one["open_for"] for one in of.snapshot()}
    assert all(times.values())
    assert of.first(HERE) == min(times, key=times.get)


def test_a_transport_that_wins_seldom_is_not_the_first(clock):
    """One that is dear by its rate of failure gives way to one that is sure, though its circuit is closed."""
    of = policy(clock)
    for _ in range(20):
        of.report(HERE, "http", won=False, seconds=3)
        clock.now += 1000
        win(of, "browser", seconds=0.5)
    of.report(HERE, "http", won=True, seconds=3)
    assert of.first(HERE) == "browser"


def test_sites_are_learnt_of_one_by_one(clock):
    """What one site does changes nothing for others, or for the engine; and no row names single sites."""
    one, other = (replace(HERE, site=f"{name}.example") for name in "ab")
    of = policy(clock)
    lose(of, scope=one)
    assert of.first(one) != "http"
    assert of.first(other) == of.first(HERE) == "http"
    assert of.snapshot() == []


def test_many_sites_push_out_no_engine(monkeypatch):
    """The memory of sites has a bound of its own."""
    monkeypatch.setattr("webdata.fetching.transport_policy.MOST", 8)
    of = policy()
    win(of, "http")
    for number in range(100):
        win(of, "http", scope=replace(HERE, site=f"{number}.example"))
    assert (len(of._sites), len(of.snapshot())) == (8, 1)


def test_memory_is_bounded():
    """The record that was used least recently is dropped."""
    of = policy()
    for number in range(MOST):
        win(of, "http", scope=Scope(f"engine {number}"))
    assert len(of.snapshot()) <= MOST
    assert of.snapshot()[-1]["engine"] == f"engine {MOST - 1}"


@given(st.lists(st.tuples(st.sampled_from(TRANSPORTS), st.booleans(), st.floats(0, 30)), max_size=60))
def test_an_open_circuit_is_left_alone(history):
    """A fetch begins with a transport whose circuit is open only if all are."""
    clock = Clock()
    of = policy(clock)
    for transport, won, later in history:
        of.report(HERE, transport, won=won, seconds=0.1)
        clock.now += later
        opened = {one["transport"] for one in of.snapshot() if one["circuit"] == "open"}
        assert of.first(HERE) not in opened or len(opened) == len(TRANSPORTS)
