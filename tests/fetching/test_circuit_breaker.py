"""A circuit breaker's states."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetching.clock import Clock
from webdata.fetching.circuit_breaker import (
    FIRST_SECONDS,
    LONGEST_SECONDS,
    MOST_LOSSES,
    PROBE_SECONDS,
    CircuitBreaker,
)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def breaker(clock):
    return CircuitBreaker(clock, Random(1))


def test_the_states_of_a_circuit_follow_each_other(breaker, clock):
    """A circuit is open after a failure, then half-open, and closed after a success."""
    states = [breaker.state]
    breaker.open()
    states.append(breaker.state)
    clock.now += breaker.seconds_open
    states.append(breaker.state)
    breaker.close()
    states.append(breaker.state)
    assert states == ["closed", "open", "half_open", "closed"]


def test_a_half_open_circuit_lets_one_call_probe(breaker, clock):
    """No second call may probe before the first probe has ended or timed out."""
    breaker.open()
    assert not breaker.may_probe
    clock.now += 2 * FIRST_SECONDS
    assert breaker.may_probe
    breaker.probe()
    assert not breaker.may_probe
    clock.now += PROBE_SECONDS
    assert breaker.may_probe


def test_losses_in_a_row_open_the_circuit(breaker, clock):
    """A success between losses starts the count anew; a loss while it is half-open opens it for longer."""
    for _ in range(2):
        for _ in range(MOST_LOSSES - 1):
            breaker.lose()
        assert breaker.is_closed
        breaker.close()
    for _ in range(MOST_LOSSES):
        breaker.lose()
    assert breaker.state == "open"
    clock.now += breaker.seconds_open
    breaker.lose()
    assert breaker.seconds_open > FIRST_SECONDS


def test_failures_at_once_open_the_circuit_once(breaker):
    """Failures while the circuit is open have no effect."""
    breaker.open()
    seconds = breaker.seconds_open
    for _ in range(10):
        breaker.open()
    assert breaker.seconds_open == seconds


def test_a_requested_pause_is_never_shortened(breaker, clock):
    """Of several requested pauses the one that ends last counts; 0 is none."""
    breaker.open_for(60)
    breaker.open_for(0)
    breaker.open_for(5)
    assert breaker.seconds_open == 60
    clock.now += 50
    breaker.open_for(30)
    assert breaker.seconds_open == 30


def test_a_circuit_may_be_closed_without_forgetting_failures(breaker, clock):
    """After `close(forget=False)` the next failure opens the circuit for longer than the last one."""
    breaker.open()
    first = breaker.seconds_open
    clock.now += first
    breaker.close(forget=False)
    breaker.open()
    assert breaker.seconds_open > first * 1.1


@given(st.integers(1, 100))
def test_open_times_grow_and_are_bounded(failures):
    """After any number of failures the circuit is half-open again after the longest open time."""
    clock = Clock()
    breaker = CircuitBreaker(clock, Random(failures))
    for _ in range(failures):
        breaker.open()
        assert 0 < breaker.seconds_open <= LONGEST_SECONDS * 1.25
        clock.now += breaker.seconds_open
