"""A circuit breaker's states."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.fetching.circuit_breaker import FIRST_SECONDS, LONGEST_SECONDS, PROBE_SECONDS, CircuitBreaker


class Clock:
    """Seconds that a test moves on."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(clock, Random(1))


def test_its_states(breaker, clock):
    """It is closed, open after a failure, half-open when that time is over, and closed after a success."""
    states = [breaker.state]
    breaker.open()
    states.append(breaker.state)
    clock.now += breaker.seconds_open
    states.append(breaker.state)
    breaker.close()
    states.append(breaker.state)
    assert states == ["closed", "open", "half_open", "closed"]


def test_a_half_open_circuit_lets_one_call_probe(breaker, clock):
    """Until the probe has ended, or was given up, no other call may."""
    breaker.open()
    assert not breaker.may_probe
    clock.now += 2 * FIRST_SECONDS
    assert breaker.may_probe
    breaker.probe()
    assert not breaker.may_probe
    clock.now += PROBE_SECONDS
    assert breaker.may_probe


def test_failures_at_once_open_it_once(breaker):
    """While it is open further failures change nothing."""
    breaker.open()
    seconds = breaker.seconds_open
    for _ in range(10):
        breaker.open()
    assert breaker.seconds_open == seconds


def test_a_request_for_a_pause_is_never_shortened(breaker, clock):
    """Of several wishes for a pause the one that ends last counts; 0 is none."""
    breaker.open_for(60)
    breaker.open_for(0)
    breaker.open_for(5)
    assert breaker.seconds_open == 60
    clock.now += 50
    breaker.open_for(30)
    assert breaker.seconds_open == 30


def test_a_success_that_is_not_for_good_forgets_no_failure(breaker, clock):
    """Closed without `forget`, the next failure opens it for longer than the last one did."""
    breaker.open()
    first = breaker.seconds_open
    clock.now += first
    breaker.close(forget=False)
    breaker.open()
    assert breaker.seconds_open > first * 1.1


@given(st.integers(1, 100))
def test_open_times_grow_and_are_bounded(failures):
    """However many failures in a row, the circuit is half-open again after the longest time."""
    clock = Clock()
    breaker = CircuitBreaker(clock, Random(failures))
    for _ in range(failures):
        breaker.open()
        assert 0 < breaker.seconds_open <= LONGEST_SECONDS * 1.25
        clock.now += breaker.seconds_open
