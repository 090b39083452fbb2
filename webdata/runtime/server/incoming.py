"""A request, read once for all who answer it."""

from dataclasses import dataclass
from functools import lru_cache

from twisted.web import http
from twisted.web.http_headers import Headers
from twisted.web.server import Request

from webdata.domain.api_key import MARK, redacted
from webdata.runtime.server.replies import JSON, PROBLEM_JSON
from webdata.runtime.server.site import ascii_only
from webdata.runtime.server.streams import BodyStream

MOST_READ = 1000
"""Targets that are remembered with their parts."""
LONGEST_READ = 500
"""Bytes of the longest that is remembered, so that long targets do not fill the memory."""


@dataclass(slots=True)
class Incoming:
    """A request: its target, headers and body."""

    id: str
    method: str
    path: str
    """As `query`, it is still percent-encoded, and ASCII."""
    query: str
    redacted: str
    """Its target without keys, for the log."""
    headers: Headers
    body: bytes
    request: Request
    """Twisted's own, for a response that is sent while it comes."""
    gone: bool = False
    """Whether its caller has hung up."""

    @classmethod
    def read(cls, request: Request, request_id: str) -> "Incoming":
        """From a request that came just now, with what is there of its body, which is gone as soon as its caller is."""
        body = b""
        if request.content:
            request.content.seek(0)
            body = request.content.read()
        method = request.method.decode("ascii", "replace")
        return cls(request_id, method, *_read(request.uri), request.requestHeaders, body, request)

    @property
    def arriving(self) -> bytes | BodyStream:
        """The body, also of one that is still arriving."""
        return getattr(self.request, "stream", None) or self.body

    @property
    def has_key(self) -> bool:
        """Whether there is an API key in its target."""
        return MARK in self.redacted

    def header(self, name: str) -> str | None:
        """The value of a header, the last one where it was sent twice; None if it was not sent."""
        return header_of(self.headers, name)

    @property
    def wanted_type(self) -> str:
        """The media type of an error body."""
        return PROBLEM_JSON if PROBLEM_JSON in (self.header("accept") or "").lower() else JSON


def client_address(request: http.Request) -> str:
    """The address of who sent a request; one of IPv4 as such, also on a port that serves both families."""
    return str(getattr(request.getClientAddress(), "host", "unknown")).removeprefix("::ffff:")


def header_of(headers: Headers, name: str) -> str | None:
    """The value of a header, the last one where it was sent twice; None if it was not sent."""
    values = headers.getRawHeaders(name.encode("ascii"))
    return values[-1].decode("utf-8", "replace") if values else None


def path_of(target: bytes) -> str:
    """The path of a request's target."""
    return _read(target)[0]


def _read(target: bytes) -> tuple[str, str, str]:
    return _parts(target) if len(target) <= LONGEST_READ else _parts.__wrapped__(target)


@lru_cache(MOST_READ)
def _parts(target: bytes) -> tuple[str, str, str]:
    """The path and the query string of a request's target, and the target without keys."""
    uri = ascii_only(target).decode("ascii")
    shown = redacted(uri)
    if not uri.startswith("/"):  # the absolute form, http://host/path, that RFC 9112 3.2.2 has servers accept
        uri = "/" + uri.partition("://")[2].partition("/")[2]
    path, _, query = uri.partition("?")
    return path, query, shown
