"""The API of Firecrawl in its versions 1 and 2, https://docs.firecrawl.dev: pages, searches, and batches of pages.

Its routes are under `/firecrawl`, and at the root where nothing else has them: Firecrawl's own client of Python asks
there, whatever path its base URL has.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import orjson

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, Remarks
from webdata.domain.records import Record
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.problems import ProblemDetails
from webdata.faces.dialects.calls import (
    CallOf,
    DialectCalls,
    MadeCall,
    answered,
    located,
    read_body,
    refused,
    search_query,
    wrong,
)
from webdata.faces.dialects.firecrawl_options import FORMS, NAMES, FirecrawlPage, FirecrawlScrape, FirecrawlSearch
from webdata.faces.dialects.pages import ANY_URL, PAGES, data_url, page_call, page_query
from webdata.faces.dialects.plain_results import PlainResult, plain_results
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply
from webdata.stores.accounts.model import Caller

PREFIX = "firecrawl"
VERSIONS = ("v1", "v2")
SOURCES = {"web": "web_search", "news": "news_search", "images": "image_search"}
"""The resources that answer the sources of a search."""
SEARCH_NAMES = {"q": "query", "num": "limit", "hl": "lang", "gl": "country", "region": "country"}
"""Firecrawl's names of the fields of a search."""
NOT_MADE = ("crawl", "map", "extract", "agent", "deep-research", "llmstxt")
LEAST_SECONDS = 0.001
"""What a call gets whose time is over: it then says so."""
PAGE_EXAMPLE = '{"url": "https://example.com/", "formats": ["markdown"]}'
SEARCH_EXAMPLE = '{"query": "coffee shops", "limit": 5}'
STATUSES = {"validation_error": 400, "out_of_credits": 402, "upstream_timeout": 408}
"""The statuses of problems that Firecrawl answers with others than `/v1`."""
CODES = {
    "validation_error": "BAD_REQUEST",
    "upstream_timeout": "SCRAPE_TIMEOUT",
    "blocked": "SCRAPE_ALL_ENGINES_FAILED",
    "upstream_failed": "SCRAPE_ALL_ENGINES_FAILED",
}
"""Firecrawl's codes; those of other problems are their own in capitals."""
FACTS = {
    "published": "publishedTime",
    "modified": "modifiedTime",
    "image": "ogImage",
    "site": "ogSiteName",
    "icon": "favicon",
}
"""Firecrawl's names of what is known about a page; those of other facts are the same."""
CONTRACTS = {
    "scrape": RouteContract("scrape a page", FirecrawlScrape, {"url": "https://example.com/"}),
    "search": RouteContract("search, and scrape what was found", FirecrawlSearch, {"query": "coffee shops"}),
}

Answering = Callable[..., Coroutine[Any, Any, Reply]]


