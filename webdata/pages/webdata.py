"""The answers of another webdata: the records of the same resources, without their envelope."""

from typing import Any

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.domain.query import Query
from webdata.pages.upstreams.answers import PLAN, answer

ENVELOPE = ("query", "ts", "device_region", "device_type", "parsed_at")
SPENT = b'"out_of_credits"'
"""The code of a problem where its account has no credits."""
MARKS = {
    "ImageQuery": "image_results",
    "NewsQuery": "entries",
    "MapsQuery": "places",
    "ScholarQuery": "articles",
    "JobQuery": "jobs",
}
"""The list of results of each query's record; `results` for the others."""


def record(body: bytes, query: Query) -> Any:
    """The record of an answer; raises LayoutError for one without the list of its results."""
    found = answer(body)
    mark = MARKS.get(type(query).__name__, "results")
    if not isinstance(found.get(mark), list):
        raise LayoutError(f"the list of {mark}")
    return {name: value for name, value in found.items() if name not in ENVELOPE}


def refusal(status: int, body: bytes) -> UpstreamError | None:
    """The error of an account without credits, whose status is 429."""
    return UpstreamError("the API answered 429", PLAN) if status == 429 and SPENT in body[:4000] else None
