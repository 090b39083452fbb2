"""URL fetch: the query, the record types and the resource of `POST /v1/request`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator
from pydantic.fields import FieldInfo

from webdata.domain.errors import QueryError
from webdata.domain.in_schema import InSchema
from webdata.domain.query import (
    CallQuery,
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
from webdata.domain.shapes import Position, Share, WebLink, described, sometimes
from webdata.domain.text_parts import CURSOR, part_begin, part_cursor, part_end
from webdata.resources import Resource
from webdata.resources.groups import Group
from webdata.resources.terms.absolute_urls import normal_url
from webdata.resources.terms.extraction import EXAMPLE, MOST_EXTRACTIONS, Extracted, Extractions
from webdata.resources.terms.page_files import MARKDOWN_TYPE, PICTURE_TYPES, TEXT_HEADERS, markdown, picture, screenshot
from webdata.resources.terms.page_ranges import MOST_PAGES, PAGES, of_markdown
from webdata.resources.terms.rendering import (
    GivenPictureType,
    GivenQuality,
    GivenWait,
    GivenWholePage,
    Screenshot,
    browser_need,
    not_never,
)
from webdata.resources.terms.selectors import LONGEST_SELECTOR, known_selector
from webdata.resources.terms.sent_parts import GivenBody, GivenCookies, GivenHeaders, GivenMethod, by_no_browser
from webdata.resources.terms.structured_data import StructuredData

ResponseType = Literal["full", "markdown"]
Content = Literal["page", "main"]
Render = Literal["auto", "never", "always"]
Format = Literal["markdown", "html", "text", "links", "images", "metadata", "structured", "rendered_html", "screenshot"]
OF_PARTS = frozenset(["markdown", "text", "links", "images", "extract"])
"""Formats, and what else is made of parts of a page, where it has selectors."""
TEXTS = ("markdown", "text")
OF_TEXT = frozenset(TEXTS)
"""Formats that have parts of `max_chars` characters."""
MOST_SELECTORS = 20

FRESH_SECONDS = 300
LONGEST_TIMEOUT = 600
MOST_PART = 1_000_000
"""Characters of the largest part of a text."""


def _one_or_more(value: object) -> object:
    """For validators: a list, also of a text with a value a line."""
    return [line.strip() for line in value.splitlines() if line.strip()] if isinstance(value, str) else value


def _formats_of(info: ValidationInfo) -> Sequence[str]:
    """The formats of an answer whose fields before this one are valid."""
    of_type = {"markdown": ["markdown"], "full": ["html"]}.get(info.data.get("response_type", ""), [])
    wanted = ["extract"] if info.data.get("extract") else []
    return [*(info.data.get("formats") or ()), *wanted] or of_type


def _of_markdown(value: str, info: ValidationInfo) -> str:
    if value == "main" and OF_TEXT.isdisjoint(_formats_of(info) or OF_TEXT):
        raise explained("is of Markdown when it is main: ask for markdown, by formats or by response_type")
    return value


def _of_text(value: object, info: ValidationInfo) -> object:
    if value is not None and OF_TEXT.isdisjoint(_formats_of(info) or OF_TEXT):
        raise explained("is of Markdown and text: ask for one of them, by formats or by response_type")
    return value


def _of_parts(value: object, info: ValidationInfo) -> object:
    if value and OF_PARTS.isdisjoint(_formats_of(info) or OF_PARTS):
        raise explained(f"has no effect on what is asked for: ask for one of {', '.join(sorted(OF_PARTS))}")
    if value and info.data.get("content") == "main" and info.field_name == "include":
        raise explained("says what is read of the page, and so does content main: give one of them")
    return value


Selectors = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=LONGEST_SELECTOR), AfterValidator(known_selector)], ...],
    BeforeValidator(_one_or_more),
    AfterValidator(_of_parts),
    Field(max_length=MOST_SELECTORS),
]


def _of_transports(value: Any, info: ValidationInfo) -> Any:
    part = by_no_browser(value) if info.field_name == "headers" else by_no_browser(None, value)
    if part and (need := browser_need(info.data)):
        raise explained(f"has {part}, which a browser would keep for other origins: leave it out, or {need}")
    return value


def _of_part(value: object, info: ValidationInfo) -> object:
    if value is not None and info.data.get("max_chars", 0) is None:
        raise explained("is the place of a part: give max_chars, too")
    return value


class UrlQuery(CallQuery):
    """A page to fetch, and the form of the response."""

    url: Annotated[
        str,
        AfterValidator(normal_url),
        AfterValidator(not_blank),
        described(
            "the absolute http or https URL of a page, such as https://example.com/",
            "https://example.com/",
            json_schema_extra={"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://."},
        ),
    ]
    response_type: Annotated[
        ResponseType,
        BeforeValidator(lower),
        described("full for the page and its headers, or markdown for its readable text", "markdown"),
    ]

    formats: Annotated[
        tuple[Format, ...],
        BeforeValidator(_one_or_more),
        described(
            "for a JSON answer with each of these: markdown, html, text, links, images, metadata, "
            "structured, rendered_html, screenshot; response_type then says of what they are made: full for the page "
            "as it was sent",
            ["markdown", "links"],
            max_length=9,
        ),
    ] = ()
    extract: Annotated[
        Extractions,
        described(
            f"a JSON object of up to {MOST_EXTRACTIONS} names, each with a CSS selector, or with an object "
            "of css, xpath or jsonld, and attribute, type (text, number, price, date, url, html) and many: for a JSON "
            "answer with each value",
            EXAMPLE,
        ),
    ] = {}  # noqa: RUF012  # pydantic copies it
    content: Annotated[
        Content,
        BeforeValidator(lower),
        AfterValidator(_of_markdown),
        described(
            "of markdown: page for all that a reader sees or can open, or main for what the page is about, "
            "without comments, reviews and links to other pages",
            "main",
        ),
    ] = "page"
    pages: Annotated[
        str | None,
        AfterValidator(of_markdown),
        described(
            "of a PDF as markdown: one page (3), pages from one to another (1-20), or from one on (21-); "
            f"at most {MOST_PAGES} are in one answer",
            "1-20",
            json_schema_extra={"pattern": f"^{PAGES.pattern}$"},
        ),
    ] = None
    include: Annotated[
        Selectors,
        described(
            f"up to {MOST_SELECTORS} CSS selectors: of markdown, text, links and images only what is in these elements",
            ["article"],
        ),
    ] = ()
    exclude: Annotated[
        Selectors,
        described(f"up to {MOST_SELECTORS} CSS selectors of elements that are left out of these", ["nav", ".comments"]),
    ] = ()
    render: Annotated[
        Render,
        BeforeValidator(lower),
        AfterValidator(not_never),
        described(
            "always for the page as a browser shows it, never for the page without a browser, or auto for "
            "a browser where there is no text without it",
            "always",
        ),
    ] = "auto"
    wait_for: GivenWait = None
    screenshot_type: GivenPictureType = None
    screenshot_full_page: GivenWholePage = False
    screenshot_quality: GivenQuality = None
    headers: Annotated[GivenHeaders, AfterValidator(_of_transports)] = None
    cookies: GivenCookies = None
    method: Annotated[GivenMethod, AfterValidator(_of_transports)] = "GET"
    body: GivenBody = None
    region: Annotated[GivenRegion, Header("X-Proxy-Location", or_key=True)] = None
    device: Annotated[GivenDevice, Header("X-User-Agent", or_key=True)] = None
    timeout: Annotated[
        int | None,
        Capped(),
        described(
            f"a whole number of seconds from 1 to {LONGEST_TIMEOUT}, after which there is an answer in any "
            "case; the service's own deadline is the most",
            10,
            ge=1,
            le=LONGEST_TIMEOUT,
        ),
    ] = None
    max_age: Annotated[
        int | None,
        Capped(),
        described(
            f"a whole number of seconds from 0 to {FRESH_SECONDS}: how old a cached page may be",
            60,
            ge=0,
            le=FRESH_SECONDS,
        ),
    ] = None
    max_chars: Annotated[
        int | None,
        AfterValidator(_of_text),
        Capped(),
        OfCalls(),
        described(
            f"a whole number from 100 to {MOST_PART}: the most characters of the text that one answer has",
            20000,
            ge=100,
            le=MOST_PART,
        ),
    ] = None
    cursor: Annotated[
        str | None,
        described(
            "the x-next-cursor of the answer before, for the part after it", "19874-5f2c81d0", pattern=f"^{CURSOR}$"
        ),
        AfterValidator(_of_part),
        OfCalls(),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _set_response_type(cls, values: Any) -> Any:
        """With formats or extract the type may be absent: the page is then as it is read, not as it is sent."""
        asked = isinstance(values, dict) and (values.get("formats") or values.get("extract"))
        if asked and values.get("response_type") is None:
            return {**values, "response_type": "markdown"}
        return values

    @classmethod
    def refuse_in_batches(cls, given: Mapping[str, Any]) -> None:
        super().refuse_in_batches(given)
        if "screenshot" in str(given.get("formats", "")):
            message = "formats has screenshot, which is of single calls, since batches store records: leave it out"
            raise QueryError([{"loc": ["query", "formats"], "msg": message, "type": "of_calls"}])

    @property
    def conversion(self) -> dict[str, Any]:
        """The options of `webdata.pages.url.page` that it says."""
        names = ("method", "response_type", "content", "pages", "formats", "include", "exclude", "extract")
        return {name: getattr(self, name) for name in names}

    @property
    def is_in_formats(self) -> bool:
        """Whether the record has formats or extracts, instead of the page as it is."""
        return bool(self.formats or self.extract)

    @property
    def needs_browser(self) -> bool:
        """Whether no other transport has what it asks for."""
        return browser_need(vars(self)) is not None

    @property
    def most_seconds(self) -> int | None:
        return self.timeout

    @property
    def most_age(self) -> int | None:
        return self.max_age

    @property
    def has_file(self) -> bool:
        return "screenshot" in self.formats

    @property
    def is_private(self) -> bool:
        """Also a POST without a body: it may do something, which an answer of the cache would not."""
        return super().is_private or self.method == "POST"


WITHOUT_FORMATS = sometimes("Without formats.")
WITH_FORMATS = sometimes("With formats.")


def _with_format(name: Format) -> FieldInfo:
    return sometimes(f"With the format {name}.")


class DocumentFacts(TypedDict):
    """Of a document: what it says of itself, and of a PDF which of its pages are here."""

    pages: NotRequired[Position]
    """All that it has; only of a PDF, as the two after it."""
    first: NotRequired[Position]
    last: NotRequired[Position]
    title: str | None
    author: str | None
    subject: str | None
    keywords: str | None
    created: str | None
    """In ISO 8601, with as much of it as the document has."""
    modified: str | None


class UrlConfig(TypedDict):
    """The request for a page, and the format of the page."""

    asked: WebLink
    """The URL that was asked for, as browsers write it."""
    url: WebLink
    """Where the page came from, after all redirects."""
    method: Literal["GET", "POST"]
    """How the upstream was asked."""
    response_type: ResponseType
    content_type: str | None
    """What the page is; null where nothing tells."""
    encoding: Annotated[str, Field(pattern="^[^A-Z]+$")]
    """The charset that its bytes were read as, in lower case; `base64` if they are no text."""
    left_out: NotRequired[Share]
    """Of Markdown: the share of the page's visible words that is not in it, from 0 to 1."""
    from_scripts: NotRequired[bool]
    """Of Markdown: true where text that only the page's scripts hold, as data, is in it."""
    document: NotRequired[DocumentFacts]
    """Of a document as Markdown: what it says of itself, and of a PDF which of its pages are here."""
    truncated: bool
    """Whether the page broke off before it was whole."""


