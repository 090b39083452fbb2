"""A worker: takes tickets, leases their chunks, runs them, and puts back what is left."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import uniform
from time import monotonic

from webdata.batches.chunk_runs import ChunkRun
from webdata.batches.feeder import FEEDER, Feeder
from webdata.batches.rows import RowRunner
from webdata.batches.tickets import TicketQueue
from webdata.domain.errors import DatabaseUnavailableError, OutOfCreditsError
from webdata.runtime.process.repeat import repeat, running
from webdata.runtime.process.shares import FairSlots, Shares
from webdata.stores.batches.chunks import ChunkStore
from webdata.stores.batches.model import Batch, Chunk, EndedRow, LeasedError, RowResult, Ticket

logger = logging.getLogger(__name__)

TICKETS = "tickets"
"""What the one leads that has tickets in memory."""
LEASE = timedelta(seconds=8)
"""How long a worker that is not heard of keeps its chunks."""
MARGIN_SECONDS = 1.0
"""Before the end of a lease in which no further row begins."""
RENEW_SECONDS = 2.0
LEASED_SECONDS = 2.0
"""Until another look at a chunk that another worker runs, or may run, and where the database does not answer."""
FULL_SECONDS = 0.5
"""Until another look at a chunk of an account that has all places here but the last, which is for others."""
BACKOFF = (30.0, 120.0, 600.0, 1800.0)
"""Seconds for which a chunk is put off whose rows were lost in a way that may pass, by its rounds."""
TEST_BACKOFF = (1.0, 1.0, 2.0, 4.0)
"""The same for rows of a test key: the sandbox has nobody who is to be left alone."""
JITTER = 0.25
"""The share by which they are longer or shorter."""
LONGEST_PAUSE = 600.0
"""Seconds for which a chunk waits for an open circuit, at most."""
DEAD_SECONDS = 5.0
"""Between two looks for the leases of processes of this machine that have died."""


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker is and may do."""

    process: str
    """The name of its process."""
    slots: Mapping[str, int]
    """The chunks of each engine that run at once, on all machines together."""
    resources: Mapping[str, Sequence[str]]
    """The resources of each engine, whose batches it runs."""
    most_chunks: int
    """Chunks that run at once here."""
    most_rows: int
    """Rows that run at once here."""
    queue_url: str | None
    """The URL of the PostgreSQL server with the queue; None for a queue in memory."""


