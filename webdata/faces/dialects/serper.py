"""The API of Serper, https://serper.dev: searches of `/v1` by kind, with the names of its JSON."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, Remarks, lower, not_blank
from webdata.domain.records import Record
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.problems import ProblemDetails
from webdata.faces.dialects.calls import (
    CallOf,
    DialectCalls,
    MadeCall,
    Refused,
    answered,
    in_array,
    located,
    read_body,
    refused,
    search_query,
    wrong,
)
from webdata.faces.dialects.pages import PAGES, facts_of, page_call
from webdata.faces.dialects.plain_results import PlainResult, plain_results
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import Reply

PREFIX = "serper"
EXAMPLE = '{"q": "coffee shops", "gl": "us", "hl": "en"}'
PAGE_LENGTH = 10
MOST_AT_ONCE = 20
"""Searches of one request."""
NUMBER = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?")
RELIED_ON = ("title", "link", "snippet")
SAFE = {"moderate": "medium"}
"""Serper's values of `safe` that have other names in `/v1`."""
SCRAPE_EXAMPLE = '{"url": "https://example.com/"}'
NAMES = {"start": "page", "region": "gl"}
"""Serper's names of fields; others have the same."""


class SerperQuery(Query):
    """The parameters of a search in Serper's names."""

    q: Annotated[str, AfterValidator(not_blank), Field(description="the search terms, such as coffee shops")]
    gl: Annotated[
        str | None,
        Field(pattern=r"^[a-z]{2}$", description="a two-letter country code, such as us"),
        BeforeValidator(lower),
    ] = None
    hl: Annotated[str | None, Field(description="a language code, such as en")] = None
    num: Annotated[int, Field(ge=1, le=100, description="a whole number from 1 to 100, such as 10")] = PAGE_LENGTH
    page: Annotated[int, Field(ge=1, le=100, description="a whole number from 1, such as 2")] = 1
    tbs: Annotated[str | None, Field(description="Google's own filters, such as qdr:w for the last week")] = None
    safe: Annotated[
        Literal["off", "moderate", "medium", "active"] | None,
        BeforeValidator(lower),
        Field(description="off, moderate or active"),
    ] = None
    autocorrect: Annotated[bool, Field(description="true; false is not honoured")] = True
    type: Annotated[str | None, Field(description="the kind of the search, as in the path")] = None
    location: Refused = None

    def of(self, resource: Resource, kind: str) -> tuple[Query, Remarks]:
        """The query of a resource; raises QueryError for what it does not honour.

        A language or a country that a search does not have is named as ignored, since clients always send them.
        """
        if not self.autocorrect:
            raise wrong("autocorrect", "autocorrect cannot be false: the engine corrects terms as it likes")
        if self.type not in (None, kind):
            raise wrong("type", f"type differs from the path, which says {kind}: give one of them")
        values = {"q": self.q, "num": self.num, "tbs": self.tbs, "hl": self.hl, **located(resource, self.gl)}
        values["start"] = (self.page - 1) * self.num or None
        values["safe"] = self.safe and SAFE.get(self.safe, self.safe)
        return search_query(resource, values, NAMES, ("hl", "gl", *(() if self.safe == "active" else ("safe",))))


OfSearches = Annotated[str | None, Field(description="of searches: it has no effect on a page")]


class SerperPage(Query):
    """A page to read."""

    url: Annotated[str, Field(description="the absolute URL of a page, such as https://example.com/")]
    includeMarkdown: Annotated[bool, Field(description="true for its main content as Markdown, too")] = False  # noqa: N815  # Serper's name
    gl: OfSearches = None
    hl: OfSearches = None
    tbs: OfSearches = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """The preferences of searches, which clients send with every request."""
        return tuple(name for name in ("gl", "hl", "tbs") if getattr(self, name) is not None)


@dataclass(frozen=True)
class SerperKind:
    """A kind of search."""

    resource: str
    rows: str
    """The name of its results."""
    row: Callable[[PlainResult], dict[str, Any]]
    """A result, without its position."""
    more: Callable[[Record], dict[str, Any]] = lambda _: {}
    """What else a record has for it."""


