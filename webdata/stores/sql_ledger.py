"""The ledger in an SQL database."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, case, delete, func, insert, select, update
from sqlalchemy.engine import Dialect

from webdata.errors import OutOfCreditsError
from webdata.stores.books import Books, Credit, End, Free, Movement, Operation, Reservation, Reserve
from webdata.stores.database import Database, reached
from webdata.stores.grouped import GroupedWriter
from webdata.stores.interfaces import GroupBy, Usage
from webdata.stores.ledger import BookLedger
from webdata.stores.prepared import Prepared, among, cursor
from webdata.stores.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS

BALANCE = select(ACCOUNTS.c.balance).where(ACCOUNTS.c.id == bindparam("account"))

GROUPS: dict[GroupBy, ColumnElement[Any]] = {
    "day": func.date(MOVEMENTS.c.time),
    "engine": MOVEMENTS.c.endpoint,
    "key": MOVEMENTS.c.key_id,
}


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


class SqlLedger(BookLedger):
    """A Ledger in an SQL database, by grouped commits. `process` is who it writes for."""

    def __init__(self, database: Database, process: str) -> None:
        super().__init__(process)
        self._database = database
        dialect = database.writes.dialect
        self._statements = Statements(dialect)
        self._repeated: type[Exception] = dialect.loaded_dbapi.IntegrityError
        self._writer: GroupedWriter[Operation, int] = GroupedWriter(self._write)

    async def balance(self, account_id: str) -> int:
        found = await self._database.read(lambda on: on.execute(BALANCE, {"account": account_id}).scalar())
        if found is None:
            raise LookupError(f"there is no account {account_id}")
        return int(found)

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        await self.flush()
        query = _usage(account_id, GROUPS[group_by], since, until)
        rows = await self._database.read(lambda on: on.execute(query).all())
        return [Usage(str(group), *map(int, counts)) for group, *counts in rows]

    def close(self) -> None:
        self._writer.close()

    async def flush(self) -> None:
        await self._writer.flush()

    async def _do(self, operation: Operation) -> int:
        return await self._writer.submit(operation)

    def _post(self, operation: Operation) -> None:
        self._writer.post(operation)

    async def _reservations(self) -> Iterable[Reservation]:
        return await self._database.read(lambda on: [_reservation(row) for row in on.execute(select(RESERVATIONS))])

    def _write(self, operations: list[Operation]) -> Sequence[int | Exception]:
        try:
            return self._transaction(operations)
        except self._repeated:  # one of them repeats a request; the others must not suffer
            return [self._alone(operation) for operation in operations]

    def _alone(self, operation: Operation) -> int | Exception:
        try:
            return self._transaction([operation])[0]
        except self._repeated:
            return ValueError("the request was there before")

    def _transaction(self, operations: list[Operation]) -> Sequence[int | Exception]:
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


def _reservation(row: Any) -> Reservation:
    return Reservation(**row._asdict())


def _usage(account_id: str, group: ColumnElement[Any], since: datetime, until: datetime) -> Select[Any]:
    row = MOVEMENTS.c
    return (
        select(
            group,
            func.count(),
            func.sum(row.amount * _one_if(row.kind == "commit")),
            func.sum(_one_if(row.cached)),
            func.sum(_one_if(row.kind == "release")),
        )
        .where(row.account_id == account_id, row.time >= since, row.time < until)
        .where(row.kind.in_(["commit", "release", "free"]))
        .group_by(group)
        .order_by(group)
    )


def _one_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