class Firecrawl:
    """`/firecrawl`."""

    def __init__(self, calls: DialectCalls, batches: Sequence[DoorRoute] = ()) -> None:
        self._calls = calls
        self._batches = batches

    def door(self) -> Door:
        """Its routes."""
        routes = [route for version in VERSIONS for route in self._routes(version)]
        return Door((PREFIX, VERSIONS[1]), "Firecrawl", [*routes, *self._batches], refusal)

    def _routes(self, version: str) -> list[DoorRoute]:
        replies: dict[str, Answering] = {"scrape": self._scrape, "search": partial(self._search, version)}
        made = [one for path, reply in replies.items() for one in _both(f"{version}/{path}", reply, CONTRACTS[path])]
        not_made = [
            DoorRoute(rule, partial(_not_made, path), ("GET", "POST", "DELETE"))
            for path in NOT_MADE
            for rule in (*rules(f"{version}/{path}"), *rules(f"{version}/{path}/<path:below>"))
        ]
        credit = RouteContract("the credits that are left")
        made += _both(f"{version}/team/credit-usage", partial(_credits, version), credit, ("GET",), of_caller=True)
        return [*made, *not_made]

    async def _scrape(self, incoming: Incoming) -> Reply:
        try:
            asked = read_body(FirecrawlScrape, incoming, PAGE_EXAMPLE)
            (call,) = self._page_calls(asked, [asked.url])
        except QueryError as error:
            return await self._calls.refuse(incoming, self._calls.resources[PAGES], error, refusal)
        made = await self._calls.one(incoming, call)
        if made.failed:
            return refused([made], refusal)
        return answered([made], {"success": True, "data": _scraped_page(asked.url, asked.forms, made)})

    def _page_calls(self, options: FirecrawlPage, urls: Sequence[str], seconds: float = inf) -> list[CallOf]:
        """The calls for pages, of at most so many seconds; raises QueryError for options that are not honoured."""
        resource = self._calls.resources[PAGES]
        page_query(resource, options.values(ANY_URL), NAMES)
        return [
            page_call(resource, options.values(url), NAMES, options.ignored, min(options.seconds, seconds))
            for url in urls
        ]

    async def _search(self, version: str, incoming: Incoming) -> Reply:
        try:
            asked = read_body(FirecrawlSearch, incoming, SEARCH_EXAMPLE)
            self._check_search(asked, version)
            options = asked.pages
            if options:
                self._page_calls(options, [])
        except QueryError as error:
            return await self._calls.refuse(incoming, self._calls.resources[SOURCES["web"]], error, refusal)
        ends = monotonic() + asked.seconds
        resources = [self._calls.resources[SOURCES[source]] for source in dict.fromkeys(asked.sources)]
        calls = [CallOf(resource, partial(_search_query, asked, resource), asked.seconds) for resource in resources]
        made = await self._calls.several(incoming, calls)
        if all(one.failed for one in made):
            return refused(made, refusal)
        found: dict[str, list[PlainResult]] = {
            source: plain_results(one.resource, one.record)[: asked.limit]
            for source, one in zip(dict.fromkeys(asked.sources), made, strict=True)
            if not one.failed
        }
        pages = await self._scraped(incoming, options, found, ends) if options else {}
        parts = {url: _scraped_parts(url, options, one) for url, one in pages.items()} if options else {}
        return _search_answer(version, found, [*made, *pages.values()], parts)

    def _check_search(self, asked: FirecrawlSearch, version: str) -> None:
        if version == VERSIONS[0] and set(asked.sources) != {"web"}:
            raise wrong("sources", "sources are of version 2: ask /v2/search")

    async def _scraped(
        self, incoming: Incoming, options: FirecrawlPage, found: Mapping[str, Sequence[PlainResult]], ends: float
    ) -> dict[str, MadeCall]:
        """The pages of the results that are no images, by their URLs, as far as they come in time."""
        results = [one for source, listed in found.items() if source != "images" for one in listed]
        urls = list(dict.fromkeys(one.url for one in results))
        made = await self._calls.several(
            incoming, self._page_calls(options, urls, max(ends - monotonic(), LEAST_SECONDS)), further=True
        )
        return dict(zip(urls, made, strict=True))


def _both(
    path: str,
    reply: Answering,
    contract: RouteContract,
    methods: tuple[str, ...] = ("POST",),
    *,
    of_caller: bool = False,
) -> list[DoorRoute]:
    """The routes of a path, of which the first is described."""
    first, *others = rules(path)
    route = DoorRoute(first, reply, methods, of_caller, contract)
    return [route, *(replace(route, rule=rule, contract=None) for rule in others)]


async def _credits(version: str, _: Incoming, caller: Caller) -> Reply:
    """What is left of the account's credits: plans have none of their own, and no periods."""
    left, plan = (
        ("remaining_credits", "plan_credits") if version == VERSIONS[0] else ("remainingCredits", "planCredits")
    )
    body = {"success": True, "data": {left: caller.balance, plan: None}}
    return Reply(200, orjson.dumps(body), {"content-type": JSON})


async def _not_made(path: str, incoming: Incoming, **_: str) -> Reply:
    message = f"Nothing here does {path}: there are scrape, search and batch/scrape."
    return refusal(ProblemDetails("not_implemented", message), incoming.id)


