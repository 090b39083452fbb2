"""The interfaces of the stores of batches: what callers do with them, and how workers run them.

Times are aware, in UTC. A batch of another account is one that does not exist.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

BatchState = Literal["queued", "running", "paused", "done", "cancelled"]
"""`queued` until its first chunk runs. `done` and `cancelled` are ends; the failures of a done one may be retried."""
ChunkState = Literal["open", "running", "done", "poison"]
"""`poison`: set aside, as it was begun MOST_ATTEMPTS times without the end of a row."""
Which = Literal["all", "records", "failures"]
"""Which results are read: `failures` are those without a record."""

CHUNK_ROWS = 100
"""Queries of a chunk, but for the last of a batch."""
REPEATED_WITHIN = timedelta(hours=24)
"""How long the same submission, by its name, is not taken twice."""
OUT_OF_CREDITS = "out_of_credits"
REQUESTED = "requested"
KEY_REVOKED = "key_revoked"
"""Reasons of a pause: the account has no credits, it was asked for, or the key that made the batch was revoked."""
MOST_ATTEMPTS = 5
"""How often a chunk is begun without the end of a row, before it is set aside."""


class QueryRow(NamedTuple):
    """A query of a batch."""

    row: int
    """Its number in what was submitted; numbers rise, and may have gaps."""
    query: bytes
    """Its validated fields as a JSON object."""


@dataclass(frozen=True)
class Counts:
    """How many rows have ended, by outcome, what they cost, and how many came from the cache."""

    ended: int = 0
    cost: int = 0
    cached: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Without those that no row has."""


@dataclass(frozen=True)
class Batch:
    """Many queries of one resource."""

    id: str
    account_id: str
    key_id: str
    test: bool
    """Of a test key: it goes to the sandbox and costs nothing."""
    resource: str
    created: datetime
    region: str | None = None
    device: str | None = None
    label: str = ""
    priority: int = 0
    """Those of an account with a higher one run first."""
    webhook_id: str | None = None
    """The webhook that alone receives its events; None for all that want them."""
    state: BatchState = "queued"
    reason: str | None = None
    """Why it is paused."""
    started: datetime | None = None
    ended: datetime | None = None
    rows: int = 0
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True)
class Result:
    """The end of one row."""

    row: int
    outcome: str
    ended: datetime
    engine: str = ""
    attempts: int = 0
    cost: int = 0
    cached: bool = False
    kind: str | None = None
    """Of a failure, such as `captcha`."""
    error: str | None = None
    """Of a failure: what happened, for the caller."""
    record: bytes | None = None
    """As JSON; None for a failure, and where it has a `place`."""
    place: str | None = None
    """Where the record is stored outside of the database."""


@dataclass(frozen=True)
class Submitted:
    """A submission under a name of its sender's, by which it is not taken twice."""

    account_id: str
    name: str
    digest: str
    """Of all that its sender said."""
    answer: bytes
    """What its sender got, as JSON."""
    time: datetime


class AlreadySubmittedError(Exception):
    """There is a submission under this name."""

    def __init__(self, earlier: Submitted) -> None:
        super().__init__(earlier.name)
        self.earlier = earlier


