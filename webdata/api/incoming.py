"""A request as those who answer it see it."""

from dataclasses import dataclass
from functools import lru_cache

from twisted.web.http_headers import Headers
from twisted.web.server import Request

from webdata.api.problems import JSON, PROBLEM_JSON
from webdata.domain.api_key import redacted
from webdata.server.site import ascii_only

MOST_READ = 1000
"""Targets that are remembered with what they consist of."""
LONGEST_READ = 500
"""Bytes of the longest: who sends many long ones finds them read, and the memory as it was."""


@dataclass(slots=True)
class Incoming:
    """A request, read."""

    id: str
    method: str
    path: str
    """As `query`, it is still percent-encoded, and ASCII."""
    query: str
    shown: str
    """Its target as the log may tell it: without keys."""
    headers: Headers
    body: bytes

    @classmethod
    def read(cls, request: Request, request_id: str) -> "Incoming":
        """From a request that came just now: its body is gone as soon as its caller is."""
        assert request.content
        request.content.seek(0)
        body: bytes = request.content.read()
        method = request.method.decode("ascii", "replace")
        return cls(request_id, method, *_read(request.uri), request.requestHeaders, body)

    def header(self, name: str) -> str | None:
        """The value of a header, the last one where it was sent twice; None if it was not sent."""
        values = self.headers.getRawHeaders(name.encode("ascii"))
        return values[-1].decode("utf-8", "replace") if values else None

    @property
    def wanted_type(self) -> str:
        """The media type of an error body."""
        return PROBLEM_JSON if PROBLEM_JSON in (self.header("accept") or "").lower() else JSON


def _read(target: bytes) -> tuple[str, str, str]:
    return _parts(target) if len(target) <= LONGEST_READ else _parts.__wrapped__(target)


@lru_cache(MOST_READ)
def _parts(target: bytes) -> tuple[str, str, str]:
    """The path and the query string of a request's target, and the target as the log may tell it."""
    uri = ascii_only(target).decode("ascii")
    shown = redacted(uri)
    if not uri.startswith("/"):  # the absolute form, http://host/path, that RFC 9112 3.2.2 has servers accept
        uri = "/" + uri.partition("://")[2].partition("/")[2]
    path, _, query = uri.partition("?")
    return path, query, shown
