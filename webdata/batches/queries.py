"""What callers send to `/v1/batches`."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from webdata.domain.query import DEVICES, REGIONS, Device, Query, Region, lower, upper
from webdata.stores.batches.model import MOST_ROUNDS

MOST_LABEL = 200
MOST_RETRIES = 10
MOST_LISTED = 100
MOST_RESULTS = 10_000
"""Queries of one page of results."""
MOST_FAILURES = 1000
"""The failures on one page."""

BatchId = Annotated[str, Field(description="the id of the batch", examples=["bat_01KAGX9Y3QZ8V5M2N7R4T6W0BC"])]
State = Literal["queued", "running", "paused", "done", "cancelled"]
Format = Literal["records", "rows", "csv"]
LARGEST_ROW = 2**31 - 1
"""The largest whole number of a column of rows."""
Cursor = Annotated[
    int,
    Field(
        ge=0,
        le=LARGEST_ROW,
        description="the row of the last query that you have, such as 1000: those behind it",
        examples=[1000],
    ),
]


RESOURCE = Field(description="the endpoint that answers the queries, by its name", examples=["web_search"])


class BatchParameters(Query):
    """The parameters of a new batch, as they are in the URL: others may be members of its body."""

    resource: Annotated[str | None, RESOURCE] = None
    region: Annotated[
        Region | None,
        BeforeValidator(upper),
        Field(description=f"the region of queries that name none: one of {REGIONS}", examples=["DE"]),
    ] = None
    device: Annotated[
        Device | None,
        BeforeValidator(lower),
        Field(description=f"the device of queries that name none: one of {DEVICES}", examples=["mobile"]),
    ] = None
    label: Annotated[str, Field(max_length=MOST_LABEL, description="what it is for", examples=["prices of May"])] = ""
    priority: Annotated[
        int,
        Field(
            ge=1,
            le=9,
            description="from 1 to 9: among the batches of the account those of a higher one go first",
            examples=[5],
        ),
    ] = 5
    retries: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_RETRIES,
            description=(
                f"from 0 to {MOST_RETRIES}: how often a query that was blocked, or whose upstream failed, is tried "
                "again, later each time, before it is a failure; 0: at once"
            ),
            examples=[2],
        ),
    ] = MOST_ROUNDS
    webhook: Annotated[
        str | None,
        Field(
            description="the id of a webhook that receives this batch's events, whatever events it has",
            examples=["whk_01KAGX9Y3QZ8V5M2N7R4T6W0BC"],
        ),
    ] = None
    on_invalid: Annotated[
        Literal["reject", "skip"],
        Field(
            description="reject or skip: what happens to all queries where some cannot be run",
            examples=["skip"],
        ),
    ] = "reject"


class NewBatch(BatchParameters):
    """All parameters of a new batch."""

    resource: Annotated[str, RESOURCE]


class BatchQuery(Query):
    """The id of one batch."""

    id: BatchId


class BatchesQuery(Query):
    """Some of the batches of an account."""

    limit: Annotated[
        int, Field(ge=1, le=MOST_LISTED, description=f"how many, from 1 to {MOST_LISTED}", examples=[20])
    ] = 20
    before: Annotated[
        str | None,
        Field(description="the `next` of the page before: older batches", examples=["bat_01KAGX9Y3QZ8V5M2N7R4T6W0BC"]),
    ] = None
    state: Annotated[
        State | None,
        Field(description="queued, running, paused, done or cancelled: those alone", examples=["running"]),
    ] = None


class ResultsQuery(BatchQuery):
    """Some of the results of a batch."""

    after: Cursor = 0
    limit: Annotated[
        int,
        Field(ge=1, le=MOST_RESULTS, description=f"how many, from 1 to {MOST_RESULTS}", examples=[1000]),
    ] = 1000
    format: Annotated[
        Format,
        Field(
            description="records: a query a line, with its record; rows: a result a line; csv: a result a row",
            examples=["records"],
        ),
    ] = "records"


class FailuresQuery(BatchQuery):
    """Some of the failures of a batch."""

    after: Cursor = 0
    limit: Annotated[
        int,
        Field(ge=1, le=MOST_FAILURES, description=f"how many, from 1 to {MOST_FAILURES}", examples=[100]),
    ] = 100
