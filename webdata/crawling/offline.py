"""Saved pages: the parsers of an engine run over files, without a network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapy.http import Headers, Response

from webdata.crawling.cases import Case
from webdata.crawling.engine import EngineSpider
from webdata.domain.errors import FetchError, UnsupportedContentError
from webdata.domain.query import Query
from webdata.pipelines.envelope import ParsedPage, envelope
from webdata.pipelines.validate import validate
from webdata.resources import Resource


@dataclass(frozen=True)
class SavedPage:
    """A page, and what is known of the response that it came in."""

    body: bytes
    url: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    """Those of Scrapy's response."""


def page_of(case: Case) -> SavedPage:
    """The page of a case."""
    return SavedPage(case.body, case.response["url"], case.response["status"], case.response["headers"])


async def judge(spider: EngineSpider, page: SavedPage, given: Mapping[str, str]) -> dict[str, Any]:
    """The verdict on the page, `{"outcome", "kind", "reason", "record"}`, for a query of the `given` fields.

    Raises QueryError when the given fields cannot be run, RecordError for a fault of ours.
    """
    try:
        found = await valid_page(spider, page, given)
    except FetchError as error:
        return {"outcome": error.outcome, "kind": error.kind, "reason": error.reason, "record": None}
    except UnsupportedContentError as error:
        return {"outcome": "invalid", "kind": None, "reason": str(error), "record": None}
    return {"outcome": found.outcome, "kind": None, "reason": None, "record": envelope(found)}


async def valid_page(spider: EngineSpider, page: SavedPage, given: Mapping[str, str]) -> ParsedPage:
    """The page, parsed for a query of the `given` fields; raises the errors of its spider, and RecordError."""
    resource, query = query_of(spider, page.body, given)
    found = await spider.parsed(_response(spider, page, query), query)
    validate(resource, envelope(found))
    return found


def left_out(spider: EngineSpider, page: SavedPage, given: Mapping[str, str]) -> list[tuple[str, str]]:
    """The parts of the page that its record leaves out, each after the rule that did, for a query of `given`."""
    _, query = query_of(spider, page.body, given)
    return spider.left_out(_response(spider, page, query), query)


def query_of(spider: EngineSpider, body: bytes, given: Mapping[str, str]) -> tuple[Resource, Query]:
    """The query that the page answers, and its resource: the given fields, before those that the page itself shows."""
    resource, fields = spider.chosen({**spider.shown_query(body), **given})
    if not given and "q" in resource.query.model_fields and not fields.get("q"):
        return resource, resource.query.model_construct(q="")  # a page without its query is still judged
    resource.query.refuse_in_batches(fields)
    return resource, resource.query.check(fields)


def _response(spider: EngineSpider, page: SavedPage, query: Query) -> Response:
    request = spider.prepared(query)
    url = page.url or request.url
    return Response(
        url, status=page.status, headers=Headers(page.headers), body=page.body, flags=[*page.flags], request=request
    )
