"""What goes back to a caller: status, headers and body in one value."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote

import orjson
from twisted.web.server import Request
from ulid import ULID

from webdata.crawl import Answer
from webdata.ladder import Step
from webdata.resources import Resource

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


def answered(resource: Resource, answer: Answer, ignored: Iterable[str]) -> Reply:
    """The reply that carries a record; `ignored` are the names of parameters that meant nothing."""
    text = resource.text(answer.record)
    headers = {
        "content-type": text.content_type if text else "application/json",
        **(text.headers if text else {}),
        "x-outcome": answer.outcome,
        "x-transport": answer.transport,
    }
    if answer.region_mode:
        headers["x-region-mode"] = answer.region_mode
    if timing := server_timing(answer.timings, answer.steps):
        headers["server-timing"] = timing
    if answer.partial:
        headers["x-partial"] = answer.partial
    if names := ignored_params(ignored):
        headers["x-ignored-params"] = names
    return Reply(200, text.body.encode() if text else orjson.dumps(answer.record), headers)


def server_timing(timings: Mapping[str, float], steps: Sequence[Step] = ()) -> str:
    """Durations in seconds as the value of `server-timing`, in milliseconds (W3C Server Timing).

    After the phases come the steps by which pages were won, such as `step1;desc="http blocked/captcha";dur=41.0`.
    """
    phases = [f"{phase};dur={timings[phase] * 1000:.1f}" for phase in PHASES if phase in timings]
    return ", ".join([*phases, *map(step_timing, range(1, MAX_NAMED + 1), steps)])


def step_timing(number: int, step: Step) -> str:
    """One step as an entry of `server-timing`: its transport, and how it ended."""
    how = f"{step['outcome']}/{step['kind']}" if step["kind"] else step["outcome"]
    return f'step{number};desc="{step["transport"]} {how}";dur={step["seconds"] * 1000:.1f}'


def ignored_params(names: Iterable[str]) -> str:
    """Names as a comma-separated list; they are the caller's own text, so they are percent-encoded and cut."""
    shown = [quote(name[:60], safe="[]:") for name in names if name]
    return ", ".join(shown[:MAX_NAMED])
