"""URL fetch: the query, the record types and the resource of `POST /v1/request`."""

import re
from typing import Annotated, Literal, NotRequired, TypedDict

from ada_url import URL
from pydantic import AfterValidator, BeforeValidator, Field

from webdata.domain.query import Query, explained, lower, not_blank
from webdata.domain.records import Record
from webdata.resources import PlainText, Resource

ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
SPACES = " \t\r\n\f"

ResponseType = Literal["full", "markdown"]


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
    truncated: NotRequired[bool]
    """Whether the connection or the compressed data ended before the page was complete."""


class UrlPage(TypedDict):
    """The whole record."""

    data: str
    """The page's text, or its Markdown; base64 if the page is no text."""
    status: int
    headers: dict[str, str]
    """The upstream's, by names in lower case; values of repeated headers are joined with commas."""
    config: UrlConfig


MARKDOWN_TYPE = "text/html; charset=utf-8"


def markdown(record: Record) -> PlainText | None:
    """The text response to a record of Markdown, with its other values in headers; None for a full page."""
    if record["config"]["response_type"] != "markdown":
        return None
    headers = {"x-upstream-status": str(record["status"])}
    if record["config"]["truncated"]:
        headers["x-truncated"] = "true"
    return PlainText(record["data"], MARKDOWN_TYPE, headers)


URL_REQUEST = Resource(
    name="url_request",
    path="/v1/request",
    summary="Any page, as it is or as Markdown",
    query=UrlQuery,
    method="POST",
    packed=False,
    bad_query_status=400,
    envelope=(),
    text=markdown,
    text_type=MARKDOWN_TYPE,
    text_headers=(
        ("x-upstream-status", "the status of the page itself"),
        ("x-truncated", "true where the page broke off before it was whole"),
    ),
    not_found="The URL could not be accessed: there is no such host, or it has no such page. Check the URL.",
)
