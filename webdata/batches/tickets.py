"""Tickets through PgQueuer, the only module that knows it: on PostgreSQL, or in the memory of one process.

A ticket names a chunk, nothing else, and may be lost, or run twice: the tables of the chunks hold the truth. So its
tables are not written ahead (UNLOGGED): a crash of PostgreSQL empties them.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import NamedTuple

from pgqueuer import PgQueuer
from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.domain.errors import RetryRequested
from pgqueuer.domain.models import Job
from pgqueuer.domain.settings import DBSettings, Durability

from webdata.domain.errors import DatabaseUnavailableError
from webdata.domain.extras import extra
from webdata.stores.batches.model import Ticket

logger = logging.getLogger(__name__)

HEARTBEAT = timedelta(seconds=8)
"""After which the tickets of a worker that is silent are run by others."""
POLL = timedelta(seconds=1)
"""Between two looks for tickets that no notification has told of."""
BUSY_POLL = timedelta(seconds=0.1)
"""The same, while there are tickets and no free slot."""
ANSWER_SECONDS = 10
"""How long PostgreSQL may take to answer."""
RECONNECT_SECONDS = 1.0
ENDED_SECONDS = 0.05
"""After the end of a ticket, in which the queue forgets it."""
TEST = " (test)"
"""Follows the name of an engine for the tickets of test keys."""
Run = Callable[[Ticket], Awaitable[float | None]]
"""Runs a ticket; returns the seconds after which it is to be run again, None where it has ended."""


class _Brief(logging.Filter):
    """Turns the traceback of a line of PgQueuer's into a reason: while PostgreSQL is away it logs many a second."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception):
            record.msg, record.args = f"{record.getMessage()}: {_first_line(error) or type(error).__name__}", ()
            record.exc_info = record.exc_text = None
        return True


BRIEF = _Brief()


class Lane(NamedTuple):
    """Whose slots a ticket takes: those of an engine, for live or for `test` keys."""

    engine: str
    test: bool

    @property
    def name(self) -> str:
        """The name of an engine's entry in the queue."""
        return f"{self.engine}{TEST if self.test else ''}"

    @classmethod
    def named(cls, name: str) -> "Lane":
        """The lane of this name."""
        return cls(name.removesuffix(TEST), name.endswith(TEST))


class TicketQueue:
    """The tickets of each engine, of which `slots` run at once on all machines together, and `most` here; as many of
    test keys.

    `url` is that of a PostgreSQL server; None for tickets in memory.
    """

    def __init__(self, url: str | None, slots: Mapping[str, int], most: int, run: Run) -> None:
        self._url = url
        self._slots = slots
        self._most = most
        self._run = run
        self.has_room = asyncio.Event()
        """Set when a ticket has ended here, so that there is room for others."""
        self._queuer: PgQueuer | None = None
        self._stopping = False
        logging.getLogger("pgqueuer").addFilter(BRIEF)

    @property
    def is_open(self) -> bool:
        """Whether it takes tickets: it is connected, and not about to end."""
        return self._queuer is not None and not self._stopping

    async def run(self) -> None:
        """Run tickets until `stop`, and reconnect whenever the server has gone; returns when those that run ended."""
        while not self._stopping:
            try:
                async with self._opened() as self._queuer:
                    await self._run_queue(self._queuer)
            except Exception as error:  # noqa: BLE001  # of the driver, in several trees: the next connection may do
                logger.warning("the queue of tickets does not answer: %s", _first_line(error) or type(error).__name__)
            finally:
                self._queuer = None
            if not self._stopping:
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _run_queue(self, queuer: PgQueuer) -> None:
        """Run tickets while connected, unless the queue was stopped while it connected."""
        self._register(queuer)
        if not self._stopping:
            await queuer.qm.run(
                dequeue_timeout=POLL,
                batch_size=1,
                max_concurrent_tasks=max(2, self._most),
                shutdown_on_listener_failure=self._url is not None,
                heartbeat_timeout=HEARTBEAT,
            )

    def stop(self) -> None:
        """Run no further ticket."""
        self._stopping = True
        if self._queuer:
            self._queuer.shutdown.set()

    async def put(self, lane: Lane, tickets: Sequence[Ticket]) -> None:
        """Add tickets, but for those of a chunk that has one. Raises DatabaseUnavailableError."""
        names = [f"{one.batch_id}/{one.number}" for one in tickets]
        async with self._queries() as queries:
            await queries.enqueue(
                [lane.name] * len(tickets),
                [name.encode() for name in names],
                [one.priority for one in tickets],
                dedupe_key=[*names],
                on_conflict="skip",
            )

    async def open_tickets(self) -> Counter[Lane]:
        """The tickets of each lane that are queued or run. Raises DatabaseUnavailableError."""
        counts = Counter[Lane]()
        async with self._queries() as queries:
            for row in await queries.queue_size():
                counts[Lane.named(row.entrypoint)] += row.count
        return counts

    async def clear_log(self) -> None:
        """Forget the tickets that have ended. Raises DatabaseUnavailableError."""
        async with self._queries() as queries:
            await queries.clear_queue_log()
            await queries.clear_statistics_log()

    @asynccontextmanager
    async def _queries(self) -> AsyncIterator[Queries]:
        if self._queuer is None:
            raise DatabaseUnavailableError("the queue of tickets is not connected")
        try:
            yield self._queuer.queries  # type: ignore[misc]  # in memory it has the same methods
        except Exception as error:
            raise DatabaseUnavailableError(f"the queue of tickets does not answer: {error}") from error

    def _register(self, queuer: PgQueuer) -> None:
        queuer.qm.min_dequeue_poll_interval = BUSY_POLL
        for engine, slots in self._slots.items():
            for lane in (Lane(engine, test=False), Lane(engine, test=True)):
                queuer.entrypoint(lane.name, concurrency_limit=slots)(self._handle)

    async def _handle(self, job: Job) -> None:
        batch, _, number = (job.payload or b"").decode().rpartition("/")
        try:
            again = await self._run(Ticket(batch, int(number)))
        finally:
            asyncio.get_running_loop().call_later(ENDED_SECONDS, self.has_room.set)
        if again is not None:
            raise RetryRequested(timedelta(seconds=again))

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[PgQueuer]:
        if self._url is None:
            yield PgQueuer.in_memory()
            return
        with extra("postgresql"):
            import asyncpg  # noqa: PLC0415

        connection = await asyncpg.connect(self._url, timeout=ANSWER_SECONDS, command_timeout=ANSWER_SECONDS)
        try:
            driver = AsyncpgDriver(connection)
            settings = DBSettings(durability=Durability.volatile)
            queries = Queries(driver, qbe=QueryBuilderEnvironment(settings))
            await _install(queries)
            yield PgQueuer(driver, queries=queries)
        finally:
            connection.terminate()


async def _install(queries: Queries) -> None:
    """Create or change the tables of the queue, by one process at a time."""
    async with queries.schema_lock():
        if await queries.schema_is_installed():
            await queries.upgrade()
        else:
            await queries.install()


def _first_line(error: Exception) -> str:
    """Without what the server says of the values of rows, in the lines that follow."""
    return str(error).partition("\n")[0]
