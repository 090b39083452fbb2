"""The documents that a page of the browser navigates to: as they were sent, before the browser makes pages of them.

Each is held at two moments, by the Fetch domain of https://chromedevtools.github.io/devtools-protocol: before it is
asked for, and when its headers have come. What is no page to Chromium (a PDF, a download, nothing at all) is read here,
and the browser gets an empty page in its place.
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

from webdata.pages._url.kinds import Kind, kind

CHUNK = 1024 * 1024
LONGEST_SHOWN = 1024 * 1024
"""Bytes; a longer page that is wanted as it was sent is no challenge, and nobody needs to see it."""
REDIRECTS = (301, 302, 303, 307, 308)
NO_CONTENT = (204, 205)
OF_BODY = ("content-encoding", "content-length")
"""Headers of a body as it was sent; the browser gives and takes it decoded."""
OF_CONNECTION = ("connection", "keep-alive", "transfer-encoding")
LATE = ("Invalid InterceptionId", "closed")
"""What is said of a request that nobody waits for any more."""
CUT_OFF = ("ERR_CONTENT_", "ERR_INCOMPLETE_CHUNKED", "ERR_INVALID_CHUNKED", "ERR_CONNECTION_", "ERR_HTTP2_")
"""How the names of errors begin that Chromium knows for a body that breaks off."""
EMPTY_PAGE = {"responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}], "body": ""}
PATTERNS = [{"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")]


@dataclass(frozen=True)
class Rules:
    """What a page's documents are held to."""

    maxsize: int
    """Bytes of the longest one; 0 for any."""
    redirects: int
    """How many may lead to one."""
    check: Callable[[str], object] | None
    """Raises an error for a URL that may not be asked for."""
    fault: Callable[[str], Exception | None]
    """Why a URL was not reached, where the way out of the browser knows."""
    as_sent: bool = False
    """Whether the bytes of pages are wanted too, and not only what the browser makes of them."""


