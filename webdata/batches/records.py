"""What callers read about batches, with its schemas."""

from datetime import datetime
from typing import Any

from webdata.batches.queries import MOST_RETRIES
from webdata.domain.query_schema import an_object
from webdata.stores.batches.model import Batch

WITH_RECORD = ("ok", "empty", "degraded")
"""Outcomes of rows that have a record; all others are failures."""
MOST_SECONDS_LEFT = 10 * 365 * 86_400


def batch_record(batch: Batch, now: datetime) -> dict[str, Any]:
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
        "started": batch.started and batch.started.isoformat(),
        "ended": batch.ended and batch.ended.isoformat(),
        "deleted": batch.deleted and batch.deleted.isoformat(),
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


def _waiting_record(batch: Batch) -> dict[str, Any] | None:
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


TEXT = {"type": "string"}
TEXT_OR_NULL = {"type": ["string", "null"]}
COUNT = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "format": "date-time"}
TIME_OR_NULL = {"type": ["string", "null"], "format": "date-time"}
BATCH_FIELDS: dict[str, Any] = {
    "id": TEXT,
    "resource": {**TEXT, "description": "the endpoint that answers its queries"},
    "label": TEXT,
    "priority": {"type": "integer"},
    "region": {**TEXT_OR_NULL, "description": "that of queries that name none"},
    "device": {**TEXT_OR_NULL, "description": "that of queries that name none"},
    "retries": {**COUNT, "description": "how often a query that was lost in a way that may pass is tried again"},
    "webhook": {**TEXT_OR_NULL, "description": "the webhook that receives its events"},
    "test": {"type": "boolean", "description": "whether a test key made it: the sandbox answers it, without credits"},
    "state": {"enum": ["queued", "running", "paused", "done", "cancelled"]},
    "reason": {
        **TEXT_OR_NULL,
        "description": "why it is paused: `requested`, `out_of_credits`, `key_revoked`, `quota_exceeded`",
    },
    "created": TIME,
    "started": {**TIME_OR_NULL, "description": "when its first query began"},
    "ended": {**TIME_OR_NULL, "description": "when it was done or cancelled"},
    "deleted": {**TIME_OR_NULL, "description": "when its queries and results were deleted"},
    "rows": {**COUNT, "description": "its queries"},
    "rows_ended": {**COUNT, "description": "those that have ended"},
    "rows_failed": {**COUNT, "description": "those that have ended without a record"},
    "waiting": {
        "type": ["object", "null"],
        "description": "those that wait for another try, since they were blocked or their engine is left alone",
        "required": ["rows", "next_try"],
        "properties": {"rows": COUNT, "next_try": {**TIME, "description": "when the first of them is tried"}},
        "additionalProperties": False,
    },
    "outcomes": {"type": "object", "additionalProperties": COUNT, "description": "their number by outcome"},
    "cached": {**COUNT, "description": "those that were answered from the cache"},
    "cost": {**COUNT, "description": "credits that it has cost so far"},
    "rate": {"type": ["number", "null"], "description": "queries a second since its start"},
    "seconds_left": {
        "type": ["integer", "null"],
        "description": "until its end, at that rate; null while queries wait",
    },
}
BATCH = an_object(**BATCH_FIELDS)
BATCHES = an_object(
    batches={"type": "array", "items": BATCH},
    next={**TEXT_OR_NULL, "description": "`before` of the next page; null on the last"},
)
SUBMITTED = an_object(
    **BATCH_FIELDS,
    rejected={**COUNT, "description": "queries that cannot be run, and were skipped"},
    problems={
        "type": "array",
        "description": "why, for the first 100 of them",
        "items": an_object(
            loc={"type": "array", "items": {"type": ["string", "integer"]}, "description": "the line and the field"},
            msg={**TEXT, "description": "what is wrong, and what would be right"},
            type=TEXT,
        ),
    },
    ignored={"type": "array", "items": TEXT, "description": "fields of queries that have no effect"},
)
FAILURES = an_object(
    kinds={
        "type": "array",
        "description": "how many failed, by outcome and kind",
        "items": an_object(outcome=TEXT, kind=TEXT_OR_NULL, rows=COUNT),
    },
    failures={
        "type": "array",
        "items": an_object(
            row={**COUNT, "description": "the number of the query in what was submitted"},
            outcome={**TEXT, "description": "as that of a call, or `internal`"},
            kind={**TEXT_OR_NULL, "description": "what kind of it, such as `captcha`"},
            error={**TEXT_OR_NULL, "description": "what happened"},
            attempts=COUNT,
            ended=TIME,
            query={"type": ["object", "null"]},
        ),
    },
    next={"type": ["integer", "null"], "description": "`after` of the next page; null on the last"},
)
EXAMPLE = {"resource": "web_search", "queries": [{"q": "coffee"}, {"q": "tea"}], "label": "drinks"}
SUBMISSION_BODY = {
    "application/json": {
        "schema": {
            "type": "object",
            "required": ["resource", "queries"],
            "properties": {
                "resource": TEXT,
                "queries": {"type": "array", "items": {"type": "object"}, "maxItems": 10_000, "minItems": 1},
                "region": TEXT_OR_NULL,
                "device": TEXT_OR_NULL,
                "label": TEXT,
                "priority": {"type": "integer", "minimum": 1, "maximum": 9},
                "retries": {"type": "integer", "minimum": 0, "maximum": MOST_RETRIES},
                "webhook": TEXT_OR_NULL,
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
