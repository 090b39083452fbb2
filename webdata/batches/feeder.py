"""The feeder: issues tickets for the chunks that are due, as many as keep every slot busy, and fairly.

One process of all feeds at a time. Each engine has at most OPEN_TICKETS times as many tickets as slots, and those of
the account that has the fewest are issued, and run, first. Where an engine has several slots one account has no tickets
for all of them: the last one is for others, however long the queries of an account take. Test keys have slots of their
own.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic

from webdata.batches.tickets import Lane, TicketQueue
from webdata.runtime.process.repeat import repeat
from webdata.stores.batches.chunks import ChunkStore

OPEN_TICKETS = 4
"""Tickets for each slot of an engine."""
FEED_SECONDS = 0.25
"""Between two looks for chunks that are due."""
FEEDER = "feeder"
"""What the one that feeds leads."""
LEADS = timedelta(seconds=8)
"""How long a process leads that is not heard of any more."""
LEAD_SECONDS = 2.0
"""Seconds between two renewals of the lead."""
AGAIN = timedelta(seconds=30)
"""After which a ticket that was not begun is issued again."""
CREDIT_SECONDS = 5.0
"""Between two looks for accounts that have credits again."""
LOG_SECONDS = 600.0
"""How long the tickets that have ended are kept for those who look into the queue."""


class Feeder:
    """Issues the tickets of engines: `resources` are those of each, whose batches its slots run.

    There are as many `slots` for test keys. `process` is the name of this one among several; None where there is no
    other. `dead` returns whether one has died. While it `lacks_disk` nothing is fed.
    """

    def __init__(
        self,
        chunks: ChunkStore,
        queue: TicketQueue,
        resources: Mapping[str, Sequence[str]],
        slots: Mapping[str, int],
        process: str | None,
        dead: Callable[[str], bool],
        lacks_disk: Callable[[], bool] = lambda: False,
    ) -> None:
        self._chunks = chunks
        self._queue = queue
        self._resources = resources
        self._slots = slots
        self._process = process
        self._dead = dead
        self._lacks_disk = lacks_disk
        self._leads_until = 0.0
        self._due = {self._resume_paid: 0.0, self._queue.clear_log: monotonic() + LOG_SECONDS}

    async def run(self) -> None:
        """Feed the queue until it is cancelled."""
        await repeat("tickets of batches", self._feed_if_first, FEED_SECONDS, self._queue.has_room)

    async def _feed_if_first(self) -> None:
        if self._queue.is_open and await self._leads():
            await self._feed()
            await self._maintain()

    async def _leads(self) -> bool:
        if self._process is None:
            return True
        if monotonic() >= self._leads_until:
            now = datetime.now(UTC)
            self._leads_until = 0.0
            began = monotonic()
            if await self._chunks.lead(FEEDER, self._process, now, now + LEADS, self._dead):
                self._leads_until = began + LEAD_SECONDS
        return monotonic() < self._leads_until

    async def _feed(self) -> None:
        if await asyncio.to_thread(self._lacks_disk):
            return
        active = await self._chunks.active()
        lanes = {
            Lane(engine, test): resources
            for engine, names in self._resources.items()
            for test in (False, True)
            if (resources := [one for one in names if (one, test) in active])
        }
        if not lanes:
            return
        open_tickets = await self._queue.open_tickets()
        for lane, resources in lanes.items():
            slots = self._slots[lane.engine]
            room = OPEN_TICKETS * slots - open_tickets[lane]
            if room > 0:
                now, most_of_one = datetime.now(UTC), max(1, slots - 1)
                tickets = await self._chunks.issue(resources, lane.test, now, now + AGAIN, room, most_of_one)
                if tickets:
                    await self._queue.put(lane, tickets)

    async def _maintain(self) -> None:
        now = monotonic()
        for task, due in self._due.items():
            if now >= due:
                self._due[task] = now + (CREDIT_SECONDS if task == self._resume_paid else LOG_SECONDS)
                await task()

    async def _resume_paid(self) -> None:
        await self._chunks.resume_paid()
