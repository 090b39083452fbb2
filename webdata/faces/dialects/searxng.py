"""The API of SearXNG, https://docs.searxng.org/dev/search_api.html: the searches of `/v1` by category.

A category and the names of its engines derive from the resources and their engines.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import AfterValidator, BeforeValidator, Field

from webdata.domain.errors import QueryError
from webdata.domain.query import Query, Remarks, lower, not_blank, unpack
from webdata.faces.api.doors import Door, DoorRoute, RouteContract
from webdata.faces.api.open_pages import FRESH
from webdata.faces.api.params import URL_ENCODED, check_encoding, media_type
from webdata.faces.api.problems import ProblemDetails
from webdata.faces.dialects.calls import (
    CallOf,
    DialectCalls,
    MadeCall,
    answered,
    form_text,
    refused,
    search_query,
    wrong,
)
from webdata.faces.dialects.plain_results import PlainResult, plain_results
from webdata.faces.dialects.searxng_feeds import CSV, RSS, csv_of, rss_of
from webdata.resources import Resource
from webdata.runtime.server.incoming import Incoming
from webdata.runtime.server.replies import JSON, Reply

PREFIX = "searxng"
ANY_LANGUAGE = ("all", "auto")
PAGE_LENGTH = 10
"""Results of a page where a search does not ask for a number of them."""
SAFE = {"0": "off", "1": "medium", "2": "active"}
STRICT = "2"
NAMES = {"hl": "language", "gl": "language", "start": "pageno", "tbs": "time_range", "safe": "safesearch"}
"""SearXNG's names of the fields of a query; `q` has its own."""
REFUSED = ("enabled_engines", "disabled_engines", "enabled_plugins", "disabled_plugins", "timeout_limit")
"""Parameters of SearXNG that change an answer, and that nothing here honours."""
TEMPLATES = {"images": "images.html", "videos": "videos.html", "map": "map.html"}
BANG = "!"
"""Begins a term that names an engine or a category."""
OTHER = "other"
"""SearXNG's category of engines of no other."""
PLAIN = "text/plain; charset=utf-8"


def _words(text: object) -> object:
    """The names between the commas of a list."""
    return [word.strip().lower() for word in text.split(",") if word.strip()] if isinstance(text, str) else text


Names = Annotated[tuple[str, ...], BeforeValidator(_words)]


class SearxngQuery(Query):
    """The parameters of a search in SearXNG's names."""

    q: Annotated[str, AfterValidator(not_blank), Field(description="the search terms, such as q=coffee+shops")]
    format: Annotated[
        Literal["json", "csv", "rss"],
        BeforeValidator(lower),
        Field(description="one of json, csv, rss: there is no page in HTML"),
    ] = "json"
    pageno: Annotated[int, Field(ge=1, le=1000, description="a whole number from 1, such as pageno=2")] = 1
    language: Annotated[
        str,
        Field(
            pattern=r"^(all|auto|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$",
            description="all, auto or a language, such as language=de or language=de-AT",
        ),
    ] = "all"
    time_range: Annotated[
        Literal["day", "week", "month", "year"] | None,
        BeforeValidator(lower),
        Field(description="one of day, week, month, year"),
    ] = None
    safesearch: Annotated[
        Literal["0", "1", "2"] | None, Field(description="0 for none, 1 for moderate, 2 for strict")
    ] = None
    categories: Annotated[
        Names, Field(description="categories with commas between, such as categories=general,news")
    ] = ()
    engines: Annotated[Names, Field(description="engines with commas between, such as engines=google,openalex")] = ()

    @property
    def values(self) -> dict[str, Any]:
        """The fields of a query of `/v1` that these parameters set."""
        language, _, country = self.language.replace("_", "-").partition("-")
        is_any = language.lower() in ANY_LANGUAGE
        return {
            "q": self.q,
            "hl": None if is_any else language.lower(),
            "gl": country.lower() if len(country) == len("de") else None,
            "start": (self.pageno - 1) * PAGE_LENGTH or None,
            "tbs": self.time_range and f"qdr:{self.time_range[0]}",
            "safe": self.safesearch and SAFE[self.safesearch],
        }

    def of(self, resource: Resource) -> tuple[Query, Remarks]:
        """The query of a resource; raises QueryError for what it would have to ignore and a caller relies on.

        A preference of language or of moderate safety that a search does not have is named as ignored, as in `/v1`.
        """
        preferences = ("hl", "gl") if self.safesearch == STRICT else ("hl", "gl", "safe")
        return search_query(resource, self.values, NAMES, preferences)