class PageLink(TypedDict):
    """A link of a page."""

    url: str
    """Absolute."""
    text: str


class PagePicture(TypedDict):
    """A picture of a page."""

    url: str
    """Absolute."""
    alt: str


@InSchema(closed=True)
class UrlRecord(TypedDict, total=False):
    """With response_type markdown the body of the answer is `data` alone, as plain text; with formats it has `url` and
    those that were asked for.
    """

    data: Annotated[str, WITHOUT_FORMATS]
    """The page's text as it came, or as Markdown; base64 of what is no text."""
    status: Required[Annotated[int, Field(ge=100, le=999)]]
    """The upstream's status."""
    headers: Annotated[dict[Annotated[str, Field(pattern="^[^A-Z]*$")], str], WITHOUT_FORMATS]
    """The upstream's headers: names in lower case, repeated ones joined with commas."""
    config: Annotated[UrlConfig, WITHOUT_FORMATS]
    url: Annotated[WebLink, WITH_FORMATS]
    """Where the page came from, after all redirects."""
    content_type: Annotated[str | None, WITH_FORMATS]
    """What the page is; null where nothing tells."""
    truncated: Annotated[bool, WITH_FORMATS]
    """Whether the page broke off before it was whole."""
    left_out: Annotated[Share, _with_format("markdown")]
    """The share of the page's visible words that is not in `markdown`, from 0 to 1."""
    from_scripts: Annotated[bool, _with_format("markdown")]
    """True where text that only the page's scripts hold, as data, is in `markdown`."""
    document: Annotated[DocumentFacts, sometimes("With formats, of a document.")]
    next: Annotated[str, Field(pattern=f"^{CURSOR}$"), sometimes("Where max_chars has cut a text.")]
    """The cursor of the part after this one, where max_chars has cut the texts."""
    markdown: Annotated[str, _with_format("markdown")]
    """The readable page."""
    html: Annotated[str, _with_format("html")]
    """The page's text."""
    text: Annotated[str, _with_format("text")]
    """The readable page without markup, a line for each block."""
    links: Annotated[list[PageLink], _with_format("links")]
    images: Annotated[list[PagePicture], _with_format("images")]
    metadata: Annotated[dict[str, str | None], _with_format("metadata")]
    structured: Annotated[StructuredData, _with_format("structured")]
    extract: Annotated[dict[str, Extracted], sometimes("With extract.")]
    """Each value that was asked for, by its name."""
    rendered_html: Annotated[str, _with_format("rendered_html")]
    """The page's HTML as the browser shows it, with what scripts have made."""
    screenshot: Annotated[Screenshot, _with_format("screenshot")]


