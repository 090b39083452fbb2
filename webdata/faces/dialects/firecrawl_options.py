"""The options of Firecrawl's API, https://docs.firecrawl.dev: what a body may have, and what of it is honoured here."""

# ruff: noqa: N815  # the options have Firecrawl's names

from collections.abc import Mapping
from math import ceil, inf
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from webdata.batches.chunk_runs import ROWS_AT_ONCE
from webdata.domain.query import Query, check_known, explained, lower, not_blank
from webdata.faces.dialects.calls import EMPTY, Refused, stated, wrong
from webdata.faces.dialects.pages import not_honoured, with_scheme
from webdata.resources.url_request import FRESH_SECONDS
from webdata.stores.batches.model import CHUNK_ROWS

MOST_FOUND = 100
"""Results of one search."""
MOST_SCRAPED = 20
"""Pages that one search fetches."""
MOST_PAGES = 1000
"""Pages of one batch."""
FORMS = {"markdown": "markdown", "html": "html", "rawHtml": "html", "links": "links", "images": "images"}
FORMS |= {"screenshot": "screenshot", "screenshot@fullPage": "screenshot"}
"""The formats, and those of `/v1/request` that they are."""
FIELDS = {
    "includeTags": "include",
    "excludeTags": "exclude",
    "waitFor": "wait_for",
    "timeout": "timeout",
    "maxAge": "max_age",
}
"""Options that are a field of the query of `/v1/request`, where it has one."""
NAMES = {field: option for option, field in FIELDS.items()} | {
    "headers": "headers",
    "url": "url",
    "formats": "formats",
    "content": "onlyMainContent",
    "region": "location",
    "device": "mobile",
    "screenshot_full_page": "formats",
    "screenshot_type": "formats",
    "screenshot_quality": "formats",
}
"""Firecrawl's names of the fields."""
OF_SCREENSHOT = ("fullPage", "quality")
BEST = 100
"""The quality of a screenshot without losses."""


def _format(value: object) -> object:
    """The name of a format, which may be an object with a type, and with nothing else that is asked for."""
    if not isinstance(value, dict):
        return value
    for name, given in value.items():
        if name != "type" and given not in EMPTY:
            raise explained(f"has {name[:60]!r}, which is not honoured here: leave it out")
    return value.get("type")


def _page_format(value: object) -> object:
    """As `_format`; a screenshot with what it has of its own, and one that is not made here by its name alone."""
    if isinstance(value, dict) and value.get("type") == "screenshot":
        _format({name: given for name, given in value.items() if name not in OF_SCREENSHOT})
        return value
    named = value.get("type") if isinstance(value, dict) else None
    name = named if isinstance(named, str) and named not in FORMS else _format(value)
    if not isinstance(name, str):
        raise explained(f"has one without a name: give some of {', '.join(FORMS)}")
    return name


def _object(value: object) -> object:
    """For validators: an object, whose values no message repeats."""
    if value is not None and not isinstance(value, dict):
        raise explained("is no object of names and texts")
    return value or None


def _pdf(value: object) -> object:
    """The parsers, which are objects or names."""
    names = [_format(one) for one in value] if isinstance(value, list) else []
    if "pdf" not in names:
        raise explained('has no pdf: give ["pdf"], or leave it out')
    return names


NoEffect = Annotated[Any, Field(description="anything: it has no effect on an answer")]
"""Who sent a request, which no answer depends on."""
Formats = Annotated[
    tuple[Annotated[str | dict[str, Any], BeforeValidator(_page_format)], ...],
    Field(min_length=1, max_length=20, description=f"a list of {', '.join(FORMS)}"),
]
Done = Annotated[Literal[True], Field(description="true")]
NotDone = Annotated[Literal[False], Field(description="false")]