SEARCH = RouteContract(
    "search by categories or engines",
    SearxngQuery,
    {"q": "coffee shops", "format": "json"},
    body_type=URL_ENCODED,
    gives=(JSON, CSV, RSS),
)
CONFIG = RouteContract("the categories and engines", needs_key=False)
HEALTH = RouteContract("whether it answers", gives=(PLAIN,), needs_key=False)


@dataclass
class _Found:
    """A result, and the places at which engines had it."""

    result: PlainResult
    category: str
    engine: str
    ranks: dict[str, int] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """More for a better rank, and for more engines; as SearXNG's, of engines of equal weight."""
        return len(self.ranks) * sum(1 / rank for rank in self.ranks.values())


@dataclass(frozen=True)
class _Lacking:
    """An engine or a category that is asked for, and is not here."""

    parameter: str
    name: str
    reason: str


class Searxng:
    """`/searxng`. `engines` are the names of each resource's engines, in the order in which they are asked."""

    def __init__(self, calls: DialectCalls, engines: Mapping[str, Sequence[str]]) -> None:
        self._calls = calls
        searches = [one for one in calls.resources.values() if one.result_fields]
        others = [one for one in searches if not one.category]
        self._categories = {one.category: [one] for one in searches if one.category} | {OTHER: others}
        self._engines = {engines[one.name][0]: one for one in searches}
        self._config = Reply(200, orjson.dumps(self._configuration()), {"content-type": JSON})
        self._healthy = Reply(200, b"OK", {"content-type": PLAIN, **FRESH})

    def door(self) -> Door:
        """Its routes."""
        search = DoorRoute(f"/{PREFIX}/search", self._search, ("GET", "POST"), contract=SEARCH)
        root = replace(search, rule=f"/{PREFIX}", contract=None)
        open_pages = [
            DoorRoute(f"/{PREFIX}/config", self._show_config, ("GET",), contract=CONFIG),
            DoorRoute(f"/{PREFIX}/healthz", self._show_health, ("GET",), contract=HEALTH),
        ]
        return Door((PREFIX,), "SearXNG's search", [search, root, *open_pages], refusal)

    async def _search(self, incoming: Incoming) -> Reply:
        try:
            asked, ignored = _read(incoming)
            query = self._chosen_by_terms(asked)
            lacking = self._lacking(query)
            ignored = (*ignored, *dict.fromkeys(one.parameter for one in lacking))
            wanted = self._wanted(query, lacking)
        except QueryError as error:
            return await self._calls.refuse(incoming, next(iter(self._engines.values())), error, refusal)
        calls = [CallOf(resource, partial(_read_of, query, ignored, resource)) for resource in wanted]
        made = await self._calls.several(incoming, calls)
        if all(one.failed for one in made):
            return refused(made, refusal)
        return _answer(query, made, [*self._failures(made), *([one.name, one.reason] for one in lacking)])

    def _failures(self, made: Iterable[MadeCall]) -> Iterator[list[str]]:
        """The engines that failed, with the reasons."""
        names = {resource.name: name for name, resource in self._engines.items()}
        return ([names[one.resource.name], one.problem.message] for one in made if one.failed)

    def _chosen_by_terms(self, query: SearxngQuery) -> SearxngQuery:
        """With the engines and categories that terms such as `!images` name, in the place of those of the parameters.

        As by SearXNG's search syntax, a term that names none is one to search for; raises QueryError if there is none.
        """
        terms = query.q.split()
        names = {term: term[1:].lower().replace("-", "_") for term in terms if term.startswith(BANG)}
        chosen = {term: name for term, name in names.items() if name in self._categories or self._engine(name)}
        if not chosen:
            return query
        left = " ".join(term for term in terms if term not in chosen)
        if not left:
            raise wrong("q", f"q has nothing to search for beside {' '.join(chosen)[:60]}")
        categories = tuple(name for name in chosen.values() if name in self._categories)
        engines = tuple(name for name in chosen.values() if name not in self._categories)
        return query.model_copy(update={"q": left, "categories": categories, "engines": engines})

    def _lacking(self, query: SearxngQuery) -> list[_Lacking]:
        """The engines and categories that are not here: clients send the same ones to every SearXNG."""
        engines = [name for name in query.engines if self._engine(name) is None]
        no_engine = f"There is no such engine here: the engines are {', '.join(self._engines)}."
        categories = [name for name in query.categories if name not in self._categories]
        no_category = f"There is no such category here: the categories are {', '.join(self._categories)}."
        return [
            *(_Lacking("engines", name[:60], no_engine) for name in engines),
            *(_Lacking("categories", name[:60], no_category) for name in categories),
        ]

    def _wanted(self, query: SearxngQuery, lacking: Sequence[_Lacking]) -> list[Resource]:
        """The resources of the engines that are named, and those of the categories; raises QueryError for none."""
        of_engines = [found for name in query.engines if (found := self._engine(name))]
        of_categories = [one for name in query.categories for one in self._categories.get(name, ())]
        wanted = list(dict.fromkeys([*of_engines, *of_categories]))
        if lacking and not wanted:
            raise wrong(lacking[0].parameter, f"{lacking[0].name}: {lacking[0].reason}")
        return wanted or self._categories["general"]

    def _engine(self, name: str) -> Resource | None:
        """The resource of an engine: `google_web`, `google images`, or `google` for the first of a site."""
        written = name.replace(" ", "_").replace(".", "_")
        if written in self._engines:
            return self._engines[written]
        matching = [engine for engine in self._engines if engine == written.removesuffix("s")]
        of_site = [engine for engine in self._engines if engine.startswith(f"{written}_")]
        general = [engine for engine in of_site if self._engines[engine].category == "general"]
        found = (*matching, *general, *of_site)
        return self._engines[found[0]] if found else None

    async def _show_config(self, incoming: Incoming) -> Reply:
        return self._config

    async def _show_health(self, incoming: Incoming) -> Reply:
        return self._healthy

    def _configuration(self) -> dict[str, Any]:
        """What `/config` of SearXNG has, as far as it means something here."""
        return {
            "categories": list(self._categories),
            "engines": [_engine_of(name, resource) for name, resource in self._engines.items()],
            "plugins": [],
            "instance_name": "webdata",
            "locales": {},
            "default_locale": "",
            "autocomplete": "",
            "safe_search": 0,
            "default_theme": "",
            "version": "webdata",
            "public_instance": False,
        }


