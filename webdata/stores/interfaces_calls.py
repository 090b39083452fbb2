"""The interfaces of what people look at: the log of calls, and the history of the ledger. Times are aware, in UTC."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from ulid import ULID

from webdata.domain.attempts import Attempt

Dimension = Literal["outcome", "engine", "key", "seconds"]
"""What the sums of calls are divided by; `seconds` by SECONDS."""
Span = Literal["hour", "day"]

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0, 25.0)
"""Upper bounds of the time that calls took; longer ones are counted as `inf`."""


class LoggedCall(NamedTuple):
    """A call that ended, with the query and without the answer."""

    id: str
    """That of its request. Ids sort by the time at which the calls began (see `id_at`)."""
    time: datetime
    """When it ended, to the second."""
    account_id: str
    key_id: str
    test: bool
    """Whether its key is a test key."""
    resource: str
    """Its name, such as `web_search`."""
    engine: str
    """The engine that answered, or the last one that was asked; empty where none was."""
    outcome: str
    """As in the ledger (see `webdata.domain.errors.outcome_of`)."""
    code: str
    """The code of the error; empty for an answer."""
    message: str
    """What its caller read about the error."""
    transport: str
    """That of the page, or of the last attempt; empty where there was none."""
    cost: int
    """Credits."""
    cached: bool
    seconds: float
    """From the request to the answer."""
    timings: Mapping[str, float] = {}
    """Seconds by phase (see `Answer.timings`)."""
    query: Mapping[str, Any] = {}
    """The fields of the query that differ from their defaults, with secrets masked."""
    attempts: Sequence[Attempt] = ()


@dataclass(frozen=True)
class CallFilter:
    """Which calls are wanted: those that fit all that is given."""

    outcome: str | None = None
    engine: str | None = None
    key_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Those that began earlier."""


class CallTotal(NamedTuple):
    """The calls with one value of a dimension."""

    value: str
    calls: int
    credits: int
    cached: int


class CallSum(NamedTuple):
    """The number of calls that ended in one hour or day, with one value of a dimension; "" for all other values."""

    begins: datetime
    value: str
    calls: int


class CallLog(Protocol):
    """The calls of accounts. It is best effort: no call depends on it, and a crash of the machine may lose the last."""

    async def add(self, calls: Sequence[LoggedCall]) -> None:
        """Add calls, and their sums; a call that was added before changes nothing.

        Raises DatabaseAwayError, and ValueError for calls that cannot be stored.
        """
        ...

    async def page(
        self, account_id: str, wanted: CallFilter, limit: int, before: str | None = None
    ) -> Sequence[LoggedCall]:
        """The latest calls of an account, the newest first; those `before` an id, where one is given."""
        ...

    async def find(self, request_id: str, account_id: str | None = None) -> LoggedCall | None:
        """The call, if it is the account's; that of any account, where none is given."""
        ...

    async def totals(self, account_id: str, span: Span, dimension: Dimension, since: datetime) -> Sequence[CallTotal]:
        """The calls of the hours or days that begin at `since` or later by each value of a dimension, most first."""
        ...

    async def sums(
        self, account_id: str, span: Span, dimension: Dimension, since: datetime, values: Collection[str]
    ) -> Sequence[CallSum]:
        """The calls of each of those hours or days by these values, and those with other values together."""
        ...

    async def remove_old(self, before: datetime, most: int) -> int:
        """Remove at most so many calls, and as many sums, that are older than `before`; returns how many calls."""
        ...


Kind = Literal["credit", "reserve", "commit", "release", "charge", "free"]
Bucket = Literal["issued", "balance", "reserved", "spent"]


class Movement(NamedTuple):
    """One row of the ledger, immutable."""

    time: datetime
    kind: Kind
    account_id: str
    source: Bucket
    target: Bucket
    amount: int
    request_id: str | None = None
    key_id: str | None = None
    endpoint: str | None = None
    outcome: str | None = None
    cached: bool = False
    note: str = ""


@dataclass(frozen=True)
class MovementFilter:
    """Which movements are wanted."""

    kind: Kind | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Earlier ones."""


class Cursor(NamedTuple):
    """The place of a movement in the ledger."""

    time: datetime
    id: int


class MovementSum(NamedTuple):
    """The movements of one kind out of one bucket."""

    kind: Kind
    source: Bucket
    movements: int
    amount: int

    @property
    def change(self) -> int:
        """How they have changed the balance."""
        if self.source == "balance":
            return -self.amount
        return 0 if self.kind == "commit" else self.amount


class AccountSums(NamedTuple):
    """The balance of an account, and the sums of all its movements, which add up to it."""

    balance: int
    sums: Sequence[MovementSum]


class LedgerHistory(Protocol):
    """The movements of the ledger, for people."""

    async def page(
        self, account_id: str, wanted: MovementFilter, limit: int, before: Cursor | None = None
    ) -> Sequence[tuple[Cursor, Movement]]:
        """The latest movements of an account, the newest first; those `before` another one, where it is given."""
        ...

    async def of_request(self, account_id: str, request_id: str) -> Sequence[tuple[Cursor, Movement]]:
        """The movements of one request, the newest first."""
        ...

    async def sums(self, account_id: str) -> AccountSums:
        """The sums of all movements, of one moment. Raises LookupError for an unknown account."""
        ...

    async def days(self, account_id: str, since: datetime) -> Mapping[str, Sequence[MovementSum]]:
        """The sums of the days (`2026-07-01`, in UTC) from that of `since` on, without empty days."""
        ...

    async def add_up(self, most: int) -> int:
        """Store the sums of at most so many further movements, so that the methods above need not read them again.

        Returns how many. The sums are exact whether or not it was called.
        """
        ...


def id_at(time: datetime) -> str:
    """The least id of requests that began at a time or later (`req_` and a ULID)."""
    return f"req_{str(ULID.from_datetime(time))[:10]}{'0' * 16}"