class BatchStore(Protocol):
    """The batches of accounts."""

    async def begin(self, batch: Batch) -> None:
        """Begin to add a batch, which nobody sees until `publish`."""
        ...

    async def add_chunks(self, batch_id: str, first: int, chunks: Sequence[Sequence[QueryRow]]) -> None:
        """Add chunks of CHUNK_ROWS queries each, the last of a batch has fewer; `first` is the number of the first.

        Numbers begin at 0 and have no gaps. Some hundred chunks at a time are written in some 10 ms.
        """
        ...

    async def publish(self, batch_id: str, now: datetime, submitted: Submitted | None = None) -> Batch:
        """Make a batch with all of its chunks visible and ready to run. Raises LookupError for one that has none.

        With `submitted` raises AlreadySubmittedError, and changes nothing, where there is one under its name that is
        younger than REPEATED_WITHIN.
        """
        ...

    async def submitted(self, account_id: str, name: str, now: datetime) -> Submitted | None:
        """The submission under a name, unless it is older than REPEATED_WITHIN."""
        ...

    async def discard(self, batch_id: str) -> None:
        """Remove a batch that is not published. Those that are forgotten are removed by `remove_old`."""
        ...

    async def find(self, account_id: str, batch_id: str) -> Batch | None:
        """The batch with this id, with its counts now."""
        ...

    async def page(
        self, account_id: str, limit: int, before: str | None = None, state: BatchState | None = None
    ) -> list[Batch]:
        """The batches of an account, newest first; those before an id, those in a state."""
        ...

    async def pause(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """Begin no further row; the rows that run are finished. Adds a `batch.paused`.

        As `resume`, `cancel` and `retry_failures`: returns the batch as it is then, None where it does not exist, and
        raises ValueError with the reason where its state does not allow it.
        """
        ...

    async def resume(self, account_id: str, batch_id: str) -> Batch | None:
        """Go on with a batch that is paused."""
        ...

    async def cancel(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """End a batch: no further row begins, those that have ended stay. Adds a `batch.cancelled`."""
        ...

    async def retry_failures(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """Run the failures of a batch that is done or paused again; they are no results until they have ended again."""
        ...

    async def results(self, batch_id: str, after: int, limit: int, which: Which = "all") -> list[Result]:
        """Results of rows whose number is larger than `after`, in the order of the rows."""
        ...

    async def complete_to(self, batch_id: str) -> int | None:
        """The row before the first that has not ended; None where all have.

        Rows up to it are read by `results` without a gap, while others run.
        """
        ...

    async def failures_by_kind(self, batch_id: str) -> Mapping[tuple[str, str | None], int]:
        """The number of failures by outcome and kind."""
        ...

    async def queries(self, batch_id: str, number: int) -> Sequence[QueryRow]:
        """The queries of a chunk; none where it does not exist."""
        ...

    async def chunk_after(self, batch_id: str, row: int) -> int | None:
        """The number of the first chunk with a row behind this one; None where there is none."""
        ...

    async def last_row(self, batch_id: str, after: int, limit: int, to: int | None) -> int | None:
        """The row of the last of `limit` results behind a row, and up to another one; None where there is none."""
        ...

    async def remove_old(self, before: datetime, forgotten: datetime, most: int) -> int:
        """Remove at most `most` rows of one batch that ended before a time, or was begun before `forgotten` and never
        published.

        Returns how many; 0 when nothing is left to remove.
        """
        ...


class MovableChunk(NamedTuple):
    """A chunk whose rows have ended, with records in the database."""

    batch_id: str
    number: int
    first_row: int
    last_row: int


class MoveStore(Protocol):
    """The records of chunks that are moved out of the database."""

    async def movable(self, most: int) -> Sequence[MovableChunk]:
        """Chunks of one batch: `most` of one that runs, or those that are left of one that has ended."""
        ...

    async def move(self, chunks: Sequence[MovableChunk], places: Mapping[int, str]) -> None:
        """Store the places of the records of rows, in the stead of the records, and that the chunks were moved."""
        ...

    async def missing(self, batch_ids: Sequence[str]) -> set[str]:
        """Those of the batches that do not exist any more."""
        ...


class PartStore(Protocol):
    """Files of records outside of the database, in a folder or an object store. Raises OSError where it fails."""

    async def put(self, name: str, data: bytes) -> None:
        """Store a file; its name has the id of the batch before a slash."""
        ...

    async def read(self, name: str, offset: int, length: int) -> bytes:
        """Some bytes of a file."""
        ...

    async def batches(self) -> Sequence[str]:
        """The ids of batches that have files."""
        ...

    async def remove(self, batch_id: str, most: int) -> int:
        """Remove at most `most` files of a batch; returns how many."""
        ...


class Ticket(NamedTuple):
    """A chunk to run, as a queue hands it to a worker."""

    batch_id: str
    number: int
    priority: int = 0
    """Those with a higher one are run first."""


@dataclass(frozen=True)
class Chunk:
    """A chunk that this process alone runs until its lease ends."""

    batch: Batch
    number: int
    rows: Sequence[tuple[int, Mapping[str, Any]]]
    """The numbers and queries of the rows that have not ended."""
    rounds: int
    """How often they were all put off."""


@dataclass(frozen=True)
class EndedRow:
    """A result to write."""

    batch: Batch
    chunk: int
    result: Result


@dataclass(frozen=True)
class ChunkStates:
    """The chunks of open batches, for metrics."""

    by_state: Mapping[str, int]
    tickets: int
    """How many are open and have a ticket that is not begun."""
    oldest: datetime | None
    """When the oldest batch with an open chunk was made."""


class ChunkStore(Protocol):
    """The chunks of batches that run, on all machines."""

    async def issue(self, resources: Sequence[str], now: datetime, again: datetime, most: int) -> Sequence[Ticket]:
        """Tickets for chunks that have none, at most `most`, those of the account first that has the fewest.

        Their tickets are issued once more at the time `again`, unless they are begun before: a ticket may be lost.
        """
        ...

    async def take(
        self, ticket: Ticket, process: str, now: datetime, until: datetime, dead: Callable[[str], bool]
    ) -> Chunk | None:
        """The chunk of a ticket, leased to this process; None where there is nothing to run.

        Raises LeasedError where another process that is not dead runs it. One that was begun MOST_ATTEMPTS times
        without the end of a row is set aside, and its rows end as failures.
        """
        ...

    async def renew(self, process: str, tickets: Sequence[Ticket], until: datetime) -> set[tuple[str, int]]:
        """Renew leases; returns those of which further rows may begin: batch and number."""
        ...

    async def put_back(self, ticket: Ticket, process: str, due: datetime, *, put_off: bool = False) -> None:
        """End a lease before the chunk is done: its remaining rows run when a ticket is issued after `due`.

        `put_off` counts a round, in which each of its rows was lost in a way that may pass.
        """
        ...

    async def end_row(self, row: EndedRow) -> bool:
        """Write a result with its charge, and what follows: the end of its chunk and batch, and their events.

        Rows that end at the same time share a transaction. Returns False, and changes nothing, for a row that has
        ended before. Raises OutOfCreditsError where its account cannot pay it: it is not written, and its batch pauses.
        """
        ...

    async def active(self) -> set[str]:
        """The resources of which rows may begin."""
        ...

    async def resume_paid(self) -> int:
        """Go on with the batches that were out of credits, and whose account has some; returns how many."""
        ...

    async def free(self, dead: Callable[[str], bool], now: datetime) -> int:
        """End the leases of dead processes; returns how many."""
        ...

    async def forget_tickets(self, now: datetime) -> None:
        """Issue the tickets of all chunks anew: a queue in memory has lost them."""
        ...

    async def states(self) -> ChunkStates:
        """The chunks of open batches by their state."""
        ...

    async def lead(
        self, name: str, process: str, now: datetime, until: datetime, dead: Callable[[str], bool] = lambda _: False
    ) -> bool:
        """Whether this process leads until a time: one that is not dead does at a time, for each name."""
        ...


class LeasedError(Exception):
    """Another process runs the chunk."""