def _engine_of(name: str, resource: Resource) -> dict[str, Any]:
    fields = resource.query.fields()
    return {
        "name": name,
        "shortcut": name,
        "categories": [resource.category or OTHER],
        "enabled": resource.category is not None,
        "paging": "start" in fields,
        "language_support": "hl" in fields,
        "safesearch": "safe" in fields,
        "time_range_support": "tbs" in fields,
    }


def _read(incoming: Incoming) -> tuple[SearxngQuery, tuple[str, ...]]:
    """The parameters of a request, and the names of those that mean nothing here; raises QueryError.

    An empty one is an absent one, as in SearXNG's forms.
    """
    body = _form(incoming) if incoming.method == "POST" else ""
    check_encoding(incoming.query, body)
    pairs = [(name, value) for name, value in (*unpack(incoming.query), *unpack(body)) if name == "q" or value.strip()]
    for name, _ in pairs:
        if name in REFUSED:
            raise wrong(name, f"{name} is not honoured here: choose by categories or engines, and leave it out")
    query, remarks = SearxngQuery.read(pairs)
    return query, remarks.ignored


def _form(incoming: Incoming) -> str:
    sent = media_type(incoming.header)
    if incoming.body and sent not in ("", URL_ENCODED):
        right = f"send a form as SearXNG takes it, Content-Type: {URL_ENCODED}, such as q=coffee&format=json"
        raise wrong("q", f"The body cannot be {sent[:60]!r}: {right}", "body")
    return form_text(incoming.body)


