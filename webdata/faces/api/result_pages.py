"""The pages of a search's first results: calls of the search's own caller, whose ends are shown beside the results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from webdata.accounts.access.admission import CallRequest, CallResult
from webdata.accounts.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import UpstreamTimeoutError, outcome_of
from webdata.domain.query import Query, Remarks
from webdata.domain.records import Record
from webdata.faces.api.calling import Called, Calling
from webdata.faces.api.problems import problem_of
from webdata.faces.api.replies import record_of
from webdata.faces.api.side_calls import side_by_side
from webdata.resources import PAGE, Resource, first_text
from webdata.resources.result_pages import MOST_PAGES, PagesQuery
from webdata.resources.url_request import URL_REQUEST
from webdata.runtime.server.replies import new_request_id

GRACE = 0.1
"""Seconds after the end of the time, for the replies of calls that end with it."""


async def with_pages(
    calls: Calling, request: CallRequest, result: CallResult, seconds: float
) -> tuple[CallResult, list[Called]]:
    """The result of a search with the pages that its query asks for, and the calls that were made for them.

    Each page is a call within so many seconds, and one that fails is a page that says why.
    """
    query, end = result.query, result.end
    if not isinstance(query, PagesQuery) or not query.content or isinstance(end, Exception):
        return result, []
    record = record_of(end)
    rows = request.resource.results(record)[: query.content]
    asked = _page_requests(request, query, seconds, _urls(request.resource, rows))
    made = dict(zip(asked, await side_by_side(calls, list(asked.values()), MOST_PAGES, seconds + GRACE), strict=True))
    pages = {url: _page(asked[url], made[url]) for url in asked}
    shown = _with_rows(request.resource, record, pages, len(rows))
    return replace(result, end=_with_record(end, shown)), [one for one in made.values() if one]


def _urls(resource: Resource, rows: Sequence[Record]) -> list[str]:
    assert resource.result_fields, "it is a search"
    return [first_text(row, resource.result_fields.url) for row in rows]


def _page_requests(
    request: CallRequest, query: PagesQuery, seconds: float, urls: Sequence[str]
) -> dict[str, CallRequest]:
    """The calls for pages, by their URLs: each once."""
    return {
        url: replace(
            request,
            id=new_request_id(),
            resource=URL_REQUEST,
            read=partial(_read, query, url),
            check=lambda: None,  # the search's own has been checked
            within=seconds,
        )
        for url in urls
    }


def _read(query: PagesQuery, url: str) -> tuple[Query, Remarks]:
    return query.page_query(url), Remarks()


def _page(request: CallRequest, called: Called | None) -> dict[str, Any]:
    """What a result has of its page: Markdown, or why there is none."""
    if called is None:
        return _failed(request, UpstreamTimeoutError("no page within the time that was left", "timeout"))
    called.release()
    end, query = called.result.end, called.result.query
    if isinstance(end, Exception):
        return _failed(request, end)
    assert query, "it has been run"
    record = URL_REQUEST.part(record_of(end), query)
    outcome = end.entry.outcome if isinstance(end, Hit) else end.outcome
    return {
        "outcome": outcome,
        "request_id": request.id,
        "url": record["config"]["url"],
        "status": record["status"],
        "markdown": record["data"],
        **({"next": record["next"]} if "next" in record else {}),
        **({"truncated": True} if record["config"].get("truncated") else {}),
    }


def _failed(request: CallRequest, error: Exception) -> dict[str, Any]:
    problem = problem_of(error)
    said = {"code": problem.code, "message": problem.message}
    return {"outcome": outcome_of(error), "request_id": request.id, "error": said}


def _with_rows(resource: Resource, record: Record, pages: Mapping[str, Any], count: int) -> Record:
    """The record, of whose first results each has its page."""
    assert resource.rows, "it is a search"
    rows = resource.results(record)
    paged = zip(rows, _urls(resource, rows[:count]), strict=False)
    return {**record, resource.rows: [*({**row, PAGE: pages[url]} for row, url in paged), *rows[count:]]}


def _with_record(end: Answer | Hit, record: Record) -> Answer | Hit:
    """An answer with another record."""
    if isinstance(end, Answer):
        return replace(end, record=record)
    return replace(end, entry=replace(end.entry, body=orjson.dumps(record)))
