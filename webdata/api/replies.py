"""What goes back to a caller: status, headers and body in one value."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote

import orjson
from twisted.web.server import Request
from ulid import ULID

from webdata.crawl import Answer

SERVER = "webdata"
"""The `Server` header: no versions."""
PHASES = ("queue", "fetch", "render", "parse", "validate")
"""The phases of a call, in order, as `server-timing` names them (contract.md 2)."""
MAX_NAMED = 20
"""How many ignored parameters are named; nobody needs to read more, and headers must stay short."""


@dataclass(frozen=True)
class Reply:
    """An answer to one request. Header names and values are ASCII."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    def put_on(self, request: Request) -> bytes:
        """Set status and headers on a request that nothing was written to; gives the body to write."""
        request.setResponseCode(self.status, self._phrase.encode("ascii"))  # Twisted has no phrase for 422
        for name, value in self.headers.items():
            request.setHeader(name, value)
        request.setHeader(b"content-length", b"%d" % len(self.body))
        return self.body

    @property
    def _phrase(self) -> str:
        return HTTPStatus(self.status).phrase

    def last_words(self) -> bytes:
        """The whole response as bytes, for a connection that is closed after it."""
        headers = {**self.headers, "server": SERVER, "content-length": str(len(self.body)), "connection": "close"}
        lines = [f"HTTP/1.1 {self.status} {self._phrase}", *map(": ".join, headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + self.body


def new_request_id() -> str:
    """A fresh `x-request-id`: `req_` and a ULID, so that ids sort by time."""
    return f"req_{ULID()}"


def answered(answer: Answer, ignored: Iterable[str]) -> Reply:
    """The reply that carries a record; `ignored` are the names of parameters that meant nothing."""
    headers = {
        "content-type": "application/json",
        "x-outcome": answer.outcome,
        "x-transport": answer.transport,
    }
    if timing := server_timing(answer.timings):
        headers["server-timing"] = timing
    if names := ignored_params(ignored):
        headers["x-ignored-params"] = names
    return Reply(200, orjson.dumps(answer.record), headers)


def server_timing(timings: dict[str, float]) -> str:
    """Durations in seconds as the value of `server-timing`, in milliseconds (W3C Server Timing)."""
    return ", ".join(f"{phase};dur={timings[phase] * 1000:.1f}" for phase in PHASES if phase in timings)


def ignored_params(names: Iterable[str]) -> str:
    """Names as a comma-separated list; they are the caller's own text, so they are percent-encoded and cut."""
    shown = [quote(name[:60], safe="[]:") for name in names if name]
    return ", ".join(shown[:MAX_NAMED])
