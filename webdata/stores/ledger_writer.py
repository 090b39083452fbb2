"""The writer of the ledger in an SQL database: many operations in one transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Dialect

from webdata.domain.errors import OutOfCreditsError
from webdata.stores.database import Database, errors_as_away
from webdata.stores.ledger_state import Credit, End, Free, LedgerState, Movement, Operation, Reservation, Reserve
from webdata.stores.prepared import Prepared, among, cursor
from webdata.stores.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS

Results = Sequence[int | Exception]
"""One result for each operation, in their order: the new balance of its account, or the error it raised."""


class Statements:
    """The statements of each transaction.

    Rows are locked in a fixed order, so that concurrent transactions cannot deadlock.
    """

    def __init__(self, dialect: Dialect) -> None:
        reserved = select(RESERVATIONS).where(among(RESERVATIONS.c.request_id, "ids", dialect))
        balances = select(ACCOUNTS.c.id, ACCOUNTS.c.balance).where(among(ACCOUNTS.c.id, "ids", dialect))
        end = delete(RESERVATIONS).where(RESERVATIONS.c.request_id == bindparam("ended"))
        change = update(ACCOUNTS).where(ACCOUNTS.c.id == bindparam("account")).values(balance=bindparam("new_balance"))
        self.reserved = Prepared(reserved.order_by(RESERVATIONS.c.request_id).with_for_update(), dialect, "ids")
        self.balances = Prepared(balances.order_by(ACCOUNTS.c.id).with_for_update(key_share=True), dialect, "ids")
        self.add_movements = Prepared(insert(MOVEMENTS), dialect, *Movement._fields)
        self.add_reservations = Prepared(insert(RESERVATIONS), dialect, *Reservation._fields)
        self.end_reservations = Prepared(end, dialect, "ended")
        self.set_balances = Prepared(change, dialect, "new_balance", "account")


class LedgerWriter:
    """Writes operations to the tables of the ledger.

    `before_commit` is called in each transaction before the commit; the transaction is rolled back where it raises.
    """

    def __init__(self, database: Database, before_commit: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._before_commit = before_commit
        dialect = database.writes.dialect
        self._statements = Statements(dialect)
        self._integrity_error: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def write(self, operations: Sequence[Operation]) -> Results:
        """Write operations durably. After a DatabaseAwayError it is unknown whether they were written."""
        try:
            return self._transaction(operations)
        except self._integrity_error:  # one of them repeats a request; the others are written all the same
            return [self._alone(operation) for operation in operations]

    def _alone(self, operation: Operation) -> int | Exception:
        try:
            return self._transaction([operation])[0]
        except self._integrity_error:
            return ValueError("the request was there before")

    def _transaction(self, operations: Sequence[Operation]) -> Results:
        with errors_as_away(), self._database.writes.begin() as connection, cursor(connection) as on:
            state = self._load(on, operations)
            before = LedgerState(dict(state.balances), dict(state.reservations))
            results: list[int | Exception] = []
            movements = []
            for operation in operations:
                try:
                    movement = state.apply(operation)
                except (OutOfCreditsError, LookupError, ValueError) as refusal:
                    results.append(refusal)
                else:
                    movements.append(movement)
                    results.append(state.balances[movement.account_id])
            self._save(on, before, state, movements)
            self._before_commit()
        return results

    def _load(self, on: Any, operations: Iterable[Operation]) -> LedgerState:
        """The balances and reservations that the operations need, locked for the transaction."""
        ends = [operation.request_id for operation in operations if isinstance(operation, End)]
        rows = self._statements.reserved.all(on, ends) if ends else ()
        reservations = {row[0]: Reservation(*row) for row in rows}
        accounts = {one.account_id for one in reservations.values()} | set(_accounts(operations))
        balances = self._statements.balances.all(on, accounts) if accounts else ()
        return LedgerState(dict(balances), reservations)

    def _save(self, on: Any, before: LedgerState, after: LedgerState, movements: Sequence[Movement]) -> None:
        new = [one for request, one in after.reservations.items() if request not in before.reservations]
        ended = [(request,) for request in before.reservations if request not in after.reservations]
        changed = [(balance, one) for one, balance in after.balances.items() if balance != before.balances[one]]
        for statement, rows in (
            (self._statements.add_movements, movements),
            (self._statements.add_reservations, new),
            (self._statements.end_reservations, ended),
            (self._statements.set_balances, changed),
        ):
            if rows:
                statement.run_all(on, rows)


def _accounts(operations: Iterable[Operation]) -> Iterable[str]:
    for operation in operations:
        match operation:
            case Credit(account_id=account_id) | Free(account_id=account_id):
                yield account_id
            case Reserve(reservation):
                yield reservation.account_id