@dataclass(frozen=True, eq=False)
class Document:
    """What a server sent. `body` is decoded, and None where it was left to the browser."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes | None
    is_page: bool
    """Whether the browser shows it as HTML."""
    whole: bool
    number: str
    """By which the browser knows it."""


class Documents:
    """Holds the documents of one page's main frame. `came` is told of each, `failed` of the first that may not be."""

    def __init__(self, rules: Rules, came: Callable[[Document], None], failed: Callable[[Exception], None]):
        self._rules = rules
        self._came = came
        self._failed = failed
        self._session: CDPSession | None = None
        self._frame: str | None = None
        self._number = ""
        self._size = 0
        self._hops = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self, session: CDPSession) -> None:
        """Hold whatever the page navigates to from now on."""
        self._session = session
        self._frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", self._on_paused)
        session.on("Network.dataReceived", self._on_data)
        session.on("Network.loadingFailed", self._on_lost)
        await session.send("Network.enable")
        await session.send("Fetch.enable", {"patterns": PATTERNS})

    async def body(self, document: Document) -> bytes:
        """The body; nothing where it was left to the browser, which keeps it only for as long as it likes."""
        if document.body is not None or self._session is None:
            return document.body or b""
        try:
            found = await self._session.send("Network.getResponseBody", {"requestId": document.number})
        except PlaywrightError:
            return b""
        return _plain(found, "body")

    def _on_paused(self, event: Mapping[str, Any]) -> None:
        task = asyncio.create_task(self._paused(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_data(self, event: Mapping[str, Any]) -> None:
        """Count what comes of a page that was left to the browser."""
        if event["requestId"] != self._number:
            return
        self._size += event["dataLength"]
        try:
            self._check_size(self._size)
        except DownloadCancelledError as error:
            self._failed(error)

    def _on_lost(self, event: Mapping[str, Any]) -> None:
        """End with a page that breaks off after its headers: Chromium shows what came, as one that loads for ever."""
        if event["requestId"] != self._number or event.get("canceled"):
            return
        if event["errorText"].removeprefix("net::").startswith(CUT_OFF):
            self._failed(ResponseDataLossError("the page was cut off on its way"))

    async def _paused(self, event: Mapping[str, Any]) -> None:
        try:
            deed, arguments = await self._deed(event)
            await self._send(f"Fetch.{deed}", event, **arguments)
        except PlaywrightError as error:
            if not any(word in error.message for word in LATE):
                self._failed(error)

    async def _deed(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """What becomes of a request that is held."""
        if event["frameId"] != self._frame:
            return "continueRequest", {}
        try:
            if "responseErrorReason" in event:
                return self._unreached(event)
            if "responseStatusCode" not in event:
                return self._asked(event)
            return await self._answered(event)
        except PlaywrightError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the visit ends with it
            return self._refused(error)

    def _refused(self, error: Exception) -> tuple[str, dict[str, Any]]:
        self._failed(error)
        return "failRequest", {"errorReason": "Failed"}

    def _unreached(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        if fault := self._rules.fault(event["request"]["url"]):
            return self._refused(fault)
        return "continueRequest", {}

    def _asked(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        self._hops = self._hops + 1 if "redirectedRequestId" in event else 0
        if self._hops > self._rules.redirects:
            raise IgnoreRequest("max redirections reached")
        self._check(event["request"]["url"])
        return "continueRequest", {}

    async def _answered(self, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        url, status = event["request"]["url"], event["responseStatusCode"]
        headers = _joined(event.get("responseHeaders", []))
        if status in REDIRECTS and "location" in headers:
            self._check_redirect(url, headers["location"])
            return "continueRequest", {}
        self._check_size(_length(headers))
        document = Document(url, status, headers, None, _may_be_page(status, headers), True, event["networkId"])
        if self._rules.as_sent or not document.is_page or "content-type" not in headers:
            document = self._read(document, await self._body(event))
        self._number, self._size = document.number, 0
        self._came(document)
        return _given(document, event)

    def _read(self, document: Document, body: bytes) -> Document:
        declared = document.headers.get("content-type", "")
        shown = document.is_page and len(body) <= LONGEST_SHOWN and kind(body, declared)[0] is Kind.HTML
        encoded = "content-encoding" in document.headers  # then the length is another, and what is broken gives nothing
        whole = bool(body) if encoded else len(body) >= _length(document.headers)
        return replace(document, body=body, is_page=shown, whole=whole)

    def _check_redirect(self, url: str, location: str) -> None:
        if not location:
            raise IgnoreRequest("a redirect to itself")
        self._check(urljoin(url, location))

    def _check(self, url: str) -> None:
        if self._rules.check:
            self._rules.check(url)

    def _check_size(self, size: int) -> None:
        if 0 < self._rules.maxsize < size:
            raise DownloadCancelledError("the page is larger than what is read")

    async def _body(self, event: Mapping[str, Any]) -> bytes:
        """The body of an answer that is held, which the browser cannot have any more."""
        stream = (await self._send("Fetch.takeResponseBodyAsStream", event))["stream"]
        body = bytearray()
        while True:
            part = await self._send("IO.read", None, handle=stream, size=CHUNK)
            body += _plain(part, "data")
            self._check_size(len(body))
            if part["eof"]:
                return bytes(body)

    async def _send(self, method: str, event: Mapping[str, Any] | None, **arguments: object) -> Any:
        assert self._session
        asked = {"requestId": event["requestId"], **arguments} if event else arguments
        return await self._session.send(method, asked)


def _may_be_page(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the browser would show an answer with these headers as HTML; without a type it looks at the bytes."""
    declared = headers.get("content-type", "html").lower()
    is_download = headers.get("content-disposition", "").lower().lstrip().startswith("attachment")
    return "html" in declared and not is_download and status not in NO_CONTENT


def _joined(headers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for header in headers:
        name = header["name"].lower()
        if name in OF_CONNECTION:
            continue
        found[name] = f"{found[name]}, {header['value']}" if name in found else header["value"]
    return found


def _plain(part: Mapping[str, Any], name: str) -> bytes:
    return base64.b64decode(part[name]) if part.get("base64Encoded") else part[name].encode()


def _length(headers: Mapping[str, str]) -> int:
    """How long the body is said to be as it was sent; 0 where that is not known."""
    told = headers.get("content-length", "")
    return int(told) if told.isdecimal() else 0


def _given(document: Document, event: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What the browser gets: the answer itself, what was read of it, or an empty page."""
    if document.body is None:
        return "continueRequest", {}
    if not document.is_page or not document.body:
        return "fulfillRequest", EMPTY_PAGE
    unsaid = (*OF_BODY, *OF_CONNECTION)
    return "fulfillRequest", {
        "responseCode": document.status,
        "responsePhrase": event.get("responseStatusText") or "Unknown",  # Chromium knows none for some codes
        "responseHeaders": [header for header in event["responseHeaders"] if header["name"].lower() not in unsaid],
        "body": base64.b64encode(document.body).decode(),
    }