class BatchWorker:
    """Runs chunks of batches until it is stopped.

    `dead` returns whether a process has died. `seconds_open` has for how long a resource's engines are left alone, by
    its name and whether that is the sandbox. `observer` is called with the resource and the result of every row that
    has ended here. While it `lacks_disk` no further chunk begins.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        chunks: ChunkStore,
        runner: RowRunner,
        dead: Callable[[str], bool],
        seconds_open: Callable[[str, bool], float],
        observer: Callable[[str, RowResult], None] = lambda _resource, _result: None,
        lacks_disk: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._chunks = chunks
        self._runner = runner
        self._dead = dead
        self._seconds_open = seconds_open
        self._observe = observer
        self._room = FairSlots(settings.most_rows)
        self._places = Shares(settings.most_chunks, max(1, settings.most_chunks - 1))
        self._runs: dict[tuple[str, int], ChunkRun] = {}
        self._stopping = False
        self._queue = TicketQueue(settings.queue_url, settings.slots, settings.most_chunks, self._run_ticket)
        several = None if settings.queue_url is None else settings.process
        self._feeder = Feeder(chunks, self._queue, settings.resources, settings.slots, several, dead, lacks_disk)

    @property
    def running(self) -> int:
        """How many chunks run here."""
        return len(self._runs)

    async def run(self) -> None:
        """Run chunks until `stop`; returns when the rows that run have ended."""
        if self._settings.queue_url is None and not await self._is_alone():
            return
        works = (
            self._feeder.run(),
            repeat("leases of chunks", self._renew_leases, RENEW_SECONDS),
            repeat("leases of dead workers", self._free_leases_of_the_dead, DEAD_SECONDS),
        )
        try:
            async with running(*works):
                await self._queue.run()
        finally:
            await self._resign()

    async def _is_alone(self) -> bool:
        """Wait until no other process has tickets in memory, and forget its; returns False where this one stops."""
        while not self._stopping:
            try:
                if await self._lead():
                    await self._chunks.forget_tickets(datetime.now(UTC))
                    return True
                logger.warning("another process runs the batches of this database: this one waits for its end")
            except DatabaseUnavailableError as error:
                logger.warning("no batches are run yet: %s", error)
            await asyncio.sleep(RENEW_SECONDS)
        return False

    async def _lead(self) -> bool:
        now = datetime.now(UTC)
        return await self._chunks.lead(TICKETS, self._settings.process, now, now + LEASE, self._dead)

    async def _resign(self) -> None:
        """Let another process lead at once."""
        now = datetime.now(UTC)
        for name in (FEEDER, TICKETS):
            with suppress(DatabaseUnavailableError):
                await self._chunks.lead(name, self._settings.process, now, now)

    def stop(self) -> None:
        """Begin no further row: those that run are finished, and the rest is left to others."""
        self._stopping = True
        for run in self._runs.values():
            run.end()
        self._queue.stop()

    async def _run_ticket(self, ticket: Ticket) -> float | None:
        """Run a chunk; returns the seconds after which its ticket is to be run again, if it is."""
        if self._stopping:
            return 0.0
        began, now = monotonic(), datetime.now(UTC)
        try:
            chunk = await self._chunks.take(ticket, self._settings.process, now, now + LEASE, self._dead)
        except (LeasedError, DatabaseUnavailableError) as error:
            logger.info("%s/%d is not run yet: %s", *ticket[:2], error)
            return LEASED_SECONDS
        if chunk:
            await self._run_chunk(ticket, chunk, began + LEASE.total_seconds() - MARGIN_SECONDS)
        return None

    async def _run_chunk(self, ticket: Ticket, chunk: Chunk, lease_end: float) -> None:
        key = (ticket.batch_id, ticket.number)
        account = chunk.batch.account_id
        has_place = self._places.has_room_for_one(account, 1)
        pause = self._pause(chunk.batch) or (0.0 if has_place else FULL_SECONDS)
        if pause:
            await self._put_back(ticket, pause)
            return
        run = self._runs[key] = ChunkRun(chunk, self._runner, self._end_row, self._room, lease_end)
        if self._stopping:
            run.end()
        self._places.change(account, 1)
        try:
            finished = await run.run()
        finally:
            self._places.change(account, -1)
            del self._runs[key]
        if run.put_off:
            await self._put_back(ticket, _backoff(chunk, max(run.put_off)), put_off=True)
        elif not finished:
            await self._put_back(ticket, 0.0)

    async def _end_row(self, row: EndedRow) -> bool:
        try:
            is_written = await self._chunks.end_row(row)
        except OutOfCreditsError:
            for run in self._runs.values():
                if run.chunk.batch.account_id == row.batch.account_id and not run.chunk.batch.test:
                    run.stop()
            raise
        if is_written:
            self._observe(row.batch.resource, row.result)
        return is_written

    def _pause(self, batch: Batch) -> float:
        """Seconds until a chunk is worth a try."""
        return min(self._seconds_open(batch.resource, batch.test), _longest_pause(batch))

    async def _put_back(self, ticket: Ticket, seconds: float, *, put_off: bool = False) -> None:
        due = datetime.now(UTC) + timedelta(seconds=seconds)
        try:
            await self._chunks.put_back(ticket, self._settings.process, due, put_off=put_off)
        except DatabaseUnavailableError as error:  # its lease ends by itself
            logger.warning("%s/%d is put back later: %s", *ticket[:2], error)

    async def _renew_leases(self) -> None:
        """Renew the leases of the chunks that run; where that fails they may end, and then no further row begins."""
        runs = dict(self._runs)
        began, until = monotonic(), datetime.now(UTC) + LEASE
        tickets = [Ticket(*key) for key in runs]
        if self._settings.queue_url is None:
            await self._lead()
        renewed = await self._chunks.renew(self._settings.process, tickets, until)
        for key, run in runs.items():
            if key in renewed:
                run.lease_end = began + LEASE.total_seconds() - MARGIN_SECONDS
            else:  # it is paused, cancelled, or another worker has it
                run.stop()

    async def _free_leases_of_the_dead(self) -> None:
        await self._chunks.free(self._dead, datetime.now(UTC))


def _longest_pause(batch: Batch) -> float:
    return TEST_BACKOFF[-1] if batch.test else LONGEST_PAUSE


def _backoff(chunk: Chunk, asked: float) -> float:
    """Seconds until the next round of a chunk; `asked` is what its engine asks for."""
    steps = TEST_BACKOFF if chunk.batch.test else BACKOFF
    seconds = steps[min(chunk.rounds, len(steps) - 1)]
    jittered = seconds * uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # so that chunks do not come together
    return max(jittered, min(asked, _longest_pause(chunk.batch)) if chunk.batch.test else asked)
