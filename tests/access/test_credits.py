"""What becomes of a credit when the ledger or the fetch fails."""

import asyncio

import pytest

from webdata.access.api_keys import new_key
from webdata.access.credits import Credits
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import DatabaseAwayError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.stores.interfaces import DEFAULT_ACCOUNT

ANSWER = Answer({"results": [1]}, Outcome.OK, "http", {"fetch": 0.25})
pytestmark = pytest.mark.task


class FailingLedger:
    """Another ledger, whose methods fail as often as they are told to; what they do is done before, or is not."""

    error = DatabaseAwayError("gone")

    def __init__(self, ledger, **failures):
        self.ledger = ledger
        self.failures = failures
        self.done = True

    def __getattr__(self, name):
        async def call(*args, **kwargs):
            if self.failures.get(name, 0) == 0:
                return await getattr(self.ledger, name)(*args, **kwargs)
            self.failures[name] -= 1
            if self.done:
                await getattr(self.ledger, name)(*args, **kwargs)
            raise self.error

        return call


async def answer():
    return ANSWER


async def lost():
    raise UpstreamError("a reset", "reset")


async def paid(ledger, keys, fetch):
    """One payment, and how it ended, after all refunds."""
    key, _ = new_key("for tests", test=False)
    await keys.add(key)
    credits = Credits(ledger)
    payment = credits.payment(await keys.find(key.digest), "req_1", "web_search")
    try:
        async with payment:
            answer = await fetch()
            payment.settle(answer.outcome)
    except (DatabaseAwayError, UpstreamError, RuntimeError) as error:
        return payment, error
    else:
        return payment, answer
    finally:
        while credits._refunds:
            await asyncio.wait(credits._refunds)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr("webdata.access.credits.RETRY_SECONDS", 0.001)


@pytest.mark.parametrize("done", [True, False])
async def test_a_reserve_that_is_not_known(ledger, keys, database, done):
    """A credit that may be set aside or not is given back as soon as the database answers; the call is refused."""
    failing = FailingLedger(ledger, reserve=1, release=2)
    failing.done = done
    failing.failures["release"] = 0 if done else 2
    _, end = await paid(failing, keys, answer)

    assert isinstance(end, DatabaseAwayError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


async def test_a_commit_that_was_not_done(ledger, keys, database):
    """An answer whose credit cannot be spent is not given, and the credit is back afterwards."""
    failing = FailingLedger(ledger, commit=1)
    failing.done = False
    payment, end = await paid(failing, keys, answer)

    assert (isinstance(end, DatabaseAwayError), payment.cost) == (True, 0)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


async def test_a_release_that_was_not_done(ledger, keys, database):
    """Why a page was lost is told though its credit cannot be given back yet; it is, later."""
    failing = FailingLedger(ledger, release=3)
    failing.done = False
    _, end = await paid(failing, keys, lost)

    assert isinstance(end, UpstreamError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


@pytest.mark.parametrize("failures", [{"reserve": 1}, {"commit": 1}, {"commit": 1, "release": 1}])
async def test_a_ledger_that_breaks(ledger, keys, database, failures):
    """However the ledger fails, nothing stays set aside."""
    failing = FailingLedger(ledger, **failures)
    failing.done, failing.error = "reserve" in failures, RuntimeError("the disk image is malformed")
    _, end = await paid(failing, keys, answer)

    assert isinstance(end, RuntimeError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


@pytest.mark.parametrize("fetch", [answer, lost])
async def test_a_credit_that_was_settled_meanwhile(ledger, keys, database, fetch):
    """A call whose credit was given back before it ended costs nothing, and ends as it would have."""

    async def settled_meanwhile():
        await ledger.release("req_1", "lost")
        return await fetch()

    payment, end = await paid(ledger, keys, settled_meanwhile)

    assert (end is ANSWER or isinstance(end, UpstreamError), payment.cost) == (True, 0)
    assert database.ledger_state.balances[DEFAULT_ACCOUNT] == 1000


async def test_the_end_waits_for_open_payments(ledger, keys, database):
    """At the end of the service a call that is paid for may still end, and is committed."""
    gate, begun = asyncio.Event(), asyncio.Event()

    async def slow():
        begun.set()
        await gate.wait()
        return ANSWER

    key, _ = new_key("for tests", test=False)
    await keys.add(key)
    credits = Credits(ledger)

    async def call():
        async with credits.payment(await keys.find(key.digest), "req_1", "web_search") as payment:
            payment.settle((await slow()).outcome)

    running = asyncio.ensure_future(call())
    await begun.wait()
    assert len(database.ledger_state.reservations) == 1
    closing = asyncio.ensure_future(credits.close(5))
    await asyncio.sleep(0)
    assert not closing.done()
    gate.set()
    await asyncio.gather(closing, running)

    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (999, {})


async def test_refunds_are_left_at_the_end(ledger):
    """The end does not wait for a database that is away."""
    credits = Credits(FailingLedger(ledger, release=1_000_000_000))
    credits.schedule_refund("req_1", "lost")
    await asyncio.sleep(0.01)
    await asyncio.wait_for(credits.close(5), 5)
    assert not credits._refunds
