"""A reply: status, headers and body in one value."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus

from twisted.web.http_headers import Headers
from twisted.web.server import Request
from ulid import ValueProvider, base32
from ulid.constants import TIMESTAMP_LEN

from webdata.runtime.server.streams import ResponseStream

JSON = "application/json"
PROBLEM_JSON = "application/problem+json"
SERVER = "webdata"
"""The `Server` header: no versions."""
INERT = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""On every response without others of its own: a browser shows it as the type that it has, without scripts, forms and
frames, for what it holds may come from any site."""
BODILESS = (204, 304)
"""Statuses of responses that have neither a body nor a length of it (RFC 9110 8.6)."""
IDS = ValueProvider()

NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Reply:
    """The response to one request. Header names and values are ASCII."""

    status: int
    body: bytes | memoryview
    headers: dict[str, str] = field(default_factory=dict)
    on_end: Callable[[], None] | None = field(default=None, compare=False)
    """Called when the client has read it, or is gone."""
    cached_as: str | None = field(default=None, compare=False)
    """What names a body that is sent again and again, whose compressed form is worth keeping; None for any other."""
    pieces: AsyncGenerator[bytes] | None = field(default=None, compare=False)
    """A body of unknown length in the place of `body`, sent as fast as the client reads it."""

    def put_on(self, request: Request, request_id: str, further: Mapping[str, str] = NONE) -> bytes | memoryview:
        """Set status and headers on a request to which nothing was written; returns the body to write."""
        request.setResponseCode(self.status, _phrase(self.status).encode("ascii"))  # Twisted has no phrase for 422
        own = {**INERT, "server": SERVER, "x-request-id": request_id, **further}
        if self.status not in BODILESS:
            own["content-length"] = str(len(self.body))
        request.responseHeaders = ReplyHeaders(request.responseHeaders, own | self.headers)
        return self.body

    def with_headers(self, headers: Mapping[str, str]) -> "Reply":
        """The same reply with further headers."""
        return replace(self, headers={**self.headers, **headers})

    def last_words(self) -> bytes:
        """The whole response as bytes, for a connection that is closed after it."""
        headers = {
            **INERT,
            **self.headers,
            "server": SERVER,
            "content-length": str(len(self.body)),
            "connection": "close",
        }
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}", *map(": ".join, headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + self.body


class ReplyHeaders(Headers):
    """Those that a request has already, and others, of which each has one value.

    Twisted checks each name and value when it is set: measured, a twentieth of the time of an answer from the cache.
    """

    def __init__(self, before: Headers, others: Mapping[str, str]) -> None:
        Headers.__init__(self)
        raw = self._rawHeaders = {name: list(values) for name, values in before.getAllRawHeaders()}
        for name, value in others.items():
            if value.isascii() and value.isprintable():
                raw[_canonical(name)] = [value.encode()]
            else:
                self.setRawHeaders(name, [value])


def begin(
    request: Request,
    request_id: str,
    status: int,
    reason: str,
    received: Iterable[tuple[bytes, bytes]],
    further: Mapping[str, str],
) -> ResponseStream:
    """Begin the response to a request with the head of another one, and headers of ours, of which each has one value.

    Raises ValueError for a head that cannot be sent.
    """
    before = Headers()
    for name, value in received:
        before.addRawHeader(name, value)
    if not before.hasHeader("date"):
        before.setRawHeaders("date", request.responseHeaders.getRawHeaders("date", []))
    own = {**INERT, "server": SERVER, "x-request-id": request_id, **further}
    request.setResponseCode(status, reason.encode("latin-1", "replace"))
    request.responseHeaders = ReplyHeaders(before, own)
    request.write(b"")
    return ResponseStream(request)


@cache
def _canonical(name: str) -> bytes:
    """A name as Twisted has it among headers."""
    ((canonical, _),) = Headers({name: [""]}).getAllRawHeaders()
    return canonical


@cache
def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def attachment(name: str) -> dict[str, str]:
    """The header by which a browser stores a body as a file of this name, and never shows it."""
    return {"content-disposition": f'attachment; filename="{name}"'}


def new_request_id() -> str:
    """A fresh `x-request-id`: `req_` and a ULID, so that ids sort by time: its first 6 bytes, in milliseconds."""
    now = IDS.timestamp()
    return "req_" + base32.encode(now.to_bytes(TIMESTAMP_LEN, "big") + IDS.randomness(now))
