"""Runs the schedules that are due: each time makes one batch, whichever processes notice it."""

import logging
from dataclasses import replace
from datetime import datetime

from webdata.batches.cron import following, last_due
from webdata.batches.submissions import Owner, Submissions
from webdata.domain.errors import DatabaseUnavailableError, OverloadedError, QueryError, QuotaError, RateLimitedError
from webdata.stores.batches.model import Schedule, ScheduleRun
from webdata.stores.batches.schedules import ScheduleStore

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 100
KEY_GONE = "the key that made the schedule was revoked or has expired: make the schedule again with another key"
LATER = (DatabaseUnavailableError, OverloadedError, RateLimitedError)
"""Errors after which the run is tried again."""


class Schedules:
    """Submits the batches of schedules. Several processes may do so at once."""

    def __init__(self, store: ScheduleStore, submissions: Submissions) -> None:
        self._store = store
        self._submissions = submissions
        self._of_unknown_zones: set[tuple[str, str]] = set()
        """The ids and time zones of schedules that this machine cannot run."""

    async def due(self, now: datetime) -> int:
        """Submit the batches that are due; returns how many runs have ended. To be called every few seconds.

        Where no process was there at the time of several runs, the last is caught up and tells how many were missed.
        A run that another process began and did not end, since it was killed, is ended here.
        """
        for schedule in await self._store.due(now, MOST_AT_ONCE + len(self._of_unknown_zones)):
            if (schedule.id, schedule.timezone) not in self._of_unknown_zones:
                await self._begin(schedule, now)
        ended = 0
        for schedule, run in await self._store.begun(MOST_AT_ONCE):
            ended += await self._end(schedule, run, now)
        return ended

    async def _begin(self, schedule: Schedule, now: datetime) -> None:
        assert schedule.next_run
        try:
            time, missed = last_due(schedule.cron, schedule.timezone, schedule.next_run, now)
            next_run = following(schedule.cron, schedule.timezone, time)
        except ValueError as error:  # other machines may know its time zone, and the other schedules run
            self._of_unknown_zones.add((schedule.id, schedule.timezone))
            logger.warning("the schedule %s does not run on this machine: its timezone %s", schedule.id, error)
            return
        await self._store.begin_run(ScheduleRun(schedule.id, time, now, missed), next_run)

    async def _end(self, schedule: Schedule, run: ScheduleRun, now: datetime) -> bool:
        try:
            ended = await self._submitted(schedule, run, now)
        except LATER as error:
            logger.warning("the schedule %s could not run yet: %s", schedule.id, error)
            return False
        except (QueryError, QuotaError) as error:
            ended = replace(run, error=str(error))
        except Exception:  # the other schedules run
            logger.exception("the schedule %s failed", schedule.id)
            ended = replace(run, error="something went wrong here, not in the schedule")
        await self._store.end_run(ended)
        return True

    async def _submitted(self, schedule: Schedule, run: ScheduleRun, now: datetime) -> ScheduleRun:
        if not await self._store.usable(schedule, now):
            return replace(run, error=KEY_GONE)
        owner = Owner(schedule.account_id, schedule.key_id, schedule.test)
        name = f"{schedule.id} {run.time.isoformat()}"
        answer = await self._submissions.take(owner, schedule.batch, {}, ndjson=False, once=name)
        return replace(run, batch_id=answer["id"])
