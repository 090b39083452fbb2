"""What is done now and then with the log of calls and the sums of the ledger."""

import asyncio
from datetime import timedelta

import pytest

from webdata.accounts.access import upkeep as upkeep_module
from webdata.accounts.access.upkeep import STEP_ANSWERS, STEP_CALLS, STEP_MOVEMENTS, Upkeep
from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.runtime.process import repeat
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

pytestmark = pytest.mark.task


class Rows:
    """Rows that are removed, or added up, in steps; errors come first."""

    def __init__(self, count, *errors):
        self.left = count
        self.errors = list(errors)
        self.steps = 0

    async def _step(self, most):
        self.steps += 1
        if self.errors:
            raise self.errors.pop()
        done = min(self.left, most)
        self.left -= done
        return done

    async def remove_old(self, _before, most):
        return await self._step(most)

    async def add_up(self, most):
        return await self._step(most)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name in ("HOURLY", "MINUTELY"):
        monkeypatch.setattr(upkeep_module, name, 0.01)
    monkeypatch.setattr(repeat, "STEP_PAUSE", 0.01)


async def ended(*rows):
    """Run the upkeep until no row is left."""
    async with asyncio.timeout(5), repeat.running(Upkeep(*rows, days=30).run()):
        while any(one.left for one in rows):  # noqa: ASYNC110  # nothing signals it
            await asyncio.sleep(0.01)


async def test_old_rows_are_removed_in_small_steps():
    """However many calls are old and movements new, one transaction has only some of them."""
    calls, movements, answers = Rows(2 * STEP_CALLS + 1), Rows(STEP_MOVEMENTS + 1), Rows(STEP_ANSWERS + 1)
    await ended(calls, movements, answers)
    assert calls.steps >= 3
    assert answers.steps >= 2
    assert movements.steps >= 2


@pytest.mark.parametrize("error", [DatabaseUnavailableError("gone"), RuntimeError("a fault")])
async def test_an_error_does_not_end_it(error):
    """After an error the next time succeeds."""
    calls, movements, answers = Rows(1, error), Rows(1, error), Rows(1, error)
    await ended(calls, movements, answers)
    assert calls.steps >= 2


async def test_abandoned_credits_are_released(stores, monkeypatch):
    """Credits of calls beyond any deadline are released while the service runs."""
    await stores.ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key_1")
    await upkeep_module.settle_old(stores.ledger)
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 999
    monkeypatch.setattr(upkeep_module, "LONGEST_CALL", timedelta(0))
    await upkeep_module.settle_old(stores.ledger)
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000


async def test_a_start_without_the_database_fails(stores, monkeypatch):
    """A database that does not answer is a ConfigError at the start."""

    async def away(*_):
        raise DatabaseUnavailableError("lock timeout")

    monkeypatch.setattr(stores.ledger, "settle", away)
    with pytest.raises(ConfigError, match=r"the database does not answer \(lock timeout\): start again when it does"):
        await upkeep_module.settle_at_first(stores.ledger)