class FirecrawlPage(Query):
    """How a page is scraped. An option with one possible value is what happens in any case."""

    formats: Formats = ("markdown",)
    onlyMainContent: Annotated[bool, Field(description="true or false")] = True
    includeTags: Annotated[list[str] | None, Field(description="a list of CSS selectors")] = None
    excludeTags: Annotated[list[str] | None, Field(description="a list of CSS selectors")] = None
    headers: Annotated[
        dict[str, Any] | None, BeforeValidator(_object), Field(description="an object of names and texts")
    ] = None
    waitFor: Annotated[int, Field(ge=0, le=60_000, description="milliseconds from 0 to 60000")] = 0
    timeout: Annotated[int | None, Field(ge=1, le=600_000, description="milliseconds from 1 to 600000")] = None
    maxAge: Annotated[int | None, Field(ge=0, description="milliseconds from 0")] = None
    mobile: Annotated[bool, Field(description="true or false")] = False
    location: Annotated[
        dict[str, Any] | None, Field(description='an object with a country, such as {"country": "DE"}')
    ] = None
    parsers: Annotated[list[str] | None, BeforeValidator(_pdf), Field(description='["pdf"]')] = None
    parsePDF: Done = True
    blockAds: Annotated[bool, Field(description="true or false: no advertisement is fetched or kept")] = True
    removeBase64Images: Done = True
    storeInCache: Done = True
    proxy: Annotated[Literal["auto", "basic"], BeforeValidator(lower), Field(description="auto or basic")] = "auto"
    skipTlsVerification: Annotated[
        bool, Field(description="true or false: certificates are always verified, and one that is wrong is an error")
    ] = False
    fastMode: NotDone = False
    zeroDataRetention: NotDone = False
    actions: Refused = None
    extract: Refused = None
    jsonOptions: Refused = None
    changeTrackingOptions: Refused = None
    agent: Refused = None
    minAge: Refused = None
    useMock: Refused = None
    lockdown: Refused = None
    profile: Refused = None
    redactPII: Refused = None
    checkPromptInjection: Refused = None
    threatProtection: Refused = None
    auditMetadata: Refused = None
    domainTools: Refused = None
    integration: NoEffect = None
    origin: NoEffect = None

    def values(self, url: str) -> dict[str, Any]:
        """The fields of the query of a page; raises QueryError for what is not honoured."""
        given: dict[str, Any] = {option: getattr(self, option) or None for option in FIELDS}
        given["timeout"] = self.timeout and ceil(self.timeout / 1000)
        given["maxAge"] = self._most_age
        formats = list(dict.fromkeys(FORMS[form] for form in self.forms))
        return {
            "url": with_scheme(url),
            "formats": [*formats, "metadata"],
            "content": "main" if self.onlyMainContent and "markdown" in formats else None,
            **{field: given[option] for option, field in FIELDS.items()},
            "device": "mobile" if self.mobile else None,
            "region": _country(self.location),
            "headers": self._sent,
            **self._screenshot,
        }

    @property
    def _sent(self) -> dict[str, Any] | None:
        """The headers, with the languages of the location."""
        languages = (self.location or {}).get("languages") or []
        if not isinstance(languages, list) or not all(isinstance(one, str) for one in languages):
            raise wrong("location", "location.languages is a list of languages, such as de-AT")
        accepted = {"Accept-Language": ",".join(languages)} if languages else {}
        return {**accepted, **(self.headers or {})} or None

    @property
    def _screenshot(self) -> dict[str, Any]:
        """The fields for how the screenshot is taken."""
        asked, *others = [one for one in self.formats if isinstance(one, dict)] or [{}]
        if others:
            raise wrong("formats", "formats has two screenshots with options of their own: give one")
        quality = asked.get("quality") or BEST
        lossy = {"screenshot_type": "jpeg", "screenshot_quality": quality} if quality != BEST else {}
        is_whole = bool(asked.get("fullPage")) or "screenshot@fullPage" in self.formats
        return {**lossy, "screenshot_full_page": is_whole or None}

    @property
    def ignored(self) -> tuple[str, ...]:
        """The options without effect, which clients send with every page."""
        return ("skipTlsVerification",) if self.skipTlsVerification else ()

    @property
    def seconds(self) -> float:
        """The most that the page may take."""
        return self.timeout / 1000 if self.timeout else inf

    @property
    def _most_age(self) -> int | None:
        """How old a cached page may be, in seconds; None for as old as any is."""
        is_shorter = self.maxAge is not None and self.maxAge < FRESH_SECONDS * 1000
        return (self.maxAge or 0) // 1000 if is_shorter else None

    @property
    def forms(self) -> list[str]:
        """The formats, each once; raises QueryError for one that is not made here."""
        asked = [str(one["type"]) if isinstance(one, dict) else one for one in self.formats]
        for form in asked:
            if form not in FORMS:
                known = ", ".join(FORMS)
                raise wrong("formats", f"formats cannot have {form[:60]!r}: it is not made here, but {known} are")
        return list(dict.fromkeys(asked))


