"""A reply: status, headers and body in one value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from http import HTTPStatus
from urllib.parse import quote

import orjson
from twisted.web.http_headers import Headers
from twisted.web.server import Request
from ulid import ValueProvider, base32
from ulid.constants import TIMESTAMP_LEN

from webdata.access.cache import Hit
from webdata.crawling.warm_crawlers import Answer
from webdata.domain.attempts import Attempt
from webdata.domain.errors import FetchError
from webdata.domain.query import Remarks
from webdata.domain.records import Record
from webdata.resources import Resource
from webdata.server.streams import ResponseStream

SERVER = "webdata"
"""The `Server` header: no versions."""
INERT = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}
"""On every response without others of its own: a browser shows it as the type that it has, without scripts, forms and
frames, for what it holds may come from any site."""
PHASES = ("queue", "fetch", "render", "parse", "validate")
"""The phases of a call, in order, as `server-timing` names them."""
IDS = ValueProvider()
MAX_NAMED = 20
"""How many ignored parameters are named; nobody needs to read more, and headers must stay short."""

NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Reply:
    """The response to one request. Header names and values are ASCII."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    on_end: Callable[[], None] | None = field(default=None, compare=False)
    """Called when the client has read it, or is gone."""
    cached_as: str | None = field(default=None, compare=False)
    """What names a body that is sent again and again, whose compressed form is worth keeping; None for any other."""

    def put_on(self, request: Request, request_id: str, further: Mapping[str, str] = NONE) -> bytes:
        """Set status and headers on a request to which nothing was written; returns the body to write."""
        request.setResponseCode(self.status, _phrase(self.status).encode("ascii"))  # Twisted has no phrase for 422
        own = {**INERT, "server": SERVER, "x-request-id": request_id, "content-length": str(len(self.body)), **further}
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


def new_request_id() -> str:
    """A fresh `x-request-id`: `req_` and a ULID, so that ids sort by time: its first 6 bytes, in milliseconds."""
    now = IDS.timestamp()
    return "req_" + base32.encode(now.to_bytes(TIMESTAMP_LEN, "big") + IDS.randomness(now))


def answer_reply(resource: Resource, answer: Answer | Hit, remarks: Remarks) -> Reply:
    """The reply that carries a record."""
    text = resource.text(_record(answer)) if resource.text_type else None
    headers = {
        "content-type": text.content_type if text else "application/json",
        **(text.headers if text else {}),
        **(_hit_headers(answer) if isinstance(answer, Hit) else _answer_headers(answer)),
        **remark_headers(remarks),
    }
    if not isinstance(answer, Hit):
        return Reply(200, text.body.encode() if text else answer.json, headers)
    body = text.body.encode() if text else answer.entry.body
    return Reply(200, body, headers, cached_as=f"{answer.key} {answer.entry.at}")


def _record(answer: Answer | Hit) -> Record:
    record: Record = orjson.loads(answer.entry.body) if isinstance(answer, Hit) else answer.record
    return record


def _answer_headers(answer: Answer) -> dict[str, str]:
    timing = server_timing(answer.timings, answer.attempts)
    headers = _fetch_headers(answer.outcome, answer.transport, answer.region_mode, answer.partial, timing)
    return {**headers, "x-engine": answer.engine}


def _hit_headers(hit: Hit) -> dict[str, str]:
    entry = hit.entry
    headers = _fetch_headers(entry.outcome, entry.transport, entry.region_mode, entry.partial)
    return {**headers, "x-engine": entry.engine, "x-cache": hit.state, "age": str(int(hit.age))}


def loss_headers(error: FetchError) -> dict[str, str]:
    """How a fetch went that got no page: the last transport, and every attempt."""
    last = error.attempts[-1]["transport"] if error.attempts else None
    render = sum(attempt["seconds"] for attempt in error.attempts if attempt["transport"] == "browser")
    timings = {"fetch": error.seconds - render, **({"render": render} if render else {})}
    return _fetch_headers(error.outcome, last, error.region_mode, None, server_timing(timings, error.attempts))


def _fetch_headers(
    outcome: str, transport: str | None, region_mode: str | None, partial: str | None, timing: str = ""
) -> dict[str, str]:
    values = {
        "x-outcome": outcome,
        "x-transport": transport,
        "x-cache": "MISS",
        "x-region-mode": region_mode,
        "server-timing": timing,
        "x-partial": partial,
    }
    return {name: value for name, value in values.items() if value}


def server_timing(timings: Mapping[str, float], attempts: Sequence[Attempt] = ()) -> str:
    """Durations in seconds as the value of `server-timing`, in milliseconds (W3C Server Timing).

    After the phases come the attempts, such as `attempt1;desc="google_web http blocked/captcha";dur=41.0`.
    """
    entries = [f"{phase};dur={timings[phase] * 1000:.1f}" for phase in PHASES if phase in timings]
    for number, attempt in enumerate(attempts[:MAX_NAMED], 1):
        end = f"{attempt['engine']} {attempt['transport']} {_end(attempt)}"
        entries.append(f'attempt{number};desc="{end}";dur={attempt["seconds"] * 1000:.1f}')
    return ", ".join(entries)


def attempt_text(attempt: Attempt) -> str:
    """One attempt for the operator's log, with the label of its proxy."""
    proxy = f" via {attempt['proxy']}" if attempt["proxy"] else ""
    return f"{attempt['transport']}{proxy} {_end(attempt)} {attempt['seconds'] * 1000:.0f}ms"


def _end(attempt: Attempt) -> str:
    return f"{attempt['outcome']}/{attempt['kind']}" if attempt["kind"] else attempt["outcome"]


def remark_headers(remarks: Remarks) -> dict[str, str]:
    """The headers that name what was ignored and what was adjusted, where there is something."""
    named = {"x-ignored-params": ignored_params(remarks.ignored), "x-adjusted-params": ", ".join(remarks.adjusted)}
    return {name: value for name, value in named.items() if value}


def ignored_params(names: Iterable[str]) -> str:
    """Names as a comma-separated list; they are the caller's own text, so they are percent-encoded and cut."""
    shown = [quote(name[:60], safe="[]:") for name in names if name]
    return ", ".join(shown[:MAX_NAMED])
