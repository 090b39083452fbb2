"""URL fetch: the query, the record types and the resource of `POST /v1/request`."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ada_url import URL
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from webdata.domain.errors import QueryError
from webdata.domain.query import (
    Capped,
    GivenDevice,
    GivenRegion,
    Header,
    OfCalls,
    Query,
    explained,
    lower,
    not_blank,
)
from webdata.domain.records import Record
from webdata.resources import PlainText, Resource
from webdata.resources.terms.selectors import LONGEST_SELECTOR, xpath_of

ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
PAGES = re.compile("[0-9]{1,6}(-([0-9]{1,6})?)?")
SPACES = " \t\r\n\f"

ResponseType = Literal["full", "markdown"]
Content = Literal["page", "main"]
PageRange = tuple[int, int]
"""The first and the last page, counted from 1."""
MOST_PAGES = 100
"""Pages of a document in one answer: they take two seconds of the processor."""
ALL_PAGES = 999_999
Render = Literal["auto", "never", "always"]
Format = Literal["markdown", "html", "text", "links", "images", "metadata", "structured"]
OF_PARTS = frozenset(["markdown", "text", "links", "images"])
"""Formats that are made of parts of a page, where it has selectors."""
TEXTS = ("markdown", "text")
OF_TEXT = frozenset(TEXTS)
"""Formats that have parts of `max_chars` characters."""
MOST_SELECTORS = 20

FRESH_SECONDS = 300
LONGEST_TIMEOUT = 600
MOST_PART = 1_000_000
"""Characters of the largest part of a text."""


def normal_url(value: str) -> str:
    """For validators: an absolute URL as browsers normalise it, with an ASCII host and without a fragment.

    https://url.spec.whatwg.org/ Whether the URL may be fetched is not checked here.
    """
    text = value.strip(SPACES)
    if CONTROLS.search(text):
        raise ValueError("holds control characters")
    if not ABSOLUTE.match(text):
        raise _no_scheme(text)
    url = URL(text)  # raises ValueError
    url.hash = ""
    return url.href


def _no_scheme(text: str) -> Exception:
    """The error of a text that is no absolute URL; it proposes a scheme if the text is a URL without one."""
    try:
        url = URL(f"https://{text.lstrip('/')}")
    except ValueError:
        url = None
    if url is None or url.username or "." not in url.hostname.strip("."):
        return ValueError("is no absolute URL")
    return explained(f"has no scheme: write https://{text.lstrip('/')}")


def _one_or_more(value: object) -> object:
    """For validators: a list, also of a text with a value a line."""
    return [line.strip() for line in value.splitlines() if line.strip()] if isinstance(value, str) else value


def _formats_of(info: ValidationInfo) -> Sequence[str]:
    """The formats of an answer whose fields before this one are valid."""
    of_type = {"markdown": ["markdown"], "full": ["html"]}.get(info.data.get("response_type", ""), [])
    return info.data.get("formats") or of_type


def _of_markdown(value: str, info: ValidationInfo) -> str:
    if value == "main" and OF_TEXT.isdisjoint(_formats_of(info) or OF_TEXT):
        raise explained("is of Markdown when it is main: ask for it with response_type markdown")
    return value


def _page_range(value: str | None, info: ValidationInfo) -> str | None:
    if value is None:
        return None
    if info.data.get("response_type") == "full":
        raise explained("is of Markdown: ask for it with response_type markdown")
    if not PAGES.fullmatch(value):
        raise explained("is one page (3), pages from one to another (1-20), or from one on (21-)")
    first, last = page_range(value)
    if first < 1 or last < first:
        raise explained("goes from a page to a later one, such as 1-20")
    if last - first >= MOST_PAGES and not value.endswith("-"):
        most = f"{first}-{first + MOST_PAGES - 1}"
        raise explained(f"holds more than the {MOST_PAGES} pages of one answer: ask for {most}")
    return value


def page_range(value: str) -> PageRange:
    """The first and the last page of `3`, `3-20` or `3-`, of which the last goes to the end."""
    first, dash, last = value.partition("-")
    return int(first), int(last or (ALL_PAGES if dash else first))


def _of_text(value: object, info: ValidationInfo) -> object:
    if value is not None and OF_TEXT.isdisjoint(_formats_of(info) or OF_TEXT):
        raise explained("is of Markdown and text: ask for it with response_type markdown")
    return value


def _of_parts(value: object, info: ValidationInfo) -> object:
    if value and OF_PARTS.isdisjoint(_formats_of(info) or OF_PARTS):
        raise explained(f"has no effect on what is asked for: ask for one of {', '.join(sorted(OF_PARTS))}")
    if value and info.data.get("content") == "main" and info.field_name == "include":
        raise explained("says what is read of the page, and so does content main: give one of them")
    return value


def _selector(value: str) -> str:
    try:
        xpath_of(value)
    except ValueError as error:
        shown = value if len(value) <= 60 else f"{value[:60]}…"
        raise explained(f"has {shown!r}, which is no CSS selector ({error}): give one such as article .body") from None
    return value


Selectors = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=LONGEST_SELECTOR), AfterValidator(_selector)], ...],
    BeforeValidator(_one_or_more),
    AfterValidator(_of_parts),
    Field(max_length=MOST_SELECTORS),
]


def _of_part(value: object, info: ValidationInfo) -> object:
    if value is not None and info.data.get("max_chars", 0) is None:
        raise explained("is the place of a part: give max_chars, too")
    return value


class UrlQuery(Query):
    """A page to fetch, and the form of the response."""

    url: Annotated[
        str,
        AfterValidator(normal_url),
        AfterValidator(not_blank),
        Field(
            description="the absolute http or https URL of a page, such as https://example.com/",
            examples=["https://example.com/"],
            json_schema_extra={"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://."},
        ),
    ]
    response_type: Annotated[
        ResponseType,
        BeforeValidator(lower),
        Field(
            description="full for the page and its headers, or markdown for its readable text",
            examples=["markdown"],
        ),
    ]

    formats: Annotated[
        tuple[Format, ...],
        BeforeValidator(_one_or_more),
        Field(
            max_length=7,
            description="for a JSON answer with each of these: markdown, html, text, links, images, metadata, "
            "structured; response_type then says of what they are made: full for the page as it was sent",
            examples=[["markdown", "links"]],
        ),
    ] = ()
    content: Annotated[
        Content,
        BeforeValidator(lower),
        AfterValidator(_of_markdown),
        Field(
            description="of markdown: page for all that a reader sees or can open, or main for what the page is about, "
            "without comments, reviews and links to other pages",
            examples=["main"],
        ),
    ] = "page"
    pages: Annotated[
        str | None,
        AfterValidator(_page_range),
        Field(
            description="of a PDF as markdown: one page (3), pages from one to another (1-20), or from one on (21-); "
            f"at most {MOST_PAGES} are in one answer",
            examples=["1-20"],
            json_schema_extra={"pattern": f"^{PAGES.pattern}$"},
        ),
    ] = None
    include: Annotated[
        Selectors,
        Field(
            description=f"up to {MOST_SELECTORS} CSS selectors: of markdown, text, links and images only what is in "
            "these elements",
            examples=[["article"]],
        ),
    ] = ()
    exclude: Annotated[
        Selectors,
        Field(
            description=f"up to {MOST_SELECTORS} CSS selectors of elements that are left out of these",
            examples=[["nav", ".comments"]],
        ),
    ] = ()
    render: Annotated[
        Render,
        BeforeValidator(lower),
        Field(
            description="always for the page as a browser shows it, never for the page without a browser, or auto for "
            "a browser where there is no text without it",
            examples=["always"],
        ),
    ] = "auto"
    region: Annotated[GivenRegion, Header("X-Proxy-Location", or_key=True)] = None
    device: Annotated[GivenDevice, Header("X-User-Agent", or_key=True)] = None
    timeout: Annotated[
        int | None,
        Capped(),
        Field(
            ge=1,
            le=LONGEST_TIMEOUT,
            description=f"a whole number of seconds from 1 to {LONGEST_TIMEOUT}, after which there is an answer in any "
            "case; the service's own deadline is the most",
            examples=[10],
        ),
    ] = None
    max_age: Annotated[
        int | None,
        Capped(),
        Field(
            ge=0,
            le=FRESH_SECONDS,
            description=f"a whole number of seconds from 0 to {FRESH_SECONDS}: how old a cached page may be",
            examples=[60],
        ),
    ] = None
    max_chars: Annotated[
        int | None,
        AfterValidator(_of_text),
        Capped(),
        OfCalls(),
        Field(
            ge=100,
            le=MOST_PART,
            description=f"a whole number from 100 to {MOST_PART}: the most characters of the text that one answer has",
            examples=[20000],
        ),
    ] = None
    cursor: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9]{1,9}$",
            description="the x-next-cursor of the answer before, for the part after it",
            examples=["19874"],
        ),
        AfterValidator(_of_part),
        OfCalls(),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _set_response_type(cls, values: Any) -> Any:
        """With formats the type may be absent: it is that of pages as they are read, not as they were sent."""
        if isinstance(values, dict) and values.get("formats") and values.get("response_type") is None:
            return {**values, "response_type": "markdown"}
        return values

    @property
    def conversion(self) -> dict[str, Any]:
        """The arguments of `webdata.pages.url.page` that it says."""
        names = ("response_type", "content", "pages", "formats", "include", "exclude")
        return {name: getattr(self, name) for name in names}


class DocumentFacts(TypedDict):
    """What a document says of itself, and which of its pages are in the answer."""

    pages: int
    """All that it has."""
    first: int
    last: int
    title: str | None
    author: str | None
    subject: str | None
    keywords: str | None
    created: str | None
    """In ISO 8601, with as much of it as the document has."""
    modified: str | None


class UrlConfig(TypedDict):
    """The request for a page, and the format of the page."""

    asked: NotRequired[str]
    """The requested URL, normalised."""
    url: str
    """The URL of the page after all redirects."""
    method: str
    response_type: ResponseType
    content_type: str | None
    encoding: str
    """The charset that its bytes were decoded with, in lower case; `base64` if they are no text."""
    left_out: NotRequired[float]
    """Of Markdown: the share of the page's visible words that is not in it, from 0 to 1."""
    from_scripts: NotRequired[bool]
    """Of Markdown: true where text that only the page's scripts hold, as data, is in it."""
    document: NotRequired[DocumentFacts]
    """Of a PDF as Markdown."""
    truncated: NotRequired[bool]
    """Whether the connection or the compressed data ended before the page was complete."""