def rules(path: str) -> list[str]:
    """The rules of a path: under the prefix, at the root, and without the newest version."""
    version, _, rest = path.partition("/")
    return [f"/{PREFIX}/{path}", f"/{path}", *([f"/{PREFIX}/{rest}"] if version == VERSIONS[-1] else [])]


def document(url: str, forms: Sequence[str], record: Record) -> dict[str, Any]:
    """A page in Firecrawl's form: its formats, and what is known about it."""
    known = {FACTS.get(name, name): value for name, value in record["metadata"].items() if value}
    contents = {form.partition("@")[0]: _listed(record.get(FORMS[form])) for form in forms}
    page = {"sourceURL": url, "url": record["url"], "statusCode": record["status"]}
    return {**contents, "metadata": {**known, **page, "contentType": record["content_type"]}}


def _listed(content: Any) -> Any:
    """The addresses of links and images, a screenshot as an address that holds it; a text as it is."""
    if isinstance(content, dict):
        return data_url(content)
    return list(dict.fromkeys(one["url"] for one in content)) if isinstance(content, list) else content


def _search_query(asked: FirecrawlSearch, resource: Resource) -> tuple[Query, Remarks]:
    values = {"q": asked.query, "num": asked.limit, "hl": asked.lang, "tbs": asked.tbs}
    return search_query(resource, {**values, **located(resource, asked.country)}, SEARCH_NAMES)


def _search_answer(
    version: str,
    found: Mapping[str, Sequence[PlainResult]],
    made: Sequence[MadeCall],
    parts: Mapping[str, dict[str, Any]],
) -> Reply:
    """The results, with the parts that those of some URLs have of their pages."""
    shown = {
        source: [{**ROWS[source](one, number), **parts.get(one.url, {})} for number, one in enumerate(results, 1)]
        for source, results in found.items()
    }
    data: Any = shown["web"] if version == VERSIONS[0] else shown
    lost = [one for one in made if one.failed]
    warning = {"warning": f"{len(lost)} calls failed, the first: {lost[0].problem.message}"} if lost else {}
    return answered(made, {"success": True, "data": data, "creditsUsed": sum(one.cost for one in made), **warning})


def _scraped_parts(url: str, options: FirecrawlPage, made: MadeCall) -> dict[str, Any]:
    """What a result has of its page; why it has nothing, where that failed."""
    if made.failed:
        problem = made.problem
        return {"metadata": {"sourceURL": url, "error": problem.message, "statusCode": problem.status}}
    return _scraped_page(url, options.forms, made)


def _scraped_page(url: str, forms: Sequence[str], made: MadeCall) -> dict[str, Any]:
    """A page, with what its call cost and whether the cache had it."""
    page = document(url, forms, made.record)
    state = "miss" if made.headers.get("x-cache") == "MISS" else "hit"
    return {**page, "metadata": {**page["metadata"], "cacheState": state, "creditsUsed": made.cost}}


def _web(result: PlainResult, position: int) -> dict[str, Any]:
    return {"url": result.url, "title": result.title, "description": result.text, "position": position}


def _news(result: PlainResult, position: int) -> dict[str, Any]:
    named = {"title": result.title, "url": result.url, "snippet": result.text}
    return {**named, "date": result.date, "imageUrl": result.thumbnail or None, "position": position}


def _image(result: PlainResult, position: int) -> dict[str, Any]:
    original = result.row["original_image"]
    size = {"imageWidth": original["width"], "imageHeight": original["height"]}
    numbers = {name: int(text) for name, text in size.items() if text and text.isdecimal()}
    return {"title": result.title, "imageUrl": result.image, **numbers, "url": result.url, "position": position}


ROWS = {"web": _web, "news": _news, "images": _image}
"""The results of each source."""


def refusal(problem: ProblemDetails, request_id: str) -> Reply:
    """An error in Firecrawl's shape, with the request's id."""
    status = STATUSES.get(problem.code, problem.status)
    code = CODES.get(problem.code, problem.code.upper())
    body = {"success": False, "error": problem.message, "code": code, "request_id": request_id}
    return problem.reply_as(status, body, request_id)
