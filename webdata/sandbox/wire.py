"""HTTP/1.1 as bytes (RFC 9112): parses a stream into requests, serialises replies. No sockets here.

Twisted's own HTTP server cannot switch to TLS in the middle of a connection (CONNECT) without access to its internals.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from webdata.sandbox.exchange import Headers, Reply

MAX_HEAD = 64 * 1024
MAX_HEADERS = 200
MAX_BODY = 8 * 1024 * 1024

METHOD = re.compile(rb"[A-Z]{1,20}( |$)")
REQUEST_LINE = re.compile(rb"([A-Z]{3,20}) ([!-~\x80-\xff]+) HTTP/1\.([01])")
HEADER_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*\r?\n")
UNSAFE = str.maketrans("", "", "\r\n\0")

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class WireError(Exception):
    """Bytes that are no acceptable request; `status` is the reply's."""

    def __init__(self, status: HTTPStatus, reason: str):
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Message:
    """A request as received, with any form of target (RFC 9112, 3.2)."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By lower-case name; repeated ones are joined."""
    body: bytes
    keep_alive: bool


class RequestReader:
    """Buffers bytes, returns complete requests in their order."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Buffer the next bytes. Raises WireError for more than the largest request."""
        self._received += data
        if len(self._received) > MAX_HEAD + MAX_BODY:
            raise WireError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MAX_BODY} bytes at once")

    def next(self) -> Message | None:
        """The next request, or None while it is incomplete. Raises WireError for anything else."""
        end = self._received.find(b"\r\n\r\n", 0, MAX_HEAD)
        if end < 0:
            self._check_unfinished()
            return None
        method, target, minor, headers = _head(bytes(self._received[: end + 2]))
        start = end + 4
        stop = start + _length(headers)
        if len(self._received) < stop:
            return None
        body = bytes(self._received[start:stop])
        del self._received[:stop]
        return Message(method, target, headers, body, _keeps_alive(minor, headers))

    def take_unread(self) -> bytes:
        """Remove and return the bytes after the last request."""
        unread = bytes(self._received)
        self._received.clear()
        return unread

    def _check_unfinished(self) -> None:
        if len(self._received) >= MAX_HEAD:
            raise WireError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a head of more than {MAX_HEAD} bytes")
        if self._received and not METHOD.match(self._received):
            raise WireError(HTTPStatus.BAD_REQUEST, "this is not HTTP/1.1")


def _head(head: bytes) -> tuple[str, str, bytes, dict[str, str]]:
    first, _, lines = head.partition(b"\r\n")
    line = REQUEST_LINE.fullmatch(first)
    if not line:
        raise WireError(HTTPStatus.BAD_REQUEST, "this is not HTTP/1.1")
    method, target, minor = line.groups()
    return method.decode(), target.decode("utf-8", "replace"), minor, _headers(lines)


def _headers(lines: bytes) -> dict[str, str]:
    if lines.count(b"\n") > MAX_HEADERS:
        raise WireError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"more than {MAX_HEADERS} headers")
    headers: dict[str, str] = {}
    position = 0
    while position < len(lines):
        line = HEADER_LINE.match(lines, position)
        if not line:
            raise WireError(HTTPStatus.BAD_REQUEST, "a header that cannot be read")
        name, value = line[1].decode().lower(), line[2].decode("utf-8", "replace")
        separator = "; " if name == "cookie" else ", "
        headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
        position = line.end()
    return headers


def _length(headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise WireError(HTTPStatus.LENGTH_REQUIRED, "send the body with Content-Length")
    text = headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise WireError(HTTPStatus.BAD_REQUEST, "a Content-Length that is no number")
    if len(text) > 12 or int(text) > MAX_BODY:
        raise WireError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of more than {MAX_BODY} bytes")
    return int(text)


def _keeps_alive(minor: bytes, headers: Mapping[str, str]) -> bool:
    options = f"{headers.get('connection', '')},{headers.get('proxy-connection', '')}".lower()
    return "keep-alive" in options if minor == b"0" else "close" not in options


def reply_bytes(reply: Reply, *, head_only: bool = False, keep_alive: bool = True) -> bytes:
    """A reply as bytes. `Content-Length` is always that of the whole body."""
    headers = (*reply.headers, ("Content-Length", str(len(reply.body))))
    head = head_bytes(reply.status, headers if keep_alive else (*headers, ("Connection", "close")))
    return head if head_only else head + reply.body[: reply.cut]


def head_bytes(status: int, headers: Headers) -> bytes:
    """The head of a reply with these headers and no others, in UTF-8; escaped bytes (PEP 383) are sent unchanged."""
    lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
    lines += [f"{name}: {value}".translate(UNSAFE) for name, value in headers]
    return b"\r\n".join(map(_encoded, lines)) + b"\r\n\r\n"


def _encoded(line: str) -> bytes:
    try:
        return line.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return line.encode("utf-8", "replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
