"""Schedules of batches in an SQL database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from webdata.stores.database import Database
from webdata.stores.interfaces_schedules import Schedule, ScheduleRun
from webdata.stores.tables import ACCOUNTS, KEYS
from webdata.stores.tables_batches import SCHEDULE_RUNS, SCHEDULES

NOT_ENDED = SCHEDULE_RUNS.c.batch_id.is_(None) & SCHEDULE_RUNS.c.error.is_(None)


class SqlSchedules:
    """A ScheduleStore in the tables `schedules` and `schedule_runs`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, schedule: Schedule, most: int) -> bool:
        return await self._database.write(lambda on: _add(on, schedule, most))

    async def find(self, account_id: str, schedule_id: str) -> Schedule | None:
        query = select(SCHEDULES).where(SCHEDULES.c.id == schedule_id, SCHEDULES.c.account_id == account_id)
        row = await self._database.read(lambda on: on.execute(query).first())
        return None if row is None else _schedule(row)

    async def all(self, account_id: str) -> list[Schedule]:
        query = select(SCHEDULES).where(SCHEDULES.c.account_id == account_id).order_by(SCHEDULES.c.id)
        return await self._database.read(lambda on: [_schedule(row) for row in on.execute(query)])

    async def remove(self, account_id: str, schedule_id: str) -> bool:
        removal = delete(SCHEDULES).where(SCHEDULES.c.id == schedule_id, SCHEDULES.c.account_id == account_id)
        return await self._database.write(lambda on: on.execute(removal).rowcount > 0)

    async def runs(self, schedule_id: str, limit: int, before: datetime | None = None) -> list[ScheduleRun]:
        query = select(SCHEDULE_RUNS).where(SCHEDULE_RUNS.c.schedule_id == schedule_id)
        if before:
            query = query.where(SCHEDULE_RUNS.c.time < before)
        query = query.order_by(SCHEDULE_RUNS.c.time.desc()).limit(limit)
        return await self._database.read(lambda on: [ScheduleRun(*row) for row in on.execute(query)])

    async def due(self, now: datetime, most: int) -> Sequence[Schedule]:
        query = select(SCHEDULES).where(SCHEDULES.c.next_run <= now).order_by(SCHEDULES.c.next_run).limit(most)
        return await self._database.read(lambda on: [_schedule(row) for row in on.execute(query)])

    async def begin_run(self, run: ScheduleRun, following: datetime | None) -> bool:
        return await self._database.write(lambda on: _begin_run(on, run, following))

    async def begun(self, most: int) -> Sequence[tuple[Schedule, ScheduleRun]]:
        joined = SCHEDULE_RUNS.join(SCHEDULES, SCHEDULE_RUNS.c.schedule_id == SCHEDULES.c.id)
        query = select(*SCHEDULES.c, *SCHEDULE_RUNS.c).select_from(joined).where(NOT_ENDED)
        query = query.order_by(SCHEDULE_RUNS.c.time).limit(most)
        split = len(SCHEDULES.c)
        return await self._database.read(
            lambda on: [(_schedule(row), ScheduleRun(*row[split:])) for row in on.execute(query)]
        )

    async def end_run(self, run: ScheduleRun) -> None:
        change = update(SCHEDULE_RUNS).where(
            SCHEDULE_RUNS.c.schedule_id == run.schedule_id, SCHEDULE_RUNS.c.time == run.time
        )
        values = {"batch_id": run.batch_id, "error": run.error}
        await self._database.write(lambda on: on.execute(change.values(**values)))

    async def usable(self, schedule: Schedule, now: datetime) -> bool:
        open_still = KEYS.c.expires.is_(None) | (KEYS.c.expires > now) | KEYS.c.replaced_by.is_not(None)
        query = select(KEYS.c.id).where(KEYS.c.id == schedule.key_id, KEYS.c.revoked.is_(None), open_still)
        return await self._database.read(lambda on: on.execute(query).first() is not None)

    async def remove_old_runs(self, before: datetime, most: int) -> int:
        old = select(SCHEDULE_RUNS.c.schedule_id, SCHEDULE_RUNS.c.time).where(SCHEDULE_RUNS.c.time < before)
        return await self._database.write(lambda on: _remove_runs(on, on.execute(old.limit(most)).all()), durable=False)


def _add(on: Connection, schedule: Schedule, most: int) -> bool:
    account = select(ACCOUNTS.c.id).where(ACCOUNTS.c.id == schedule.account_id)
    on.execute(account.with_for_update(key_share=True))  # one at a time counts
    count = select(func.count()).select_from(SCHEDULES).where(SCHEDULES.c.account_id == schedule.account_id)
    if on.execute(count).scalar_one() >= most:
        return False
    on.execute(insert(SCHEDULES), {**vars(schedule), "batch": schedule.batch.decode()})
    return True


def _begin_run(on: Connection, run: ScheduleRun, following: datetime | None) -> bool:
    change = update(SCHEDULES).where(SCHEDULES.c.id == run.schedule_id, SCHEDULES.c.next_run <= run.time)
    if not on.execute(change.values(next_run=following)).rowcount:
        return False
    on.execute(insert(SCHEDULE_RUNS), vars(run))
    return True


def _remove_runs(on: Connection, rows: Sequence[Any]) -> int:
    for schedule_id, time in rows:
        on.execute(
            delete(SCHEDULE_RUNS).where(SCHEDULE_RUNS.c.schedule_id == schedule_id, SCHEDULE_RUNS.c.time == time)
        )
    return len(rows)


def _schedule(row: Row[Any]) -> Schedule:
    values = {column.name: row[index] for index, column in enumerate(SCHEDULES.c)}
    return Schedule(**{**values, "batch": values["batch"].encode()})
