"""The writer of the ledger in an SQL database: many operations in one transaction."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.dml import UpdateBase

from webdata.domain.errors import OutOfCreditsError
from webdata.stores.accounts.tables import ACCOUNTS, MOVEMENTS, PLANS, RESERVATIONS
from webdata.stores.database.database import Database
from webdata.stores.database.prepared import Prepared, among, cursor, each
from webdata.stores.ledger.credits_notice import CreditsNotice, add_notices
from webdata.stores.ledger.ledger_state import (
    Charge,
    Credit,
    End,
    Free,
    LedgerState,
    Operation,
    Reprice,
    Reservation,
    Reserve,
)
from webdata.stores.ledger.model import Movement

Results = Sequence[int | Exception]
"""One result for each operation, in their order: the new balance of its account, or the error it raised."""


class Statements:
    """The statements of each transaction: one for each table and kind of change, however many rows it changes.

    A thread that executes a statement for each row competes with the event loop for the interpreter at each of them.
    Rows are locked in a fixed order, so that concurrent transactions cannot deadlock.
    """

    def __init__(self, dialect: Dialect) -> None:
        reserved = select(RESERVATIONS).where(among(RESERVATIONS.c.request_id, dialect))
        balances = select(ACCOUNTS.c.id, ACCOUNTS.c.balance, ACCOUNTS.c.credits_notice, PLANS.c.low_credits)
        balances = balances.join_from(ACCOUNTS, PLANS, ACCOUNTS.c.plan == PLANS.c.name)
        balances = balances.where(among(ACCOUNTS.c.id, dialect)).order_by(ACCOUNTS.c.id)
        end = delete(RESERVATIONS).where(among(RESERVATIONS.c.request_id, dialect))
        account, balance = each([ACCOUNTS.c.id, ACCOUNTS.c.balance], dialect)
        request, amount = each([RESERVATIONS.c.request_id, RESERVATIONS.c.amount], dialect)
        self.reserved = Prepared(reserved.order_by(RESERVATIONS.c.request_id).with_for_update(), dialect, "ids")
        self.balances = Prepared(balances.with_for_update(key_share=True, of=ACCOUNTS), dialect, "ids")
        self.add_movements = Prepared(_insert_rows(MOVEMENTS, Movement._fields, dialect), dialect, "rows")
        self.add_reservations = Prepared(_insert_rows(RESERVATIONS, Reservation._fields, dialect), dialect, "rows")
        self.end_reservations = Prepared(end, dialect, "ids")
        self.set_balances = Prepared(
            update(ACCOUNTS).where(ACCOUNTS.c.id == account).values(balance=balance), dialect, "rows"
        )
        self.set_amounts = Prepared(
            update(RESERVATIONS).where(RESERVATIONS.c.request_id == request).values(amount=amount), dialect, "rows"
        )


def _insert_rows(table: Table, names: Sequence[str], dialect: Dialect) -> UpdateBase:
    columns = [table.c[name] for name in names]
    return insert(table).from_select(columns, select(*each(columns, dialect)))


class LedgerWriter:
    """Writes operations to the tables of the ledger.

    `before_commit` is called in each transaction before the commit; the transaction is rolled back where it raises.
    """

    def __init__(self, database: Database, before_commit: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._before_commit = before_commit
        self._dialect = database.writes.dialect
        self._integrity_error: type[Exception] = self._dialect.loaded_dbapi.IntegrityError

    @cached_property
    def _statements(self) -> Statements:
        """They are compiled at the first write: most programs that open the stores write nothing."""
        return Statements(self._dialect)

    def write(self, operations: Sequence[Operation]) -> Results:
        """Write operations. After a DatabaseUnavailableError it is unknown whether they were written.

        Commits and credits are durable. Without them, a crash of the machine may undo a group: it ends the calls, too.
        """
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
        durable = any(
            isinstance(one, Credit | Charge) or (isinstance(one, End) and one.kind == "commit") for one in operations
        )
        engine = self._database.writes if durable else self._database.unsynced_writes
        return self._database.run(engine.begin, partial(self._write_and_check, operations))

    def _write_and_check(self, operations: Sequence[Operation], connection: Connection) -> Results:
        results = self.write_within(connection, operations)
        self._before_commit()
        return results

    def write_within(self, connection: Connection, operations: Sequence[Operation]) -> Results:
        """Write operations in a transaction that the caller has begun. Raises IntegrityError for a repeated request."""
        with cursor(connection) as driver_cursor:
            state, notices = self._load(driver_cursor, operations)
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
                    if movement.source == "issued":
                        notices[movement.account_id].refill(state.balances[movement.account_id])
            self._save(driver_cursor, before, state, movements)
            add_notices(connection, notices, state.balances, datetime.now(UTC))
        return results

    def _load(
        self, driver_cursor: Any, operations: Iterable[Operation]
    ) -> tuple[LedgerState, dict[str, CreditsNotice]]:
        """The balances and reservations that the operations need, locked for the transaction."""
        ends = [operation.request_id for operation in operations if isinstance(operation, End | Reprice)]
        rows = self._statements.reserved.all(driver_cursor, ends) if ends else ()
        reservations = {row[0]: Reservation(*row) for row in rows}
        accounts = {one.account_id for one in reservations.values()} | set(_accounts(operations))
        balances = self._statements.balances.all(driver_cursor, accounts) if accounts else ()
        notices = {one.id: CreditsNotice(one.low_credits, one.credits_notice) for one in balances}
        return LedgerState({one.id: one.balance for one in balances}, reservations), notices

    def _save(self, driver_cursor: Any, before: LedgerState, after: LedgerState, movements: Sequence[Movement]) -> None:
        new = [one for request, one in after.reservations.items() if request not in before.reservations]
        ended = [request for request in before.reservations if request not in after.reservations]
        repriced = [
            (request, one.amount)
            for request, one in after.reservations.items()
            if request in before.reservations and one != before.reservations[request]
        ]
        changed = [(one, balance) for one, balance in after.balances.items() if balance != before.balances[one]]
        for statement, rows in (
            (self._statements.add_movements, movements),
            (self._statements.add_reservations, new),
            (self._statements.set_amounts, repriced),
            (self._statements.end_reservations, ended),
            (self._statements.set_balances, changed),
        ):
            if rows:
                statement.run(driver_cursor, rows)


def _accounts(operations: Iterable[Operation]) -> Iterable[str]:
    for operation in operations:
        match operation:
            case Credit(account_id=account_id) | Charge(account_id=account_id) | Free(account_id=account_id):
                yield account_id
            case Reserve(reservation):
                yield reservation.account_id