def part(record: Record, query: Query) -> Record:
    """The record with the part of its text that the query asks for, and `next`, the cursor of the part after it.

    Raises QueryError for a cursor that no answer with this text had.
    """
    if not isinstance(query, UrlQuery) or query.max_chars is None:
        return record
    texts = {name: record[name] for name in (TEXTS if query.is_in_formats else ("data",)) if name in record}
    longest = max(texts.values(), key=len)
    try:
        begin = part_begin(longest, query.cursor)
    except ValueError as error:
        raise QueryError([{"loc": ["body", "cursor"], "msg": f"cursor {error}", "type": "cursor"}]) from None
    end = part_end(longest, begin, query.max_chars)
    parts = {name: text[begin:end] for name, text in texts.items()}
    return {**record, **parts, **({"next": part_cursor(longest, end)} if end < len(longest) else {})}


URL_REQUEST = Resource(
    name="url_request",
    path="/v1/request",
    summary="Any page, as it is or as Markdown",
    query=UrlQuery,
    record=UrlRecord,
    group=Group.ANY_PAGE,
    method="POST",
    packed=False,
    fresh_seconds=FRESH_SECONDS,
    bad_query_status=400,
    bad_query_fields=("url", "response_type", "content"),
    envelope=(),
    part=part,
    text=markdown,
    text_type=MARKDOWN_TYPE,
    file=screenshot,
    media=picture,
    media_types=PICTURE_TYPES,
    text_headers=TEXT_HEADERS,
    not_found="The URL could not be accessed: there is no such host, or it has no such page. Check the URL.",
)
