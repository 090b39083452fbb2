"""The log of calls. Times are aware, in UTC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

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
    """Credits that it cost."""
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
    """Only calls that began earlier."""
    resource: str | None = None
    text: str | None = None
    """A part of the query. By this and by the resource only the latest calls are found (`SEARCHED_CALLS`)."""


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


def id_at(time: datetime) -> str:
    """The least id of requests that began at a time or later (`req_` and a ULID)."""
    return f"req_{str(ULID.from_datetime(time))[:10]}{'0' * 16}"
