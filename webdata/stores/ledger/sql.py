"""The ledger in an SQL database."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, text

from webdata.stores.accounts.tables import ACCOUNTS, MOVEMENTS, RESERVATIONS
from webdata.stores.database.database import Database
from webdata.stores.database.group_commit import GroupCommitter
from webdata.stores.ledger.ledger_state import Credit, End, Free, Operation, Reprice, Reservation, Reserve
from webdata.stores.ledger.ledger_writer import Results
from webdata.stores.ledger.model import GroupBy, Usage

LOCK = text("LOCK TABLE reservations IN SHARE MODE")
BALANCE = select(ACCOUNTS.c.balance).where(ACCOUNTS.c.id == bindparam("account"))

GROUPS: dict[GroupBy, ColumnElement[Any]] = {
    "day": func.date(MOVEMENTS.c.time),
    "engine": MOVEMENTS.c.endpoint,
    "key": MOVEMENTS.c.key_id,
}


class Ledger:
    """The credits of accounts, with every movement.

    Append-only double entry: each movement takes an amount from one bucket and adds it to another, so that all buckets
    add up to zero and a balance is the sum of its movements. Writes, except `note`, are durable when a method returns.
    Balances are never negative, also with several processes. `process` is the name of the process whose calls it
    records; `write` writes a group of operations.
    """

    def __init__(
        self, database: Database, process: str, write: Callable[[list[Operation]], Awaitable[Results]]
    ) -> None:
        self._process = process
        self._database = database
        self._committer: GroupCommitter[Operation, int] = GroupCommitter(write)

    @property
    def failure(self) -> Exception | None:
        """Why the last operations could not be written; None if they were."""
        return self._committer.failure

    async def credit(self, account_id: str, amount: int, note: str = "") -> int:
        """Give credits, or take them back where `amount` is negative; returns the new balance.

        Raises OutOfCreditsError where the balance is too small to take them back, LookupError for an unknown account.
        """
        return await self._write(Credit(datetime.now(UTC), account_id, amount, note))

    async def reserve(self, account_id: str, request_id: str, endpoint: str, key_id: str) -> int:
        """Reserve one credit for a call; returns the new balance.

        Raises OutOfCreditsError where there is none, ValueError for a request that was recorded before, LookupError for
        an unknown account. After any other error it is unknown whether the credit is reserved: release it.
        """
        now = datetime.now(UTC)
        return await self._write(Reserve(Reservation(request_id, account_id, key_id, endpoint, self._process, now)))

    async def reprice(self, request_id: str, amount: int) -> int:
        """Have so many credits reserved for a call, instead of those that are; returns the new balance.

        Raises OutOfCreditsError where the balance is too small, and reserves no more then; LookupError as `commit`.
        """
        return await self._write(Reprice(datetime.now(UTC), request_id, amount))

    async def commit(self, request_id: str, outcome: str) -> int:
        """Spend the reserved credits of a call; returns the balance.

        Raises LookupError where no credit is reserved: the call has ended before, or was settled.
        """
        return await self._write(End(datetime.now(UTC), request_id, "commit", outcome))

    async def release(self, request_id: str, outcome: str) -> int:
        """Return the reserved credits of a call to the balance; returns the new balance. Raises as `commit`."""
        return await self._write(End(datetime.now(UTC), request_id, "release", outcome))

    def note(
        self, account_id: str, request_id: str, endpoint: str, key_id: str, outcome: str, *, cached: bool = False
    ) -> None:
        """Queue the record of a call that costs nothing, such as one answered from the cache.

        It is durable some 20 ms later. A record that cannot be written, also of a request that was recorded before, is
        logged as an error and dropped; a process that is killed loses its queue.
        """
        self._post(Free(datetime.now(UTC), account_id, request_id, key_id, endpoint, outcome, cached))

    async def settle(self, dead: Callable[[str], bool], before: datetime) -> int:
        """Release the reservations of dead processes, and all that are older than `before`; returns how many.

        `dead` is called with names of processes (see `webdata.runtime.process.names`).
        """
        reservations = list(await self._reservations())
        died = {process for process in {one.process for one in reservations} if dead(process)}
        lost = [one for one in reservations if one.process in died or one.time < before]
        return sum(await asyncio.gather(*(self._release_lost(one.request_id) for one in lost)))

    async def balance(self, account_id: str) -> int:
        """Credits that can be spent; raises LookupError for an unknown account."""
        balance = await self._database.read(
            lambda connection: connection.execute(BALANCE, {"account": account_id}).scalar()
        )
        if balance is None:
            raise LookupError(f"there is no account {account_id}")
        return int(balance)

    async def usage(self, account_id: str, group_by: GroupBy, since: datetime, until: datetime) -> Sequence[Usage]:
        """What an account used from `since` to just before `until`, by group, without empty groups."""
        await self.flush()
        query = _usage(account_id, GROUPS[group_by], since, until)
        rows = await self._database.read_apart(lambda connection: connection.execute(query).all())
        return [Usage(str(group), *map(int, counts)) for group, *counts in rows]

    def close(self) -> None:
        """Take no more records; `flush` before, or queued ones are lost."""
        self._committer.close()

    async def flush(self) -> None:
        """Wait until the queued records are durable."""
        await self._committer.flush()

    async def _release_lost(self, request_id: str) -> bool:
        try:
            await self.release(request_id, "lost")
        except LookupError:  # the call ended meanwhile, or another process settles too
            return False
        return True

    async def _write(self, operation: Operation) -> int:
        return await self._committer.submit(operation)

    def _post(self, operation: Operation) -> None:
        self._committer.post(operation)

    async def _reservations(self) -> Iterable[Reservation]:
        return await self._database.write(_reserved)


def _reserved(connection: Connection) -> list[Reservation]:
    """The reservations after all running transactions have ended; the parent of one of them may have died."""
    if connection.dialect.name == "postgresql":  # in SQLite this transaction is the only one
        connection.execute(LOCK)
    return [Reservation(**row._asdict()) for row in connection.execute(select(RESERVATIONS))]


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
