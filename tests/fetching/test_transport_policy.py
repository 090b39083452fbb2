"""The first transport of a fetch, and the success rates of transports."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetching.clock import Clock
from webdata.domain.attempts import TRANSPORTS
from webdata.fetching.circuit_breaker import LONGEST_SECONDS, PROBE_SECONDS
from webdata.fetching.transport_policy import MOST_RECORDS, PATIENCE, Scope, TransportPolicy

HERE = Scope("google_web", "DE")


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
    """Without past results plain HTTP is the first transport."""
    assert policy().first(HERE) == "http"


def test_an_engine_may_leave_transports_out():
    """Only transports that both the process and the engine allow are used."""
    api = Scope("openalex_works", "", ("http",))
    assert policy().above(api, "http") == []
    assert policy(transports=("http", "browser")).above(HERE, "http") == ["browser"]


def test_a_fetch_begins_with_the_transport_that_worked(clock):
    """After a loss by plain HTTP and a success of the browser, fetches of that region begin in the browser."""
    of = policy(clock)
    lose(of)
    win(of, "browser", seconds=1)
    assert of.first(HERE) == "browser"
    assert of.first(Scope("google_web", "US")) == of.first(Scope("bing_web", "DE")) == "http"


def test_a_half_open_circuit_is_probed_once(clock):
    """A half-open circuit of a cheaper transport is probed by one fetch; the others do not change."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.first(HERE) for _ in range(3)] == ["http", "browser", "browser"]
    win(of, "http")
    assert [of.first(HERE) for _ in range(3)] == ["http"] * 3


def test_a_lost_probe_opens_the_circuit_for_longer(clock):
    """Each loss in a row doubles the open time, up to a limit."""
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
    """A probe without a reported result times out, and the next fetch probes."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert [of.first(HERE), of.first(HERE)] == ["http", "browser"]
    clock.now += PROBE_SECONDS + 1
    assert of.first(HERE) == "http"


def test_checking_a_transport_begins_no_probe(clock):
    """`is_usable` begins no probe: the circuit stays half-open for the next fetch."""
    of = policy(clock)
    lose(of)
    win(of, "browser")
    clock.now += 10
    assert of.is_usable(HERE, "http")
    assert of.is_usable(HERE, "http")
    of.begin(HERE, "http")
    assert not of.is_usable(HERE, "http")


def test_losses_of_attempts_that_run_at_once_count_once(clock):
    """Fifty losses at the same time open the circuit for seconds, not for ten minutes."""
    of = policy(clock)
    for _ in range(50):
        lose(of)
    assert of.snapshot()[0]["open_for"] < 10


def test_losses_of_the_last_transport_at_once_count_once():
    """Losses of the last transport at the same time count as one, and do not open its circuit."""
    of = policy()
    for _ in range(8):
        of.report(HERE, "browser", won=False, seconds=0.5)
    assert of.is_usable(HERE, "browser")


def test_the_circuit_of_the_last_transport_opens_later(clock):
    """No transport replaces the last one, so its circuit opens only after its third loss in a row."""
    of = policy(clock)
    for _ in range(PATIENCE - 1):
        lose(of, "browser")
    assert of.is_usable(HERE, "browser")
    lose(of, "browser")
    assert not of.is_usable(HERE, "browser")


def test_with_all_circuits_open_the_first_to_end_is_used(clock):
    """With all circuits open the transport whose open time ends first is used."""
    of = policy(clock)
    for transport in TRANSPORTS:
        for _ in range(PATIENCE):
            lose(of, transport)
            clock.now += 0.1
    times = {one["transport"]: one["open_for"] for one in of.snapshot()}
    assert all(times.values())
    assert of.first(HERE) == min(times, key=times.get)


def test_an_unreliable_transport_is_not_the_first(clock):
    """A reliable transport is preferred to a cheaper one with a closed circuit that often fails."""
    of = policy(clock)
    for _ in range(20):
        of.report(HERE, "http", won=False, seconds=3)
        clock.now += 1000
        win(of, "browser", seconds=0.5)
    of.report(HERE, "http", won=True, seconds=3)
    assert of.first(HERE) == "browser"


def test_sites_are_rated_separately(clock):
    """A site's results have no effect on other sites or the engine, and are not in the snapshot."""
    one, other = (replace(HERE, site=f"{name}.example") for name in "ab")
    of = policy(clock)
    lose(of, scope=one)
    assert of.first(one) != "http"
    assert of.first(other) == of.first(HERE) == "http"
    assert of.snapshot() == []


def test_many_sites_drop_no_engine(monkeypatch):
    """The records of sites have a separate limit."""
    monkeypatch.setattr("webdata.fetching.transport_policy.MOST_RECORDS", 8)
    of = policy()
    win(of, "http")
    for number in range(100):
        win(of, "http", scope=replace(HERE, site=f"{number}.example"))
    assert (len(of._sites), len(of.snapshot())) == (8, 1)


def test_records_are_bounded():
    """The record that was used least recently is dropped."""
    of = policy()
    for number in range(MOST_RECORDS):
        win(of, "http", scope=Scope(f"engine {number}"))
    assert len(of.snapshot()) <= MOST_RECORDS
    assert of.snapshot()[-1]["engine"] == f"engine {MOST_RECORDS - 1}"


@given(st.lists(st.tuples(st.sampled_from(TRANSPORTS), st.booleans(), st.floats(0, 30)), max_size=60))
def test_an_open_circuit_is_not_used(history):
    """A fetch begins with an open circuit's transport only if all circuits are open."""
    clock = Clock()
    of = policy(clock)
    for transport, won, later in history:
        of.report(HERE, transport, won=won, seconds=0.1)
        clock.now += later
        opened = {one["transport"] for one in of.snapshot() if one["circuit"] == "open"}
        assert of.first(HERE) not in opened or len(opened) == len(TRANSPORTS)