def _read_of(query: SearxngQuery, ignored: tuple[str, ...], resource: Resource) -> tuple[Query, Remarks]:
    found, remarks = query.of(resource)
    return found, remarks._replace(ignored=(*ignored, *remarks.ignored))


def _answer(query: SearxngQuery, made: Sequence[MadeCall], unresponsive: Sequence[list[str]]) -> Reply:
    answering = [one for one in made if not one.failed]
    results = [_result(found) for found in _ranked(answering)]
    if query.format == "csv":
        return answered(made, csv_of(results), CSV)
    if query.format == "rss":
        return answered(made, rss_of(query.q, f"/{PREFIX}/search", results), RSS)
    records = [one.record for one in answering]
    body = {
        "query": query.q,
        "number_of_results": max((record.get("total") or 0 for record in records), default=0),
        "results": results,
        "answers": [box["answer"] for record in records for box in record.get("answers", ()) if box["answer"]],
        "corrections": [],
        "infoboxes": [box for one in answering for box in _infoboxes(one)],
        "suggestions": _suggestions(records),
        "unresponsive_engines": unresponsive,
    }
    return answered(made, body)


def _ranked(made: Iterable[MadeCall]) -> list[_Found]:
    """The results of all calls, each URL once, the best first."""
    found: dict[str, _Found] = {}
    for one in made:
        for rank, result in enumerate(plain_results(one.resource, one.record), 1):
            category = one.resource.category or OTHER
            found.setdefault(result.url, _Found(result, category, one.engine)).ranks.setdefault(one.engine, rank)
    return sorted(found.values(), key=lambda one: -one.score)


def _result(found: _Found) -> dict[str, Any]:
    result = found.result
    return {
        "url": result.url,
        "title": result.title,
        "content": result.text,
        "engine": found.engine,
        "engines": list(found.ranks),
        "positions": list(found.ranks.values()),
        "score": round(found.score, 4),
        "category": found.category,
        "template": TEMPLATES.get(found.category, "default.html"),
        "parsed_url": _parsed(result.url),
        "publishedDate": result.published,
        "thumbnail": result.thumbnail,
        "img_src": result.image,
        "iframe_src": "",
    }


def _parsed(url: str) -> list[str]:
    """The parts of a URL as SearXNG gives them, that of parameters included."""
    try:
        scheme, host, path, query, fragment = urlsplit(url)
    except ValueError:
        return ["", "", url, "", "", ""]
    return [scheme, host, path, "", query, fragment]


def _infoboxes(made: MadeCall) -> list[dict[str, Any]]:
    """The knowledge panel of a page of web results."""
    company = made.record.get("company")
    if not company:
        return []
    profiles = [{"title": one["name"], "url": one["link"]} for one in company["profiles"]]
    website = [{"title": "Website", "url": company["website"]}] if company["website"] else []
    return [
        {
            "infobox": company["name"],
            "id": company["website"] or "",
            "content": company["description"] or "",
            "img_src": company["image"],
            "engine": made.engine,
            "urls": [*website, *profiles],
            "attributes": [{"label": label, "value": value} for label, value in company["attributes"].items()],
        }
    ]


def _suggestions(records: Iterable[Mapping[str, Any]]) -> list[str]:
    related = (one["text"] for record in records for one in record.get("related_searches", ()))
    return list(dict.fromkeys(related))


def refusal(problem: ProblemDetails, request_id: str) -> Reply:
    """An error in the shape of SearXNG's JSON: its text, here with a code and the request's id."""
    status = 400 if problem.code == "validation_error" else problem.status
    body = {"error": problem.message, "code": problem.code, "request_id": request_id}
    return problem.reply_as(status, body, request_id)
