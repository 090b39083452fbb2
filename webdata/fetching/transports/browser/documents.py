"""The documents that a page of the browser navigates to, as the server sent them.

The Fetch domain of https://chromedevtools.github.io/devtools-protocol pauses each one twice: before its request, and
after the headers of its response. What Chromium does not show as a page (a PDF, a download, an empty body) is read
here, and the browser gets an empty page instead.
"""

import asyncio
import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest, ResponseDataLossError

from webdata.fetching.transports.browser.page_parts import PageParts
from webdata.fetching.transports.http import check_headers
from webdata.runtime.wire.kinds import Kind, kind

CHUNK = 1024 * 1024
MAX_RENDERED = 1024 * 1024
"""Bytes of the longest page that is rendered when its body as sent is wanted; a longer one is no challenge."""
MAX_DIGITS = 20
REDIRECTS = (301, 302, 303, 307, 308)
NO_CONTENT = (204, 205)
BODY_HEADERS = ("content-encoding", "content-length")
"""Headers of the encoded body; the browser returns and accepts decoded ones."""
CONNECTION_HEADERS = ("connection", "keep-alive", "transfer-encoding")
LATE_ERRORS = ("Invalid InterceptionId", "closed")
"""Parts of the error messages for a request that was cancelled meanwhile."""
CUT_OFF = ("ERR_CONTENT_", "ERR_INCOMPLETE_CHUNKED", "ERR_INVALID_CHUNKED", "ERR_CONNECTION_", "ERR_HTTP2_")
"""Prefixes of Chromium's error names for an incomplete body."""
EMPTY_PAGE = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}], "body": ""}
PATTERNS = [{"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")]


@dataclass(frozen=True)
class Rules:
    """Limits and checks for the documents of a page."""

    maxsize: int
    """Bytes of the longest document; 0 for no limit."""
    redirects: int
    """Limit of the redirects before a document."""
    check: Callable[[str], object]
    """Raises an error for a URL that may not be requested."""
    fault: Callable[[str], Exception | None]
    """Why the guard proxy did not reach a URL; None when it did, or without that proxy."""
    as_sent: bool = False
    """Whether pages are read as they were sent too, not only as the browser renders them."""
    parts: PageParts | None = None
    """What its caller sends with them."""


