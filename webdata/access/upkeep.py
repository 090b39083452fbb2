"""What is done now and then with what calls leave behind: old calls are removed, and the ledger's sums are stored."""

import asyncio
from datetime import UTC, datetime, timedelta

from webdata.server.repeat import repeat
from webdata.stores.interfaces_calls import CallLog, LedgerHistory

HOURLY, MINUTELY = 3600.0, 60.0
STEP_CALLS, STEP_MOVEMENTS = 500, 2000
"""Rows of one transaction, which other writers wait for."""
STEP_PAUSE = 0.2
"""Seconds between two."""


class Upkeep:
    """Does it, between `start` and `stop`; calls are removed after so many days."""

    def __init__(self, calls: CallLog, history: LedgerHistory, days: int) -> None:
        self._calls = calls
        self._history = history
        self._days = timedelta(days=days)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        works = (
            repeat("old calls", self.remove_old_calls, HOURLY),
            repeat("sums of the ledger", self.store_sums, MINUTELY),
        )
        self._tasks = [asyncio.ensure_future(work) for work in works]

    def stop(self) -> None:
        """End."""
        for task in self._tasks:
            task.cancel()

    async def remove_old_calls(self) -> None:
        """Remove the calls that are too old, in small steps."""
        before = datetime.now(UTC) - self._days
        while await self._calls.remove_old(before, STEP_CALLS) == STEP_CALLS:  # noqa: ASYNC110  # nothing is waited for
            await asyncio.sleep(STEP_PAUSE)

    async def store_sums(self) -> None:
        """Store the sums of the movements that have come since, in small steps."""
        while await self._history.add_up(STEP_MOVEMENTS) == STEP_MOVEMENTS:  # noqa: ASYNC110
            await asyncio.sleep(STEP_PAUSE)