class Serper:
    """`/serper`."""

    def __init__(self, calls: DialectCalls) -> None:
        self._calls = calls

    def door(self) -> Door:
        """Its routes."""
        known = [path for path, kind in KINDS.items() if kind.resource in self._calls.resources]
        page = RouteContract("the text of a page", SerperPage, {"url": "https://example.com/"})
        scrape = [DoorRoute(f"/{PREFIX}/scrape", self._scrape, contract=page)] if PAGES in self._calls.resources else []
        return Door((PREFIX,), "Serper's searches", [*map(self._route, known), *scrape], refusal)

    def _route(self, path: str) -> DoorRoute:
        contract = RouteContract(f"search of the kind {path}", SerperQuery, {"q": "coffee shops"})
        return DoorRoute(f"/{PREFIX}/{path}", partial(self._search, path), ("GET", "POST"), contract=contract)

    async def _search(self, path: str, incoming: Incoming) -> Reply:
        resource = self._calls.resources[KINDS[path].resource]
        bodies = in_array(incoming.body)
        try:
            if bodies is not None and not 1 <= len(bodies) <= MOST_AT_ONCE:
                raise wrong("q", f"the array has {len(bodies)} searches: send 1 to {MOST_AT_ONCE}")
            incomings = [incoming] if bodies is None else [replace(incoming, body=body) for body in bodies]
            asked = [read_body(SerperQuery, one, EXAMPLE) for one in incomings]
            reads = [partial(one.of, resource, path) for one in asked]
            for read in reads:
                read()
        except QueryError as error:
            return await self._calls.refuse(incoming, resource, error, refusal)
        made = await self._calls.several(incoming, [CallOf(resource, read) for read in reads])
        if all(one.failed for one in made):
            return refused(made, refusal)
        answers = [_answer(path, *one) for one in zip(asked, made, strict=True)]
        return answered(made, answers[0] if bodies is None else answers)

    async def _scrape(self, incoming: Incoming) -> Reply:
        resource = self._calls.resources[PAGES]
        try:
            asked = read_body(SerperPage, incoming, SCRAPE_EXAMPLE)
        except QueryError as error:
            return await self._calls.refuse(incoming, resource, error, refusal)
        formats = ["text", "metadata", *(["markdown"] if asked.includeMarkdown else [])]
        wanted = {"url": asked.url, "formats": formats, "content": "main"}
        made = await self._calls.one(incoming, page_call(resource, wanted, {"url": "url"}, asked.ignored))
        if made.failed:
            return refused([made], refusal)
        texts = {name: made.record[name] for name in formats}
        facts = {"metadata": facts_of(made.record), "credits": made.cost}
        return answered([made], {**texts, **facts})


