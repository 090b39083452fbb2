"""What callers read about batches."""

from datetime import datetime
from typing import Any, TypedDict

from webdata.batches.queries import MOST_RETRIES
from webdata.domain.in_schema import InSchema
from webdata.domain.outcome import WITH_RECORD
from webdata.domain.shapes import Natural, Time, time_or_null
from webdata.stores.batches.model import Batch, BatchState

MOST_SECONDS_LEFT = 10 * 365 * 86_400


@InSchema(closed=True)
class WaitingRecord(TypedDict):
    """Queries that wait for another try."""

    rows: Natural
    next_try: Time
    """When the first of them is tried."""


@InSchema(closed=True)
class BatchRecord(TypedDict):
    """A batch as its owner sees it."""

    id: str
    resource: str
    """The endpoint that answers its queries."""
    label: str
    priority: int
    region: str | None
    """That of queries that name none."""
    device: str | None
    """That of queries that name none."""
    retries: Natural
    """How often a query that was lost in a way that may pass is tried again."""
    webhook: str | None
    """The webhook that receives its events."""
    test: bool
    """Whether a test key made it: the sandbox answers it, without credits."""
    state: BatchState
    reason: str | None
    """Why it is paused: `requested`, `out_of_credits`, `key_revoked`, `quota_exceeded`."""
    created: Time
    started: Time | None
    """When its first query began."""
    ended: Time | None
    """When it was done or cancelled."""
    deleted: Time | None
    """When its queries and results were deleted."""
    rows: Natural
    """Its queries."""
    rows_ended: Natural
    """Those that have ended."""
    rows_failed: Natural
    """Those that have ended without a record."""
    waiting: WaitingRecord | None
    """Those that wait for another try, since they were blocked or their engine is left alone."""
    outcomes: dict[str, Natural]
    """Their number by outcome."""
    cached: Natural
    """Those that were answered from the cache."""
    cost: Natural
    """Credits that it has cost so far."""
    rate: float | None
    """Queries a second since its start."""
    seconds_left: int | None
    """Until its end, at that rate; null while queries wait."""


@InSchema(closed=True)
class BatchesRecord(TypedDict):
    """Some batches of an account."""

    batches: list[BatchRecord]
    next: str | None
    """`before` of the next page; null on the last."""


@InSchema(closed=True)
class LineProblem(TypedDict):
    """What is wrong with a query of a submission."""

    loc: list[str | int]
    """The line and the field."""
    msg: str
    """What is wrong, and what would be right."""
    type: str


@InSchema(closed=True)
class SubmittedRecord(BatchRecord):
    """A batch that was submitted, and what of it cannot be run."""

    rejected: Natural
    """Queries that cannot be run, and were skipped."""
    problems: list[LineProblem]
    """Why, for the first 100 of them."""
    ignored: list[str]
    """Fields of queries that have no effect."""


@InSchema(closed=True)
class FailuresOfKind(TypedDict):
    """How many queries failed in one way."""

    outcome: str
    kind: str | None
    rows: Natural


@InSchema(closed=True)
class FailureRecord(TypedDict):
    """A query that has no record, and why."""

    row: Natural
    """The number of the query in what was submitted."""
    outcome: str
    """As that of a call, or `internal`."""
    kind: str | None
    """What kind of it, such as `captcha`."""
    error: str | None
    """What happened."""
    attempts: Natural
    ended: Time
    query: dict[str, Any] | None


@InSchema(closed=True)
class FailuresRecord(TypedDict):
    """Some failures of a batch."""

    kinds: list[FailuresOfKind]
    """How many failed, by outcome and kind."""
    failures: list[FailureRecord]
    next: int | None
    """`after` of the next page; null on the last."""


def batch_record(batch: Batch, now: datetime) -> BatchRecord:
    """A batch as its owner sees it."""
    counts = batch.counts
    rate = _rate(batch, now)
    return {
        "id": batch.id,
        "resource": batch.resource,
        "label": batch.label,
        "priority": batch.priority,
        "region": batch.region,
        "device": batch.device,
        "retries": batch.rounds,
        "webhook": batch.webhook_id,
        "test": batch.test,
        "state": batch.state,
        "reason": batch.reason,
        "created": batch.created.isoformat(),
        "started": time_or_null(batch.started),
        "ended": time_or_null(batch.ended),
        "deleted": time_or_null(batch.deleted),
        "rows": batch.rows,
        "rows_ended": counts.ended,
        "rows_failed": sum(number for outcome, number in counts.outcomes.items() if outcome not in WITH_RECORD),
        "waiting": _waiting_record(batch),
        "outcomes": dict(counts.outcomes),
        "cached": counts.cached,
        "cost": counts.cost,
        "rate": rate and round(rate, 2),
        "seconds_left": _seconds_left(batch, rate),
    }


def _waiting_record(batch: Batch) -> WaitingRecord | None:
    if batch.waiting is None:
        return None
    return {"rows": batch.waiting.rows, "next_try": batch.waiting.next_try.isoformat()}


def _rate(batch: Batch, now: datetime) -> float | None:
    """Rows a second since the start."""
    if batch.started is None:
        return None
    seconds = ((batch.ended or now) - batch.started).total_seconds()
    return batch.counts.ended / seconds if seconds > 0 else None


def _seconds_left(batch: Batch, rate: float | None) -> int | None:
    if batch.state != "running" or not rate or batch.waiting:
        return None
    return min(round((batch.rows - batch.counts.ended) / rate), MOST_SECONDS_LEFT)


EXAMPLE = {"resource": "web_search", "queries": [{"q": "coffee"}, {"q": "tea"}], "label": "drinks"}
SUBMISSION_BODY = {
    "application/json": {
        "schema": {
            "type": "object",
            "required": ["resource", "queries"],
            "properties": {
                "resource": {"type": "string"},
                "queries": {"type": "array", "items": {"type": "object"}, "maxItems": 10_000, "minItems": 1},
                "region": {"type": ["string", "null"]},
                "device": {"type": ["string", "null"]},
                "label": {"type": "string"},
                "priority": {"type": "integer", "minimum": 1, "maximum": 9},
                "retries": {"type": "integer", "minimum": 0, "maximum": MOST_RETRIES},
                "webhook": {"type": ["string", "null"]},
                "on_invalid": {"enum": ["reject", "skip"]},
            },
        },
        "example": EXAMPLE,
    },
    "application/octet-stream": {
        "schema": {
            "type": "string",
            "format": "binary",
            "description": "a query a line, as JSON; also as application/x-ndjson. The parameters are in the URL",
        },
    },
}
"""The bodies of a submission, as in OpenAPI."""
