"""What the audit of a campaign finds; `make campaign` runs one."""

from types import SimpleNamespace

import pytest

from benchmarks.campaign import audit
from benchmarks.campaign.calls import Call
from benchmarks.campaign.faults import FAULTS, ONE_ROUND, RESETS, Fault

KILLED = Fault("kill the service", 100.0, 10.0, "")


def found(call, *happened):
    """What is wrong with a call of a campaign that began at 0."""
    return list(audit._calls(SimpleNamespace(began=0.0), SimpleNamespace(calls=[call]), list(happened)))


@pytest.mark.parametrize(
    "call",
    [
        Call("hit", 200, "req_1", 1, 0.1),
        Call("miss", 503, "req_1", 0, 0.1, "overloaded"),
        Call("gateway", 502, "", 0, 0.1),
        Call("miss", 0, "", 0, 0.1, "", 105.0),
    ],
)
def test_what_may_happen_is_not_found(call):
    """Answers, errors with a code, errors of other forms, and connections that a kill has ended are right."""
    assert found(call, KILLED) == []


@pytest.mark.parametrize(
    ("call", "finding"),
    [
        (Call("hit", -1, "", 0, 60.0), "a call of hit was not answered within its time"),
        (Call("hit", -2, "", 0, 0.1), "a call of hit met a certificate that is not valid"),
        (Call("hit", 0, "", 0, 0.1, "", 200.0), "a call of hit got no answer 200 s after the start"),
        (Call("miss", 502, "req_1", 0, 0.1), "a call of miss got 502 without a code"),
        (Call("miss", 500, "req_1", 0, 0.1, "internal"), "a call of miss got 500: req_1"),
        (Call("miss", 502, "req_1", 1, 0.1, "blocked"), "a call of miss got 502 and was charged 1"),
    ],
)
def test_what_is_wrong_with_a_call_is_found(call, finding):
    """Each fault of a call is a finding."""
    assert found(call, KILLED) == [finding]


@pytest.mark.parametrize(
    ("call", "charged", "findings"),
    [
        (Call("miss", 200, "req_1", 1, 0.1), {"req_1": 1}, []),
        (Call("miss", 200, "req_1", 1, 0.1), {"req_1": 0}, ["a call of miss was told 1 credits, and the ledger has 0"]),
        (Call("miss", 200, "req_1", 1, 0.1), {"req_1": 2}, ["a call of miss was told 1 credits, and the ledger has 2"]),
        (Call("miss", 502, "req_1", 0, 0.1), {"req_1": 1}, ["a call of miss failed with 502, and the ledger has 1"]),
    ],
)
def test_what_is_wrong_with_a_charge_is_found(call, charged, findings):
    """An answer that the ledger has otherwise than its caller was told, and an error that was charged, are findings."""
    assert list(audit._charge(call, charged)) == findings


@pytest.mark.parametrize(("last", "findings"), [(500.0, []), (800.0, ["memory grew from 400 to 800 MB"])])
def test_memory_that_grows_is_found(last, findings):
    """Memory may move, and is a finding where it has grown by more than a quarter and 100 MB."""
    memory = audit.Memory(SimpleNamespace())
    memory.measured = [200.0, 400.0, 450.0, 480.0, last]
    assert list(memory.check()) == findings


def test_a_traceback_of_the_log_is_found():
    """One of ours is found; the one that Python's tracker of semaphores writes after a kill is not."""
    head = "Traceback (most recent call last):\n"
    assert audit.TRACEBACK.findall(head + '  File "webdata/service.py", line 1, in run\n')
    assert not audit.TRACEBACK.findall(head + '  File "multiprocessing/resource_tracker.py", line 239, in main\n')


def test_every_fault_happens_in_a_round():
    """A round has every fault, and each word of those that end connections is one of theirs."""
    assert set(ONE_ROUND) == set(FAULTS)
    assert [word for word in RESETS if not any(word in name for name in FAULTS)] == []
