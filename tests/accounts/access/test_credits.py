"""Credits when the ledger or the fetch fails."""

import asyncio
from contextlib import suppress

import pytest

from webdata.accounts.access.api_keys import new_key
from webdata.accounts.access.credits import Credits
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import DatabaseUnavailableError, OutOfCreditsError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

ANSWER = Answer({"results": [1]}, Outcome.OK, "http", {"fetch": 0.25})
pytestmark = pytest.mark.task


class FailingLedger:
    """Wraps a ledger, whose methods fail as often as `failures` has it, after their work or (not `done`) without it."""

    error = DatabaseUnavailableError("gone")

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
    """One payment, and its answer or error, after all refunds."""
    key, _ = new_key("for tests", test=False)
    await keys.add(key)
    credits = Credits(ledger)
    payment = credits.payment(await keys.find(key.digest), "req_1", "web_search")
    try:
        async with payment:
            answer = await fetch()
            payment.settle(answer.outcome)
    except (DatabaseUnavailableError, UpstreamError, RuntimeError) as error:
        return payment, error
    else:
        return payment, answer
    finally:
        while credits._refunds:
            await asyncio.wait(credits._refunds)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr("webdata.accounts.access.credits.RETRY_SECONDS", 0.001)


@pytest.mark.parametrize("done", [True, False])
async def test_a_reserve_without_a_result_is_refunded(ledger, keys, database, done):
    """After a failed reserve the call is refused, and a credit that was reserved is released as soon as possible."""
    failing = FailingLedger(ledger, reserve=1, release=2)
    failing.done = done
    failing.failures["release"] = 0 if done else 2
    _, end = await paid(failing, keys, answer)

    assert isinstance(end, DatabaseUnavailableError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


async def test_a_failed_commit_is_refunded(ledger, keys, database):
    """An answer whose credit cannot be committed is not returned, and the credit is released."""
    failing = FailingLedger(ledger, commit=1)
    failing.done = False
    payment, end = await paid(failing, keys, answer)

    assert (isinstance(end, DatabaseUnavailableError), payment.cost) == (True, 0)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


async def test_a_failed_release_is_repeated(ledger, keys, database):
    """A fetch's error is raised although its credit cannot be released yet; it is released later."""
    failing = FailingLedger(ledger, release=3)
    failing.done = False
    _, end = await paid(failing, keys, lost)

    assert isinstance(end, UpstreamError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


@pytest.mark.parametrize("failures", [{"reserve": 1}, {"commit": 1}, {"commit": 1, "release": 1}])
async def test_no_credit_stays_reserved_when_the_ledger_fails(ledger, keys, database, failures):
    """However the ledger fails, no credit stays reserved."""
    failing = FailingLedger(ledger, **failures)
    failing.done, failing.error = "reserve" in failures, RuntimeError("the disk image is malformed")
    _, end = await paid(failing, keys, answer)

    assert isinstance(end, RuntimeError)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})


@pytest.mark.parametrize("fetch", [answer, lost])
async def test_a_call_is_free_if_its_credit_was_released_meanwhile(ledger, keys, database, fetch):
    """A call whose credit was released before its end is free, and has its usual result."""

    async def settled_meanwhile():
        await ledger.release("req_1", "lost")
        return await fetch()

    payment, end = await paid(ledger, keys, settled_meanwhile)

    assert (end is ANSWER or isinstance(end, UpstreamError), payment.cost) == (True, 0)
    assert database.ledger_state.balances[DEFAULT_ACCOUNT] == 1000


async def test_closing_waits_for_open_payments(ledger, keys, database):
    """At the end of the service a call with a reserved credit may still end, and is committed."""
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


async def test_closing_does_not_wait_for_refunds(ledger):
    """Refunds that are due while the database is away are left to the next start."""
    credits = Credits(FailingLedger(ledger, release=1_000_000_000))
    credits.schedule_refund("req_1", "lost")
    await asyncio.sleep(0.01)
    await asyncio.wait_for(credits.close(5), 5)
    assert not credits._refunds


@pytest.mark.parametrize(("fetch", "cost"), [(answer, 5), (lost, 0)])
async def test_a_call_costs_what_its_engine_does(ledger, keys, database, fetch, cost):
    """The price is reserved before the engine is asked; a cheaper one that is asked after it gives the rest back."""
    key, _ = new_key("for tests", test=False)
    await keys.add(key)
    credits = Credits(ledger)
    payment = credits.payment(await keys.find(key.digest), "req_1", "web_search")
    with suppress(UpstreamError):
        async with payment:
            for price in (9, 5):
                await payment.reprice(price)
                assert database.ledger_state.balances[DEFAULT_ACCOUNT] == 1000 - price
            payment.settle((await fetch()).outcome)
    assert (payment.cost, payment.balance) == (cost, 1000 - cost)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000 - cost, {})


async def test_a_price_that_an_account_cannot_pay_is_refused(ledger, keys, database):
    """Nothing more is reserved, and what was is released."""
    key, _ = new_key("for tests", test=False)
    await keys.add(key)
    payment = Credits(ledger).payment(await keys.find(key.digest), "req_1", "web_search")
    with pytest.raises(OutOfCreditsError):
        async with payment:
            await payment.reprice(1001)
    assert (database.ledger_state.balances[DEFAULT_ACCOUNT], database.ledger_state.reservations) == (1000, {})
