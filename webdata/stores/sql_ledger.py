"""The ledger in an SQL database."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, text

from webdata.stores.database import Database
from webdata.stores.group_commit import GroupCommitter
from webdata.stores.interfaces import GroupBy, Usage
from webdata.stores.ledger import BaseLedger
from webdata.stores.ledger_state import Operation, Reservation
from webdata.stores.ledger_writer import Results
from webdata.stores.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS

LOCK = text("LOCK TABLE reservations IN SHARE MODE")
BALANCE = select(ACCOUNTS.c.balance).where(ACCOUNTS.c.id == bindparam("account"))

GROUPS: dict[GroupBy, ColumnElement[Any]] = {
    "day": func.date(MOVEMENTS.c.time),
    "engine": MOVEMENTS.c.endpoint,
    "key": MOVEMENTS.c.key_id,
}


class SqlLedger(BaseLedger):
    """A Ledger in an SQL database with group commit. `process` is as in BaseLedger; `write` writes a group."""

    def __init__(
        self, database: Database, process: str, write: Callable[[list[Operation]], Awaitable[Results]]
    ) -> None:
        super().__init__(process)
        self._database = database
        self._committer: GroupCommitter[Operation, int] = GroupCommitter(write)

    @property
    def failure(self) -> Exception | None:
        """Why the last operations could not be written; None if they were."""
        return self._committer.failure

    async def balance(self, account_id: str) -> int:
        balance = await self._database.read(lambda on: on.execute(BALANCE, {"account": account_id}).scalar())
        if balance is None:
            raise LookupError(f"there is no account {account_id}")
        return int(balance)

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        await self.flush()
        query = _usage(account_id, GROUPS[group_by], since, until)
        rows = await self._database.read(lambda on: on.execute(query).all())
        return [Usage(str(group), *map(int, counts)) for group, *counts in rows]

    def close(self) -> None:
        self._committer.close()

    async def flush(self) -> None:
        await self._committer.flush()

    async def _write(self, operation: Operation) -> int:
        return await self._committer.submit(operation)

    def _post(self, operation: Operation) -> None:
        self._committer.post(operation)

    async def _reservations(self) -> Iterable[Reservation]:
        return await self._database.write(_reserved)


def _reserved(on: Connection) -> list[Reservation]:
    """The reservations after all running transactions have ended; the parent of one of them may have died."""
    if on.dialect.name == "postgresql":  # in SQLite this transaction is the only one
        on.execute(LOCK)
    return [Reservation(**row._asdict()) for row in on.execute(select(RESERVATIONS))]


def _usage(account_id: str, group: ColumnElement[Any], since: datetime, until: datetime) -> Select[Any]:
    row = MOVEMENTS.c
    return (
        select(
            group,
            func.count(),
            func.sum(row.amount * _one_if(row.kind.in_(["commit", "charge"]))),
            func.sum(_one_if(row.cached)),
            func.sum(_one_if(row.kind == "release")),
        )
        .where(row.account_id == account_id, row.time >= since, row.time < until)
        .where(row.kind.in_(["commit", "release", "charge", "free"]))
        .group_by(group)
        .order_by(group)
    )


def _one_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
