"""The books in an SQL database: many operations in one transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.engine import Dialect

from webdata.domain.errors import OutOfCreditsError
from webdata.stores.books import Books, Credit, End, Free, Movement, Operation, Reservation, Reserve
from webdata.stores.database import Database, reached
from webdata.stores.prepared import Prepared, among, cursor
from webdata.stores.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS

Results = Sequence[int | Exception]
"""What became of operations, in their order: the balance of the account after it, or what the books have raised."""


class Statements:
    """What each group of operations runs.

    Rows are locked in one order, so that processes wait for each other and never in a circle.
    """

    def __init__(self, dialect: Dialect) -> None:
        reserved = select(RESERVATIONS).where(among(RESERVATIONS.c.request_id, "ids", dialect))
        balances = select(ACCOUNTS.c.id, ACCOUNTS.c.balance).where(among(ACCOUNTS.c.id, "ids", dialect))
        ended = delete(RESERVATIONS).where(RESERVATIONS.c.request_id == bindparam("ended"))
        left = update(ACCOUNTS).where(ACCOUNTS.c.id == bindparam("account")).values(balance=bindparam("left"))
        self.reserved = Prepared(reserved.order_by(RESERVATIONS.c.request_id).with_for_update(), dialect, "ids")
        self.balances = Prepared(balances.order_by(ACCOUNTS.c.id).with_for_update(key_share=True), dialect, "ids")
        self.add_movements = Prepared(insert(MOVEMENTS), dialect, *Movement._fields)
        self.add_reservations = Prepared(insert(RESERVATIONS), dialect, *Reservation._fields)
        self.end_reservations = Prepared(ended, dialect, "ended")
        self.set_balances = Prepared(left, dialect, "left", "account")


class SqlBooks:
    """The books of a database.

    `before_commit` is called in each transaction when all is done but the commit; nothing is done where it raises.
    """

    def __init__(self, database: Database, before_commit: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._before_commit = before_commit
        dialect = database.writes.dialect
        self._statements = Statements(dialect)
        self._repeated: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def write(self, operations: Sequence[Operation]) -> Results:
        """Do them, durably. Raises DatabaseAwayError; whether they are done is not known then."""
        try:
            return self._transaction(operations)
        except self._repeated:  # one of them repeats a request; the others must not suffer
            return [self._alone(operation) for operation in operations]

    def _alone(self, operation: Operation) -> int | Exception:
        try:
            return self._transaction([operation])[0]
        except self._repeated:
            return ValueError("the request was there before")

    def _transaction(self, operations: Sequence[Operation]) -> Results:
        with reached(), self._database.writes.begin() as connection, cursor(connection) as on:
            books = self._load(on, operations)
            before = Books(dict(books.balances), dict(books.reservations))
            results: list[int | Exception] = []
            movements = []
            for operation in operations:
                try:
                    movement = books.apply(operation)
                except (OutOfCreditsError, LookupError, ValueError) as refusal:
                    results.append(refusal)
                else:
                    movements.append(movement)
                    results.append(books.balances[movement.account_id])
            self._save(on, before, books, movements)
            self._before_commit()
        return results

    def _load(self, on: Any, operations: Iterable[Operation]) -> Books:
        """What the operations need to know of the books, locked for the transaction."""
        ends = [operation.request_id for operation in operations if isinstance(operation, End)]
        rows = self._statements.reserved.all(on, ends) if ends else ()
        reservations = {row[0]: Reservation(*row) for row in rows}
        accounts = {one.account_id for one in reservations.values()} | set(_accounts(operations))
        balances = self._statements.balances.all(on, accounts) if accounts else ()
        return Books(dict(balances), reservations)

    def _save(self, on: Any, before: Books, after: Books, movements: Sequence[Movement]) -> None:
        new = [one for request, one in after.reservations.items() if request not in before.reservations]
        ended = [(request,) for request in before.reservations if request not in after.reservations]
        changed = [(left, account) for account, left in after.balances.items() if left != before.balances[account]]
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
