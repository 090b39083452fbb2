"""The rules of the ledger under random sequences of operations."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import select

from tests.memory_stores import MemoryAccounts, MemoryDatabase, MemoryLedger, sums
from webdata.domain.errors import OutOfCreditsError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.accounts.tables import MOVEMENTS
from webdata.stores.ledger.model import Movement
from webdata.stores.sql_stores import SqlStores

ACCOUNTS = st.sampled_from([DEFAULT_ACCOUNT, "acc_coffee"])
REQUESTS = st.integers(0, 12).map("req_{}".format)
OPERATIONS = ("commit", "release")


class LedgerMachine(RuleBasedStateMachine):
    """A ledger compared with a model: balances, reserved requests by account, and requests that have ended."""

    def __init__(self):
        super().__init__()
        self.runner = asyncio.Runner()
        self.accounts, self.ledger = self.open()
        self.run(self.accounts.add(Account("acc_coffee", "coffee", DEFAULT_PLAN, datetime.now(UTC))))
        self.balances = {DEFAULT_ACCOUNT: 1000, "acc_coffee": 0}
        self.reserved = {}
        self.prices = {}
        self.ended = set()
        self.take_back(998)

    def take_back(self, amount):
        self.run(self.ledger.credit(DEFAULT_ACCOUNT, -amount))
        self.balances[DEFAULT_ACCOUNT] -= amount

    def run(self, awaitable):
        return self.runner.run(awaitable)

    def refused(self, error, awaitable):
        with pytest.raises(error):
            self.run(awaitable)

    @rule(account=ACCOUNTS, amount=st.integers(-3, 3))
    def credit(self, account, amount):
        crediting = self.ledger.credit(account, amount)
        if self.balances[account] + amount < 0:
            self.refused(OutOfCreditsError, crediting)
        else:
            self.balances[account] += amount
            assert self.run(crediting) == self.balances[account]

    @rule(account=ACCOUNTS, request=REQUESTS)
    def reserve(self, account, request):
        reserving = self.ledger.reserve(account, request, "web_search", "key")
        if request in self.reserved or request in self.ended:
            self.refused((ValueError, OutOfCreditsError), reserving)
        elif self.balances[account] == 0:
            self.refused(OutOfCreditsError, reserving)
        else:
            self.balances[account] -= 1
            self.reserved[request] = account
            self.prices[request] = 1
            assert self.run(reserving) == self.balances[account]

    @rule(request=REQUESTS, amount=st.integers(1, 4))
    def reprice(self, request, amount):
        repricing = self.ledger.reprice(request, amount)
        if request not in self.reserved:
            self.refused(LookupError, repricing)
            return
        account, more = self.reserved[request], amount - self.prices[request]
        if self.balances[account] < more:
            self.refused(OutOfCreditsError, repricing)
            return
        self.balances[account] -= more
        self.prices[request] = amount
        assert self.run(repricing) == self.balances[account]

    @rule(request=REQUESTS, operation=st.sampled_from(OPERATIONS))
    def end(self, request, operation):
        ending = getattr(self.ledger, operation)(request, "ok")
        if request not in self.reserved:
            self.refused(LookupError, ending)
            return
        account = self.reserved.pop(request)
        self.ended.add(request)
        self.balances[account] += (operation == "release") * self.prices[request]
        assert self.run(ending) == self.balances[account]

    @rule(account=ACCOUNTS, request=REQUESTS)
    def note(self, account, request):
        before = len(self.movements())
        self.run(self.note_and_flush(account, request))
        repeated = request in self.reserved or request in self.ended
        assert len(self.movements()) == before + (not repeated)
        if request not in self.reserved:
            self.ended.add(request)

    async def note_and_flush(self, account, request):
        self.ledger.note(account, request, "web_search", "key", "ok")
        await self.ledger.flush()

    @rule(dead=st.booleans())
    def settle(self, dead):
        lost = self.reserved if dead else {}
        assert self.run(self.ledger.settle(lambda _: dead, datetime(2000, 1, 1, tzinfo=UTC))) == len(lost)
        if dead:
            for request, account in self.reserved.items():
                self.balances[account] += self.prices[request]
            self.ended |= set(self.reserved)
            self.reserved = {}

    @invariant()
    def balances_are_the_sums_of_movements(self):
        amounts = sums(self.movements())
        assert amounts.total() == 0
        for account, balance in self.balances.items():
            assert amounts[account, "balance"] == balance == self.run(self.ledger.balance(account)) >= 0
            prices = [self.prices[request] for request, owner in self.reserved.items() if owner == account]
            assert amounts[account, "reserved"] == sum(prices)

    def teardown(self):
        self.ledger.close()
        self.runner.close()


class MemoryMachine(LedgerMachine):
    """The ledger in memory."""

    def open(self):
        self.database = MemoryDatabase()
        return MemoryAccounts(self.database), MemoryLedger(self.database, "here:1:1")

    def movements(self):
        return self.database.movements


class SqlMachine(LedgerMachine):
    """The ledger in SQLite."""

    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.stores = SqlStores(f"sqlite:///{Path(self.folder.name)}/webdata.sqlite3")
        return self.stores.accounts, self.stores.ledger

    def movements(self):
        with self.stores._database.reads.connect() as connection:
            rows = [row._asdict() for row in connection.execute(select(MOVEMENTS))]
        return [Movement(**{name: value for name, value in row.items() if name != "id"}) for row in rows]

    def teardown(self):
        super().teardown()
        self.stores.close()
        self.folder.cleanup()


@pytest.mark.parametrize(("machine", "examples"), [(MemoryMachine, 60), (SqlMachine, 8)])
def test_balances_match_the_movements(machine, examples):
    """Each balance is the sum of its movements and never negative, and all movements add up to zero."""
    options = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    with ThreadPoolExecutor(1) as thread:  # a thread without a running event loop
        thread.submit(run_state_machine_as_test, machine, settings=options).result()