def _answer(path: str, asked: SerperQuery, made: MadeCall) -> dict[str, Any]:
    """The answer to a search; the error of one of several, where it failed."""
    kind = KINDS[path]
    parameters = asked.model_dump(exclude_none=True, include={"q", "gl", "hl", "num", "page", "tbs"}) | {"type": path}
    if made.failed:
        return {"searchParameters": parameters, **_error(made.problem)}
    results = plain_results(made.resource, made.record)[: asked.num]
    rows = [{**_present(kind.row(one)), "position": number} for number, one in enumerate(results, 1)]
    return {
        "searchParameters": {**parameters, "engine": made.engine},
        **_present(kind.more(made.record)),
        kind.rows: rows,
        "credits": made.cost,
    }


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not there: Serper has no nulls. Clients rely on some texts, which may be empty."""
    return {
        name: value for name, value in row.items() if value not in (None, [], {}) and (value != "" or name in RELIED_ON)
    }


def _web(result: PlainResult) -> dict[str, Any]:
    metadata = result.row["metadata"]
    return {
        "title": result.title,
        "link": result.url,
        "snippet": result.text,
        "date": result.date,
        "rating": metadata.get("rating"),
        "ratingCount": metadata.get("reviews"),
        "imageUrl": result.thumbnail,
        "sitelinks": [{"title": one["title"], "link": one["link"]} for one in metadata.get("sitelinks", ())],
    }


def _page(record: Record) -> dict[str, Any]:
    """The parts of a page of web results beside the results."""
    return {
        "knowledgeGraph": _panel(record.get("company")),
        "answerBox": _answer_box(record.get("answers")),
        "peopleAlsoAsk": [
            _present(
                {"question": one["question"], "snippet": one["answer"], "title": one["title"], "link": one["link"]}
            )
            for one in record.get("related_questions", ())
        ],
        "relatedSearches": [{"query": one["text"]} for one in record.get("related_searches", ())],
    }


def _panel(company: Any) -> dict[str, Any]:
    if not company:
        return {}
    source = company.get("description_source") or {}
    return _present(
        {
            "title": company["name"],
            "type": company["type"],
            "website": company["website"],
            "imageUrl": company["image"],
            "description": company["description"],
            "descriptionSource": source.get("name"),
            "descriptionLink": source.get("link"),
            "rating": company["rating"],
            "ratingCount": company["reviews"],
            "attributes": company["attributes"],
        }
    )


def _answer_box(answers: Any) -> dict[str, Any]:
    if not answers:
        return {}
    first = answers[0]
    named = {"title": first.get("title"), "link": first.get("link")}
    return _present({**named, "answer": first["answer"], "snippet": first["answer"]})


def _image(result: PlainResult) -> dict[str, Any]:
    original = result.row["original_image"]
    return {
        "title": result.title,
        "imageUrl": result.image,
        "imageWidth": _number(original["width"]),
        "imageHeight": _number(original["height"]),
        "thumbnailUrl": result.thumbnail,
        "source": result.source,
        "domain": result.source,
        "link": result.url,
    }


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _news(result: PlainResult) -> dict[str, Any]:
    return {
        "title": result.title,
        "link": result.url,
        "snippet": result.text,
        "date": result.date,
        "source": result.source,
    }


def _video(result: PlainResult) -> dict[str, Any]:
    metadata = result.row["metadata"]
    return {
        "title": result.title,
        "link": result.url,
        "snippet": result.text,
        "imageUrl": result.thumbnail,
        "duration": metadata.get("duration"),
        "source": metadata.get("source"),
        "channel": metadata.get("channel"),
        "date": result.date,
    }


def _place(result: PlainResult) -> dict[str, Any]:
    row = result.row
    return {
        "title": result.title,
        "address": row["address"],
        "latitude": row["latitude"],
        "longitude": row["longitude"],
        "rating": row["rating"],
        "ratingCount": row["review_count"],
        "category": next(iter(row["categories"]), None),
        "phoneNumber": row["phone"],
        "website": row["website"],
        "thumbnailUrl": result.thumbnail,
        "cid": str(int(row["data_id"].partition(":")[2], 16)),
    }


def _work(result: PlainResult) -> dict[str, Any]:
    row = result.row
    return {
        "title": result.title,
        "link": result.url,
        "publicationInfo": row["author"]["names"],
        "snippet": row["abstract"],
        "year": row["year"],
        "citedBy": row["extras"].get("citations", {}).get("count"),
        "pdfUrl": row["doc"]["link"] if "doc" in row else None,
    }


def _product(result: PlainResult) -> dict[str, Any]:
    row = result.row
    stars = (row["rating_stars"] or "").partition(" ")[0]
    return {
        "title": result.title,
        "source": urlsplit(result.url).hostname,
        "link": result.url,
        "price": row["price_text"],
        "imageUrl": result.thumbnail,
        "rating": float(stars) if NUMBER.fullmatch(stars) else None,
        "ratingCount": row["review_count"],
        "productId": row["asin"],
    }


KINDS = {
    "search": SerperKind("web_search", "organic", _web, _page),
    "images": SerperKind("image_search", "images", _image),
    "news": SerperKind("news_search", "news", _news),
    "videos": SerperKind("video_search", "videos", _video),
    "places": SerperKind("maps_search", "places", _place),
    "maps": SerperKind("maps_search", "places", _place),
    "shopping": SerperKind("product_search", "shopping", _product),
    "scholar": SerperKind("scholar_search", "organic", _work),
}


def refusal(problem: ProblemDetails, request_id: str) -> Reply:
    """An error in Serper's shape, with a code and the request's id."""
    body = _error(problem)
    return problem.reply_as(body["statusCode"], {**body, "request_id": request_id}, request_id)


def _error(problem: ProblemDetails) -> dict[str, Any]:
    status = 400 if problem.code == "validation_error" else problem.status
    return {"message": problem.message, "statusCode": status, "code": problem.code}
