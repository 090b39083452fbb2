"""HTTP/1.1 as bytes (RFC 9112) for the proxies of this process: h11 reads requests and writes those to other proxies.

Replies are written here: those of the sandbox break the rules on purpose, and h11 writes none that do.
"""

import hmac
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import responses

import h11

from webdata.runtime.wire.exchange import Headers, SiteReply

MAX_HEAD = 64 * 1024
"""Bytes of the head of a request or response, together with those of interim responses (1xx) before it and of trailers
behind it; a browser reads 256 KB, and sites send 16 at most."""
MAX_HEADERS = 200
"""Lines of the same."""
MAX_BODY = 8 * 1024 * 1024

UNSAFE = str.maketrans("", "", "\r\n\0")

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(frozen=True)
class Message:
    """A request as received, with any form of target (RFC 9112, 3.2)."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By lower-case name; repeated ones are joined."""
    body: bytes
    keep_alive: bool

    def has_credentials(self, credentials: str) -> bool:
        """Whether it gives a proxy this `user:password`."""
        given = self.headers.get("proxy-authorization", "")
        return hmac.compare_digest(given.encode(), basic_authorization(credentials).encode())


class Requests:
    """The requests of one client, in their order."""

    def __init__(self, read: Callable[[], Awaitable[bytes]]):
        self.unread = b""
        """What was received behind the last request."""
        self._read = read

    async def next(self) -> Message | None:
        """The next request; None when the client has closed the connection.

        Raises RemoteProtocolError for anything else, with the status of the reply as its `error_status_hint`.
        """
        http = h11.Connection(h11.SERVER, MAX_HEAD)
        body = bytearray()
        received = self.unread or await self._read()
        while received:
            http.receive_data(received)
            while (event := http.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Request):
                    request, headers = event, _checked_headers(event)
                elif isinstance(event, h11.Data):
                    body += event.data
                else:
                    self.unread = http.trailing_data[0]
                    method, target = request.method.decode(), request.target.decode()
                    return Message(method, target, headers, bytes(body), keep_alive=http.their_state is h11.DONE)
            received = await self._read()
        return None


def _checked_headers(request: h11.Request) -> Mapping[str, str]:
    if len(request.headers) > MAX_HEADERS:
        raise too_many_headers()
    headers: dict[str, str] = {}
    for key, text in request.headers:
        name, value = key.decode(), text.decode("utf-8", "replace")
        separator = "; " if name == "cookie" else ", "
        headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    if "transfer-encoding" in headers:
        raise h11.RemoteProtocolError("send the body with Content-Length", HTTPStatus.LENGTH_REQUIRED)
    if int(headers.get("content-length", 0)) > MAX_BODY:
        raise h11.RemoteProtocolError(f"a body of more than {MAX_BODY} bytes", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return headers


def too_many_headers() -> h11.RemoteProtocolError:
    """The error for a head that is longer than any is read."""
    reason = f"more than {MAX_HEADERS} headers, or {MAX_HEAD} bytes of them"
    return h11.RemoteProtocolError(reason, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


def basic_authorization(credentials: str) -> str:
    """The value of `Proxy-Authorization` for `user:password` (RFC 7617)."""
    return f"Basic {b64encode(credentials.encode()).decode()}"


def request_bytes(method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes = b"") -> bytes:
    """A request as bytes; one with a body has a header `Content-Length`. Raises LocalProtocolError."""
    http = h11.Connection(h11.CLIENT)
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    head = h11.Request(method=method, headers=encoded, target=target)
    return b"".join(http.send(event) or b"" for event in (head, h11.Data(data=body), h11.EndOfMessage()))


def reply_bytes(reply: SiteReply, *, head_only: bool = False, keep_alive: bool = True) -> bytes:
    """A reply as bytes. `Content-Length` is always that of the whole body."""
    headers = (*reply.headers, ("Content-Length", str(len(reply.body))))
    head = head_bytes(reply.status, headers if keep_alive else (*headers, ("Connection", "close")))
    return head if head_only else head + reply.body[: reply.cut]


def head_bytes(status: int, headers: Headers) -> bytes:
    """The head of a reply with these headers and no others, in UTF-8; escaped bytes (PEP 383) are sent unchanged."""
    lines = [f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}"]
    lines += [f"{name}: {value}".translate(UNSAFE) for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