def _country(location: Mapping[str, Any] | None) -> str | None:
    """The region of a location; raises QueryError for other members than this and its languages."""
    for name, value in (location or {}).items():
        if name not in ("country", "languages") and value not in EMPTY:
            raise not_honoured(f"location.{name[:60]}")
    country = (location or {}).get("country")
    return str(country).upper() if country else None


class FirecrawlScrape(FirecrawlPage):
    """One page."""

    url: Annotated[str, Field(description="the URL of a page, such as https://example.com/ or example.com")]


def _enough_at_once(value: int | None, info: ValidationInfo) -> int | None:
    """For validators: no fewer pages at once than a batch of its URLs may have; how many it has is not chosen here."""
    most = ceil(len(info.data.get("urls", ())) / CHUNK_ROWS) * ROWS_AT_ONCE
    if value is not None and value < most:
        raise explained(f"is less than the {most} pages of so many that run at once: leave it out, or send fewer URLs")
    return value


class FirecrawlBatch(FirecrawlPage):
    """Many pages."""

    urls: Annotated[
        tuple[str, ...],
        Field(min_length=1, max_length=MOST_PAGES, description=f"a list of 1 to {MOST_PAGES} URLs of pages"),
    ]
    ignoreInvalidURLs: Annotated[bool, Field(description="true or false")] = False
    maxConcurrency: Annotated[
        int | None, AfterValidator(_enough_at_once), Field(ge=1, description="a whole number from 1")
    ] = None
    appendToId: Refused = None
    webhook: Refused = None


class FirecrawlSearch(Query):
    """A search, and how the pages that it finds are scraped."""

    query: Annotated[str, AfterValidator(not_blank), Field(description="the search terms, such as coffee shops")]
    limit: Annotated[int, Field(ge=1, le=MOST_FOUND, description=f"a whole number from 1 to {MOST_FOUND}")] = 5
    sources: Annotated[
        tuple[Annotated[Literal["web", "news", "images"], BeforeValidator(_format)], ...],
        Field(min_length=1, max_length=10, description="a list of web, news, images"),
    ] = ("web",)
    tbs: Annotated[str | None, Field(description="Google's own filters, such as qdr:w for the last week")] = None
    lang: Annotated[str | None, Field(description="a language code, such as en")] = None
    country: Annotated[str | None, BeforeValidator(lower), Field(description="a two-letter country code")] = None
    timeout: Annotated[int | None, Field(ge=1, le=600_000, description="milliseconds from 1 to 600000")] = None
    scrapeOptions: Annotated[dict[str, Any] | None, Field(description="an object of options of scraping")] = None
    ignoreInvalidURLs: Annotated[bool, Field(description="true or false: every result has a URL")] = True
    filter: Refused = None
    categories: Refused = None
    location: Refused = None
    includeDomains: Refused = None
    excludeDomains: Refused = None
    highlights: Refused = None
    enterprise: Refused = None
    threatProtection: Refused = None
    domainTools: Refused = None
    integration: NoEffect = None
    origin: NoEffect = None

    @property
    def seconds(self) -> float:
        """The most that the search may take, with the pages of what it finds."""
        return self.timeout / 1000 if self.timeout else inf

    @property
    def pages(self) -> FirecrawlPage | None:
        """How pages are scraped; None where none is. Raises QueryError for wrong options."""
        if not self.scrapeOptions or not self.scrapeOptions.get("formats"):
            return None
        check_known(self.scrapeOptions, FirecrawlPage.keys())
        options = FirecrawlPage.check(dict(stated(FirecrawlPage, self.scrapeOptions.items())))
        if self.limit > MOST_SCRAPED:
            raise wrong("limit", f"limit is at most {MOST_SCRAPED} where pages are scraped: search first, or in parts")
        return options
