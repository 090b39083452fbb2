"""What one process of all does beside the batches: it runs schedules, moves records, and removes what is old.

A service does so too, as its process that runs batches ends when there are none.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from functools import partial

from webdata.batches.parts import RecordMover
from webdata.batches.schedules import Schedules
from webdata.batches.submissions import Submissions
from webdata.runtime.process.repeat import repeat
from webdata.stores.batches.chunks import ChunkStore
from webdata.stores.batches.schedules import ScheduleStore
from webdata.stores.batches.sql import BatchStore

logger = logging.getLogger(__name__)

TICK_SECONDS = 3.0
LEAD = timedelta(seconds=10)
"""How long a process leads after it was heard of last."""
STEP_ROWS = 1000
"""Rows that are removed in one transaction."""
STEP_SECONDS = 0.2
"""Between two such transactions, in which others write."""
CLEANED_EVERY = timedelta(minutes=5)
FORGOTTEN = timedelta(days=1)
"""After which a submission that was never completed is removed."""


class BatchUpkeep:
    """Runs in every service and worker; of all, the one that leads moves records and removes what is old.

    Batches are removed `days` after their end. A `mover` takes their records out of the database.
    """

    def __init__(
        self,
        process: str,
        batches: BatchStore,
        chunks: ChunkStore,
        schedules: ScheduleStore,
        submissions: Submissions,
        days: int,
        mover: RecordMover | None = None,
    ) -> None:
        self._process = process
        self._batches = batches
        self._chunks = chunks
        self._schedules = schedules
        self._run_schedules = Schedules(schedules, submissions)
        self._days = timedelta(days=days)
        self._mover = mover
        self._cleaned = datetime.min.replace(tzinfo=UTC)

    async def run(self) -> None:
        """Go on until it is cancelled."""
        works = [
            repeat("schedules", lambda: self._run_schedules.due(datetime.now(UTC)), TICK_SECONDS),
            repeat("old batches", lambda: self._clean(datetime.now(UTC)), TICK_SECONDS),
        ]
        if self._mover:
            works.append(repeat("records of batches", partial(self._move, self._mover), TICK_SECONDS))
        await asyncio.gather(*works)

    async def _leads(self, name: str, now: datetime) -> bool:
        return await self._chunks.lead(name, self._process, now, now + LEAD)

    async def _move(self, mover: RecordMover) -> None:
        """Move records out of the database, while there are some and this process leads."""
        now = datetime.now(UTC)
        if not await mover.waits() or not await self._leads("records", now):
            return
        try:
            while datetime.now(UTC) < now + LEAD / 2 and await mover.move():
                pass
        except OSError as error:
            logger.warning("records of batches stay in the database, as WEBDATA_BATCH_STORE fails: %s", error)

    async def _clean(self, now: datetime) -> None:
        """Now and then, remove what is old in small steps, for as long as this process leads at least."""
        if now - self._cleaned < CLEANED_EVERY:
            return
        if not await self._leads("retention", now):
            self._cleaned = now
            return
        while datetime.now(UTC) < now + LEAD / 2:
            removed = await self._batches.remove_old(now - self._days, now - FORGOTTEN, STEP_ROWS)
            removed += await self._schedules.remove_old_runs(now - self._days, STEP_ROWS)
            removed += await self._mover.remove_unknown() if self._mover else 0  # may fail with its store
            if not removed:
                self._cleaned = now
                return
            await asyncio.sleep(STEP_SECONDS)