class UrlPage(TypedDict):
    """The whole record."""

    next: NotRequired[str]
    """The cursor of the part after this one, where the text is cut."""

    data: str
    """The page's text, or its Markdown; base64 if the page is no text."""
    status: int
    headers: dict[str, str]
    """The upstream's, by names in lower case; values of repeated headers are joined with commas."""
    config: UrlConfig


class UrlFormats(TypedDict):
    """The whole record of a page in formats, of which it has those that were asked for."""

    url: str
    """That of the page after all redirects."""
    status: int
    content_type: str | None
    truncated: NotRequired[bool]
    left_out: NotRequired[float]
    """Of its Markdown."""
    from_scripts: NotRequired[bool]
    """Of its Markdown and text."""
    document: NotRequired[DocumentFacts]
    """Of a PDF."""
    next: NotRequired[str]
    """The cursor of the part after this one, where the texts are cut."""
    markdown: NotRequired[str]
    html: NotRequired[str]
    text: NotRequired[str]
    links: NotRequired[list[dict[str, str]]]
    images: NotRequired[list[dict[str, str]]]
    metadata: NotRequired[dict[str, str | None]]
    structured: NotRequired[dict[str, Any]]


UrlRecord = UrlPage | UrlFormats
MARKDOWN_TYPE = "text/html; charset=utf-8"


