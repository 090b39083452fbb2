"""The interface of the store of schedules. Times are aware, in UTC. A schedule of another account does not exist."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class Schedule:
    """A batch that is submitted again and again."""

    id: str
    account_id: str
    key_id: str
    test: bool
    cron: str
    """Minute, hour, day of the month, month and day of the week."""
    timezone: str
    """A name of the IANA's database."""
    label: str
    batch: bytes
    """The body of the submission, as JSON."""
    created: datetime
    next_run: datetime | None
    """None where it never runs again."""


@dataclass(frozen=True)
class ScheduleRun:
    """A time at which a schedule was due."""

    schedule_id: str
    time: datetime
    begun: datetime
    missed: int = 0
    """Earlier times that no process was there to notice."""
    batch_id: str | None = None
    error: str | None = None
    """Why there is no batch. Without either it has not ended."""


class ScheduleStore(Protocol):
    """The schedules of accounts, and their runs."""

    async def add(self, schedule: Schedule, most: int) -> bool:
        """Add a schedule; returns False where the account has `most` already."""
        ...

    async def find(self, account_id: str, schedule_id: str) -> Schedule | None:
        """The schedule with this id."""
        ...

    async def all(self, account_id: str) -> list[Schedule]:
        """The schedules of an account, oldest first."""
        ...

    async def remove(self, account_id: str, schedule_id: str) -> bool:
        """Remove a schedule with its runs, not their batches; returns whether it existed."""
        ...

    async def runs(self, schedule_id: str, limit: int, before: datetime | None = None) -> list[ScheduleRun]:
        """The runs of a schedule, the last first; those before a time."""
        ...

    async def due(self, now: datetime, most: int) -> Sequence[Schedule]:
        """Schedules whose next run is due."""
        ...

    async def begin_run(self, run: ScheduleRun, following: datetime | None) -> bool:
        """Add a run and set the next one; returns False, and changes nothing, where another process has done so."""
        ...

    async def begun(self, most: int) -> Sequence[tuple[Schedule, ScheduleRun]]:
        """Runs that have not ended, the first first."""
        ...

    async def end_run(self, run: ScheduleRun) -> None:
        """Store how a run ended."""
        ...

    async def usable(self, schedule: Schedule, now: datetime) -> bool:
        """Whether the key that made it opens something still, or has a successor."""
        ...

    async def remove_old_runs(self, before: datetime, most: int) -> int:
        """Remove at most `most` runs from before a time; returns how many."""
        ...
