"""Schedules of batches in an SQL database. A schedule of another account does not exist."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, literal, select, update

from webdata.stores.accounts.locks import lock_account
from webdata.stores.accounts.tables import KEYS
from webdata.stores.batches.model import Schedule, ScheduleRun
from webdata.stores.batches.quotas import stored
from webdata.stores.batches.tables import SCHEDULE_RUNS, SCHEDULES
from webdata.stores.database.store import Store, reading, writing

LISTED = [literal("").label("batch") if column.name == "batch" else column for column in SCHEDULES.c]
"""The columns of a schedule without its queries."""
NOT_ENDED = SCHEDULE_RUNS.c.batch_id.is_(None) & SCHEDULE_RUNS.c.error.is_(None)


class ScheduleStore(Store):
    """The schedules of accounts, and their runs, in the tables `schedules` and `schedule_runs`."""

    @writing()
    def add(self, connection: Connection, schedule: Schedule, most: int) -> bool:
        """Add a schedule; returns False where the account has `most` already."""
        lock_account(connection, schedule.account_id)  # one at a time counts
        if stored(connection, schedule.account_id, schedule.test).schedules >= most:
            return False
        connection.execute(
            insert(SCHEDULES),
            {**vars(schedule), "batch": schedule.batch.decode(), "parameters": schedule.parameters.decode()},
        )
        return True

    async def find(self, account_id: str, schedule_id: str) -> Schedule | None:
        """The schedule with this id."""
        query = select(SCHEDULES).where(SCHEDULES.c.id == schedule_id, SCHEDULES.c.account_id == account_id)
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else _schedule(row)

    async def all(self, account_id: str) -> list[Schedule]:
        """The schedules of an account, oldest first."""
        query = select(*LISTED).where(SCHEDULES.c.account_id == account_id).order_by(SCHEDULES.c.id)
        return await self._database.read_apart(lambda connection: [_schedule(row) for row in connection.execute(query)])

    async def remove(self, account_id: str, schedule_id: str) -> bool:
        """Remove a schedule with its runs, not their batches; returns whether it existed."""
        removal = delete(SCHEDULES).where(SCHEDULES.c.id == schedule_id, SCHEDULES.c.account_id == account_id)
        return await self._database.write(lambda connection: connection.execute(removal).rowcount > 0)

    async def runs(self, schedule_id: str, limit: int, before: datetime | None = None) -> list[ScheduleRun]:
        """The runs of a schedule, the last first; those before a time."""
        query = select(SCHEDULE_RUNS).where(SCHEDULE_RUNS.c.schedule_id == schedule_id)
        if before:
            query = query.where(SCHEDULE_RUNS.c.time < before)
        query = query.order_by(SCHEDULE_RUNS.c.time.desc()).limit(limit)
        return await self._database.read(lambda connection: [ScheduleRun(*row) for row in connection.execute(query)])

    async def due(self, now: datetime, most: int) -> Sequence[Schedule]:
        """Schedules whose next run is due."""
        query = select(*LISTED).where(SCHEDULES.c.next_run <= now).order_by(SCHEDULES.c.next_run).limit(most)
        return await self._database.read_apart(lambda connection: [_schedule(row) for row in connection.execute(query)])

    @writing()
    def begin_run(self, connection: Connection, run: ScheduleRun, following: datetime | None) -> bool:
        """Add a run and set the next one; returns False, and changes nothing, where another process has done so."""
        change = update(SCHEDULES).where(SCHEDULES.c.id == run.schedule_id, SCHEDULES.c.next_run <= run.time)
        if not connection.execute(change.values(next_run=following)).rowcount:
            return False
        connection.execute(insert(SCHEDULE_RUNS), vars(run))
        return True

    async def begun(self, most: int) -> Sequence[tuple[Schedule, ScheduleRun]]:
        """Runs that have not ended, the first first."""
        joined = SCHEDULE_RUNS.join(SCHEDULES, SCHEDULE_RUNS.c.schedule_id == SCHEDULES.c.id)
        query = select(*SCHEDULES.c, *SCHEDULE_RUNS.c).select_from(joined).where(NOT_ENDED)
        query = query.order_by(SCHEDULE_RUNS.c.time).limit(most)
        split = len(SCHEDULES.c)
        return await self._database.read_apart(
            lambda connection: [(_schedule(row), ScheduleRun(*row[split:])) for row in connection.execute(query)]
        )

    async def end_run(self, run: ScheduleRun) -> None:
        """Store how a run ended."""
        change = update(SCHEDULE_RUNS).where(
            SCHEDULE_RUNS.c.schedule_id == run.schedule_id, SCHEDULE_RUNS.c.time == run.time, NOT_ENDED
        )
        values = {"batch_id": run.batch_id, "error": run.error}
        await self._database.write(lambda connection: connection.execute(change.values(**values)))

    @reading
    def usable(self, connection: Connection, schedule: Schedule, now: datetime) -> bool:
        """Whether neither its key nor a successor of that is revoked, and the last of them opens something still."""
        key = select(KEYS.c.id, KEYS.c.replaced_by, KEYS.c.revoked, KEYS.c.expires).where(KEYS.c.id == schedule.key_id)
        line = key.cte("line", recursive=True)
        following = select(KEYS.c.id, KEYS.c.replaced_by, KEYS.c.revoked, KEYS.c.expires)
        line = line.union(following.join(line, KEYS.c.id == line.c.replaced_by))
        keys = connection.execute(select(line)).all()
        last = [key for key in keys if key.replaced_by is None]
        opens = any(key.expires is None or key.expires > now for key in last)
        return opens and all(key.revoked is None for key in keys)

    async def remove_old_runs(self, before: datetime, most: int) -> int:
        """Remove at most `most` runs from before a time; returns how many."""
        old = select(SCHEDULE_RUNS.c.schedule_id, SCHEDULE_RUNS.c.time).where(SCHEDULE_RUNS.c.time < before)
        return await self._database.write(
            lambda connection: _remove_runs(connection, connection.execute(old.limit(most)).all()), durable=False
        )


def _remove_runs(connection: Connection, rows: Sequence[Any]) -> int:
    for schedule_id, time in rows:
        connection.execute(
            delete(SCHEDULE_RUNS).where(SCHEDULE_RUNS.c.schedule_id == schedule_id, SCHEDULE_RUNS.c.time == time)
        )
    return len(rows)


def _schedule(row: Row[Any]) -> Schedule:
    values = {column.name: row[index] for index, column in enumerate(SCHEDULES.c)}
    return Schedule(**{**values, "batch": values["batch"].encode(), "parameters": values["parameters"].encode()})