def part(record: Record, query: Query) -> Record:
    """The record with the part of its text that the query asks for, and `next`, the cursor of the part after it.

    Raises QueryError for a cursor behind the end of the text, which no answer of this page had.
    """
    if not isinstance(query, UrlQuery) or query.max_chars is None:
        return record
    texts = {name: record[name] for name in (TEXTS if query.formats else ("data",)) if name in record}
    longest = max(texts.values(), key=len)
    first = int(query.cursor or 0)
    if first and first >= len(longest):
        message = (
            f"cursor is behind the end of the text, which has {len(longest)} characters now: begin again without it"
        )
        raise QueryError([{"loc": ["body", "cursor"], "msg": message, "type": "cursor"}])
    end = part_end(longest, first, query.max_chars)
    parts = {name: text[first:end] for name, text in texts.items()}
    return {**record, **parts, **({"next": str(end)} if end < len(longest) else {})}


def part_end(text: str, first: int, most: int) -> int:
    """Where the part of a text that begins at `first` ends: behind a line, where one ends in its second half."""
    end = first + most
    if end >= len(text):
        return len(text)
    line_end = text.rfind("\n", first + most // 2, end)
    return end if line_end < 0 else line_end + 1


def markdown(record: Record) -> PlainText | None:
    """The text response to a record of Markdown, with its other values in headers; None for a full page."""
    if "config" not in record or record["config"]["response_type"] != "markdown":
        return None
    headers = {"x-upstream-status": str(record["status"])}
    if record["config"]["truncated"]:
        headers["x-truncated"] = "true"
    if "document" in record["config"]:
        document = record["config"]["document"]
        headers["x-pages"] = f"{document['first']}-{document['last']}/{document['pages']}"
    if "left_out" in record["config"]:
        headers["x-left-out"] = f"{record['config']['left_out']:.2f}"
    if "from_scripts" in record["config"]:
        headers["x-from-scripts"] = "true"
    return PlainText(record["data"], MARKDOWN_TYPE, headers)


URL_REQUEST = Resource(
    name="url_request",
    path="/v1/request",
    summary="Any page, as it is or as Markdown",
    query=UrlQuery,
    method="POST",
    packed=False,
    fresh_seconds=FRESH_SECONDS,
    bad_query_status=400,
    bad_query_fields=("url", "response_type", "content"),
    envelope=(),
    part=part,
    text=markdown,
    text_type=MARKDOWN_TYPE,
    text_headers=(
        ("x-upstream-status", "the status of the page itself"),
        ("x-truncated", "true where the page broke off before it was whole"),
        ("x-pages", "of a PDF: which of its pages are in the Markdown, and how many it has, such as 1-100/240"),
        ("x-left-out", "the share of the page's visible words that is not in the Markdown, such as 0.07"),
        ("x-from-scripts", "true where text is in the Markdown that only the data in the page's scripts has"),
        ("x-next-cursor", "the cursor of the part after this one, where max_chars has cut the text"),
    ),
    not_found="The URL could not be accessed: there is no such host, or it has no such page. Check the URL.",
)
