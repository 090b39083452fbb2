"""Batches, their rows, chunks, quotas and schedules. Times are aware, in UTC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from webdata.domain.errors import QuotaError
from webdata.stores.accounts.model import TEST_SHARE, Plan
from webdata.stores.answers.model import AddedAnswer

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
QUOTA_EXCEEDED = "quota_exceeded"
"""Reasons of a pause: the account has no credits, it was asked for, the key that made the batch was revoked, or the
results are more than the account may store."""
MOST_ROUNDS = 4
"""How often a query that was lost in a way that may pass is tried again, where its batch says nothing else."""
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
class WaitingRows:
    """Rows that are tried again later."""

    rows: int
    next_try: datetime
    """When the first of them is tried again."""


@dataclass(frozen=True)
class Batch:
    """Many queries of one resource."""

    id: str
    account_id: str
    key_id: str
    test: bool
    """Whether it is of a test key: it goes to the sandbox and costs nothing."""
    resource: str
    created: datetime
    region: str | None = None
    device: str | None = None
    label: str = ""
    priority: int = 0
    """The batches of an account with a higher priority run first."""
    rounds: int = MOST_ROUNDS
    """How often a row that was lost in a way that may pass is tried again."""
    webhook_id: str | None = None
    """The webhook that alone receives its events; None for all that want them."""
    state: BatchState = "queued"
    reason: str | None = None
    """Why it is paused."""
    started: datetime | None = None
    ended: datetime | None = None
    rows: int = 0
    counts: Counts = field(default_factory=Counts)
    waiting: WaitingRows | None = None
    """What of a queued or running one waits for another try now."""
    deleted: datetime | None = None
    """When its queries and results were deleted."""


@dataclass(frozen=True)
class RowResult:
    """The end of one row."""

    row: int
    outcome: str
    ended: datetime
    engine: str = ""
    attempts: int = 0
    cost: int = 0
    cached: bool = False
    kind: str | None = None
    """The kind of a failure, such as `captcha`."""
    error: str | None = None
    """What happened, for the caller of a query that failed."""
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
    """The digest of all that its sender said."""
    answer: bytes
    """What its sender got, as JSON."""
    time: datetime


class AlreadySubmittedError(Exception):
    """There is a submission under this name."""

    def __init__(self, earlier: Submitted) -> None:
        super().__init__(earlier.name)
        self.earlier = earlier


@dataclass(frozen=True)
class Reach:
    """The batches and schedules of its account that a key may see and change: those that it could have made itself."""

    test: bool
    resources: frozenset[str] = frozenset()
    """Batches of other resources are beyond it; if it is empty, all are within it."""

    def includes(self, test: bool, resource: str) -> bool:
        """Whether a batch of this kind and resource, of which neither ever changes, is one of them."""
        return test == self.test and (not self.resources or resource in self.resources)


class MovableChunk(NamedTuple):
    """A chunk whose rows have ended, with records in the database."""

    batch_id: str
    number: int
    first_row: int
    last_row: int


class Ticket(NamedTuple):
    """A chunk to run, as a queue hands it to a worker."""

    batch_id: str
    number: int
    priority: int = 0
    """Batches with a higher priority are run first."""


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
    result: RowResult
    archived: AddedAnswer | None = None
    """Its answer, where that is archived."""


@dataclass(frozen=True)
class ChunkStates:
    """The chunks of open batches, for metrics."""

    by_state: Mapping[str, int]
    tickets: int
    """How many are open and have a ticket that is not begun."""
    oldest: datetime | None
    """When the oldest batch with an open chunk was made."""


class LeasedError(Exception):
    """Another process runs the chunk."""


class Stored(NamedTuple):
    """How much the live or the test keys of an account store, or may store."""

    rows: int = 0
    """Queries of batches that have not ended."""
    bytes: int = 0
    """Bytes of queries and results, as they are stored; those of a chunk once it is done."""
    batches: int = 0
    schedules: int = 0


def quota_of(plan: Plan, test: bool) -> Stored:
    """How much the live or the `test` keys of an account of a plan may store."""
    most = (plan.batch_rows, plan.batch_bytes, plan.batches, plan.schedules)
    return Stored(*(max(1, value // TEST_SHARE) for value in most) if test else most)


QUOTA_WORDS = {
    "rows": "queries that have not ended: let some batches end, or delete one by DELETE /v1/batches/{id}",
    "bytes": "bytes of queries and results: delete a batch by DELETE /v1/batches/{id}, which frees them at once",
    "batches": "batches: delete one by DELETE /v1/batches/{id}",
    "schedules": "schedules: delete one by DELETE /v1/schedules/{id}",
}
"""What is counted, and what makes room."""


def quota_error(name: str, used: int, added: int, limit: int, test: bool) -> QuotaError:
    """The refusal of what would be more than the quota."""
    whose = "the test keys of the account" if test else "the account"
    what, _, right = QUOTA_WORDS[name].partition(": ")
    return QuotaError(
        f"{whose} may store {limit:,} {what}, and has {used:,}, to which this would add {added:,}: {right}"
    )


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
    """The body of the submission, as JSON; empty in lists of schedules."""
    created: datetime
    next_run: datetime | None
    """None where it never runs again."""
    parameters: bytes = b"{}"
    """What the submission has beside its queries, as JSON."""
    queries: int = 0
    """How many queries it has."""


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
