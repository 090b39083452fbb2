"""What callers send to `/v1/batches`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from webdata.domain.query import DEVICES, REGIONS, Device, Query, Region, lower, upper
from webdata.domain.shapes import described
from webdata.stores.batches.model import MOST_ROUNDS, BatchState

MOST_LABEL = 200
MOST_RETRIES = 10
MOST_LISTED = 100
MOST_RESULTS = 10_000
"""Queries of one page of results."""
MOST_FAILURES = 1000
"""The failures on one page."""

BatchId = Annotated[str, described("the id of the batch", "bat_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]
Format = Literal["records", "rows", "csv"]
LARGEST_ROW = 2**31 - 1
"""The largest whole number of a column of rows."""
Cursor = Annotated[
    int, described("the row of the last query that you have, such as 1000: those behind it", 1000, ge=0, le=LARGEST_ROW)
]


RESOURCE = described("the endpoint that answers the queries, by its name", "web_search")


class BatchParameters(Query):
    """The parameters of a new batch, as they are in the URL: others may be members of its body."""

    resource: Annotated[str | None, RESOURCE] = None
    region: Annotated[
        Region | None,
        BeforeValidator(upper),
        described(f"the region of queries that name none: one of {REGIONS}", "DE"),
    ] = None
    device: Annotated[
        Device | None,
        BeforeValidator(lower),
        described(f"the device of queries that name none: one of {DEVICES}", "mobile"),
    ] = None
    label: Annotated[str, described("what it is for", "prices of May", max_length=MOST_LABEL)] = ""
    priority: Annotated[
        int, described("from 1 to 9: among the batches of the account those of a higher one go first", 5, ge=1, le=9)
    ] = 5
    retries: Annotated[
        int,
        described(
            f"from 0 to {MOST_RETRIES}: how often a query that was blocked, or whose upstream failed, is tried "
            "again, later each time, before it is a failure; 0: at once",
            2,
            ge=0,
            le=MOST_RETRIES,
        ),
    ] = MOST_ROUNDS
    webhook: Annotated[
        str | None,
        described(
            "the id of a webhook that receives this batch's events, whatever events it has",
            "whk_01KAGX9Y3QZ8V5M2N7R4T6W0BC",
        ),
    ] = None
    on_invalid: Annotated[
        Literal["reject", "skip"],
        described("reject or skip: what happens to all queries where some cannot be run", "skip"),
    ] = "reject"


class NewBatch(BatchParameters):
    """All parameters of a new batch."""

    resource: Annotated[str, RESOURCE]


class BatchQuery(Query):
    """The id of one batch."""

    id: BatchId


class BatchesQuery(Query):
    """Some of the batches of an account."""

    limit: Annotated[int, described(f"how many, from 1 to {MOST_LISTED}", 20, ge=1, le=MOST_LISTED)] = 20
    before: Annotated[
        str | None, described("the `next` of the page before: older batches", "bat_01KAGX9Y3QZ8V5M2N7R4T6W0BC")
    ] = None
    state: Annotated[
        BatchState | None, described("queued, running, paused, done or cancelled: those alone", "running")
    ] = None


class ResultsQuery(BatchQuery):
    """Some of the results of a batch."""

    after: Cursor = 0
    limit: Annotated[int, described(f"how many, from 1 to {MOST_RESULTS}", 1000, ge=1, le=MOST_RESULTS)] = 1000
    format: Annotated[
        Format,
        described("records: a query a line, with its record; rows: a result a line; csv: a result a row", "records"),
    ] = "records"


class FailuresQuery(BatchQuery):
    """Some of the failures of a batch."""

    after: Cursor = 0
    limit: Annotated[int, described(f"how many, from 1 to {MOST_FAILURES}", 100, ge=1, le=MOST_FAILURES)] = 100
