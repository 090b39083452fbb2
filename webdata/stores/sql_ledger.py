"""The ledger in an SQL database."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, text

from webdata.stores.books import Operation, Reservation
from webdata.stores.database import Database
from webdata.stores.grouped import GroupedWriter
from webdata.stores.interfaces import GroupBy, Usage
from webdata.stores.ledger import BookLedger
from webdata.stores.sql_books import Results
from webdata.stores.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS

ALONE = text("LOCK TABLE reservations IN SHARE MODE")
BALANCE = select(ACCOUNTS.c.balance).where(ACCOUNTS.c.id == bindparam("account"))

GROUPS: dict[GroupBy, ColumnElement[Any]] = {
    "day": func.date(MOVEMENTS.c.time),
    "engine": MOVEMENTS.c.endpoint,
    "key": MOVEMENTS.c.key_id,
}


class SqlLedger(BookLedger):
    """A Ledger in an SQL database, by grouped commits: `write` does a group. `process` is who it writes for."""

    def __init__(self, database: Database, process: str, write: Callable[[list[Operation]], Results]) -> None:
        super().__init__(process)
        self._database = database
        self._writer: GroupedWriter[Operation, int] = GroupedWriter(write)

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
        return await self._database.write(_reserved)


def _reserved(on: Connection) -> list[Reservation]:
    """What is set aside, once all who write now have ended: one of them may have lost its owner."""
    if on.dialect.name == "postgresql":  # SQLite lets in one at a time anyway
        on.execute(ALONE)
    return [Reservation(**row._asdict()) for row in on.execute(select(RESERVATIONS))]


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