@dataclass(frozen=True, eq=False)
class Document:
    """A response of a server. `body` is decoded; None when the browser reads it."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes | None
    is_page: bool
    """Whether the browser renders it as HTML."""
    complete: bool
    request_id: str
    """The id that the browser gave the request, `Network.RequestId`."""


class Documents:
    """Intercepts the documents of one page's main frame: calls `on_document` for each, and `on_failure` for errors."""

    def __init__(self, rules: Rules, on_document: Callable[[Document], None], on_failure: Callable[[Exception], None]):
        self._rules = rules
        self._on_document = on_document
        self._on_failure = on_failure
        self._session: CDPSession | None = None
        self.frame: str | None = None
        """The id of the main frame."""
        self._request_id = ""
        self._size = 0
        self._redirects = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, session: CDPSession) -> None:
        """Intercept all further navigations of the page."""
        self._session = session
        self.frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", self._on_paused)
        session.on("Network.dataReceived", self._on_data)
        session.on("Network.loadingFailed", self._on_loading_failed)
        await session.send("Network.enable", {"maxPostDataSize": 1})  # else events have all that scripts post
        await session.send("Fetch.enable", {"patterns": PATTERNS})

    async def body(self, document: Document) -> bytes:
        """The body of a document; empty when the browser has read it and does not store it any more."""
        if document.body is not None or self._session is None:
            return document.body or b""
        try:
            response = await self._session.send("Network.getResponseBody", {"requestId": document.request_id})
        except PlaywrightError:
            return b""
        return _decoded(response, "body")

    def _on_paused(self, event: Mapping[str, Any]) -> None:
        task = asyncio.create_task(self._resume(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_data(self, event: Mapping[str, Any]) -> None:
        """Check the size of a page that the browser reads."""
        if event["requestId"] != self._request_id:
            return
        self._size += event["dataLength"]
        try:
            self._check_size(self._size)
        except DownloadCancelledError as error:
            self._on_failure(error)

    def _on_loading_failed(self, event: Mapping[str, Any]) -> None:
        """Fail for a page whose body is incomplete: Chromium would show its beginning, and never finish loading."""
        if event["requestId"] != self._request_id or event.get("canceled"):
            return
        if event["errorText"].removeprefix("net::").startswith(CUT_OFF):
            self._on_failure(ResponseDataLossError("the page was cut off"))

    async def _resume(self, event: Mapping[str, Any]) -> None:
        try:
            command, arguments = await self._command(event)
            await self._send(f"Fetch.{command}", event, **arguments)
        except PlaywrightError as error:
            if not any(text in error.message for text in LATE_ERRORS):
                self._on_failure(error)

    async def _command(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The Fetch command for a paused request, and its arguments."""
        if event["frameId"] != self.frame:
            return "continueRequest", {}
        try:
            if "responseErrorReason" in event:
                return self._on_unreached(event)
            if "responseStatusCode" not in event:
                return await self._on_request(event)
            return await self._on_response(event)
        except PlaywrightError:
            raise
        except Exception as error:  # noqa: BLE001  # every error ends the visit
            return self._fail(error)

    def _fail(self, error: Exception) -> tuple[str, dict[str, Any]]:
        self._on_failure(error)
        return "failRequest", {"errorReason": "Failed"}

    def _on_unreached(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if fault := self._rules.fault(event["request"]["url"]):
            return self._fail(fault)
        return "continueRequest", {}

    async def _on_request(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        self._redirects = self._redirects + 1 if "redirectedRequestId" in event else 0
        if self._redirects > self._rules.redirects:
            raise IgnoreRequest("max redirections reached")
        self._rules.check(event["request"]["url"])
        if self._rules.parts and self._session:
            return "continueRequest", await self._rules.parts.changes(self._session, event["request"])
        return "continueRequest", {}

    async def _on_response(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        url, status = event["request"]["url"], event["responseStatusCode"]
        check_headers([(header["name"], header["value"]) for header in event.get("responseHeaders", [])])
        headers = _joined(event.get("responseHeaders", []))
        if status in REDIRECTS and headers.get("location"):  # an empty one is none: Chromium shows the page
            self._rules.check(urljoin(url, headers["location"]))
            return "continueRequest", {}
        self._check_size(_length(headers))
        document = Document(url, status, headers, None, _may_be_page(status, headers), True, event["networkId"])
        if self._rules.as_sent or not document.is_page or "content-type" not in headers:
            document = _with_body(document, await self._read_body(event))
        self._request_id, self._size = document.request_id, 0
        self._on_document(document)
        return _response_command(document, event)

    def _check_size(self, size: int) -> None:
        if 0 < self._rules.maxsize < size:
            raise too_large()

    async def _read_body(self, event: Mapping[str, Any]) -> bytes:
        """Read the body of a paused response, which the browser cannot read after that."""
        stream = (await self._send("Fetch.takeResponseBodyAsStream", event))["stream"]
        body = bytearray()
        while True:
            part = await self._send("IO.read", None, handle=stream, size=CHUNK)
            body += _decoded(part, "data")
            self._check_size(len(body))
            if part["eof"]:
                return bytes(body)

    async def _send(self, method: str, event: Mapping[str, Any] | None, **arguments: object) -> Any:
        assert self._session
        parameters = {"requestId": event["requestId"], **arguments} if event else arguments
        return await self._session.send(method, parameters)


def too_large() -> DownloadCancelledError:
    """The error of a page of more bytes than are read."""
    return DownloadCancelledError("the page is larger than what is read")


def _with_body(document: Document, body: bytes) -> Document:
    declared = document.headers.get("content-type", "")
    is_page = document.is_page and len(body) <= MAX_RENDERED and kind(body, declared)[0] is Kind.HTML
    encoded = "content-encoding" in document.headers  # the length differs, and a decoding error leaves no body
    complete = bool(body) if encoded else len(body) >= _length(document.headers)
    return replace(document, body=body, is_page=is_page, complete=complete)


def _may_be_page(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the browser may render a response with these headers as HTML; without a type it depends on the body."""
    declared = headers.get("content-type", "html").lower()
    is_download = headers.get("content-disposition", "").lower().lstrip().startswith("attachment")
    return "html" in declared and not is_download and status not in NO_CONTENT


def _joined(headers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for header in headers:
        name = header["name"].lower()
        if name in CONNECTION_HEADERS:
            continue
        joined[name] = f"{joined[name]}, {header['value']}" if name in joined else header["value"]
    return joined


def _decoded(part: Mapping[str, Any], name: str) -> bytes:
    return base64.b64decode(part[name]) if part.get("base64Encoded") else part[name].encode()


def _length(headers: Mapping[str, str]) -> int:
    """The Content-Length in bytes; 0 when it is missing or no number, or one of so many digits that it is absurd."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() and len(length) < MAX_DIGITS else 0


def _response_command(document: Document, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Let the browser read the response, or give it the body that was read, or an empty page."""
    if document.body is None:
        return "continueRequest", {}
    if not document.is_page or not document.body:
        return "fulfillRequest", EMPTY_PAGE
    dropped = (*BODY_HEADERS, *CONNECTION_HEADERS)
    return "fulfillRequest", {
        "responseCode": document.status,
        "responsePhrase": event.get("responseStatusText") or "Unknown",  # Chromium has none for some codes
        "responseHeaders": [header for header in event["responseHeaders"] if header["name"].lower() not in dropped],
        "body": base64.b64encode(document.body).decode(),
    }
