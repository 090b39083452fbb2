"""The two APIs that Open WebUI calls on a server of one's own: an external web search, and an external web loader.

Their forms are those of Open WebUI's documentation, https://docs.openwebui.com: results have `link`, `title` and
`snippet`; pages are documents with `page_content` and `metadata`.
"""

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, not_blank
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.problems import ProblemDetails
from webdata.faces.dialects.calls import CallOf, DialectCalls, MadeCall, answered, read_body, read_query, refused
from webdata.faces.dialects.pages import PAGES, facts_of, page_call
from webdata.faces.dialects.plain_results import plain_results
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply

PREFIX = "openwebui"
SEARCH = "web_search"
MOST_PAGES = 50
"""Pages of one request: Open WebUI asks for 20."""
SEARCH_EXAMPLE = '{"query": "coffee shops", "count": 10}'
PAGES_EXAMPLE = '{"urls": ["https://example.com/"]}'
NAMES = {"q": "query", "num": "count"}


class OpenWebuiSearch(Query):
    """A search."""

    query: Annotated[str, AfterValidator(not_blank), Field(description="the search terms, such as coffee shops")]
    count: Annotated[int, Field(ge=1, le=100, description="a whole number from 1 to 100, such as 10")] = 10


class OpenWebuiPages(Query):
    """Pages to load."""

    urls: Annotated[
        tuple[str, ...],
        Field(min_length=1, max_length=MOST_PAGES, description=f"a list of 1 to {MOST_PAGES} URLs of pages"),
    ]


class OpenWebui:
    """`/openwebui`."""

    def __init__(self, calls: DialectCalls) -> None:
        self._calls = calls

    def door(self) -> Door:
        """Its routes."""
        search = RouteContract("search the web", OpenWebuiSearch, {"query": "coffee shops", "count": 10})
        load = RouteContract("load pages as documents", OpenWebuiPages, {"urls": ["https://example.com/"]})
        routes = [
            DoorRoute(f"/{PREFIX}/search", self._search, contract=search),
            DoorRoute(f"/{PREFIX}/load", self._load, contract=load),
        ]
        return Door((PREFIX,), "Open WebUI's external search and loader", routes, refusal)

    async def _search(self, incoming: Incoming) -> Reply:
        resource = self._calls.resources[SEARCH]
        try:
            asked = read_body(OpenWebuiSearch, incoming, SEARCH_EXAMPLE)
        except QueryError as error:
            return await self._calls.refuse(incoming, resource, error, refusal)
        read = partial(read_query, resource, {"q": asked.query, "num": asked.count}, NAMES)
        made = await self._calls.one(incoming, CallOf(resource, read))
        if made.failed:
            return refused([made], refusal)
        results = plain_results(resource, made.record)[: asked.count]
        return answered([made], [{"link": one.url, "title": one.title, "snippet": one.text} for one in results])

    async def _load(self, incoming: Incoming) -> Reply:
        resource = self._calls.resources[PAGES]
        try:
            urls = read_body(OpenWebuiPages, incoming, PAGES_EXAMPLE).urls
        except QueryError as error:
            return await self._calls.refuse(incoming, resource, error, refusal)
        wanted = [{"url": url, "formats": ["markdown", "metadata"], "content": "main"} for url in urls]
        made = await self._calls.several(incoming, [page_call(resource, values, {"url": "urls"}) for values in wanted])
        if all(one.failed for one in made):
            return refused(made, refusal)
        return answered(made, [_document(url, one) for url, one in zip(urls, made, strict=True)])


def _document(url: str, made: MadeCall) -> dict[str, Any]:
    """A page; one that was not fetched is empty, and its metadata say why."""
    if made.failed:
        problem = made.problem
        return {"page_content": "", "metadata": {"source": url, "error": problem.message, "code": problem.code}}
    record = made.record
    return {"page_content": record["markdown"], "metadata": {"source": record["url"], **facts_of(record)}}


def refusal(problem: ProblemDetails, request_id: str) -> Reply:
    """An error: Open WebUI has no form of its own for them, and logs what it gets."""
    return problem.reply(request_id)
