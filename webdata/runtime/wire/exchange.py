"""Requests to the sandbox's sites and their replies: plain data, no network."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs

import orjson

Headers = tuple[tuple[str, str], ...]

HTML: Headers = (("Content-Type", "text/html; charset=UTF-8"),)
TEXT: Headers = (("Content-Type", "text/plain; charset=UTF-8"),)
JSON: Headers = (("Content-Type", "application/json"),)


@dataclass(frozen=True)
class SandboxRequest:
    """One request to one site, as the site receives it."""

    method: str
    scheme: str
    host: str
    """Lower-case name, without the port."""
    target: str
    """The path and query as sent: `/search?q=coffee+shops`."""
    headers: Mapping[str, str]
    """By lower-case name; repeated ones are joined by `, `."""
    body: bytes = b""
    client_hello: bytes = b""
    """The first bytes of the client's TLS (ClientHello); none for `http`."""

    @property
    def url(self) -> str:
        """The requested URL, without the port."""
        return f"{self.scheme}://{self.host}{self.target}"

    @property
    def path(self) -> str:
        """The path as sent, still percent-encoded."""
        return self.target.partition("?")[0]

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The decoded query string, blank values included."""
        return parse_qs(self.target.partition("?")[2], keep_blank_values=True)

    @cached_property
    def form(self) -> dict[str, list[str]]:
        """The decoded body of a posted form, blank values included."""
        return parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @cached_property
    def cookies(self) -> dict[str, str]:
        """The cookies by name; the first of a repeated name counts."""
        pairs = (pair.strip().partition("=") for pair in self.headers.get("cookie", "").split(";"))
        return {name: value for name, _, value in reversed(list(pairs)) if name}

    def first(self, name: str) -> str:
        """The first value of a query key; "" when it is missing."""
        return self.query.get(name, [""])[0]


@dataclass(frozen=True)
class SiteReply:
    """A site's reply, and the faults in its transfer."""

    status: int = 200
    headers: Headers = HTML
    body: bytes = b""
    delay: float = 0
    """Seconds until the first byte."""
    reset: bool = False
    """Break the connection (TCP reset) instead of answering."""
    cut: int | None = None
    """Declare the length of the whole body, send this many bytes of it, and close."""
    pieces: Callable[[], Iterator[bytes]] | None = None
    """The raw bytes of a reply, status line included, that replace all of the above; then close."""
    pause: float = 0
    """Seconds between two pieces of the body."""


Handler = Callable[[SandboxRequest], SiteReply]


def redirect(location: str, status: int = 302, headers: Headers = ()) -> SiteReply:
    """A redirect to another URL."""
    return SiteReply(status, (("Location", location), *headers, *HTML))


def plain(status: int, message: str) -> SiteReply:
    """A reply with a line of plain text."""
    return SiteReply(status, TEXT, f"{message}\n".encode())


def json_reply(content: Any, status: int = 200, headers: Headers = ()) -> SiteReply:
    """A reply in JSON."""
    return SiteReply(status, (*JSON, *headers), orjson.dumps(content))


def constant(reply: SiteReply) -> Handler:
    """A handler with the same reply for every request."""
    return lambda _: reply


def unknown_host(host: str) -> SiteReply:
    """The reply for a host that no site serves."""
    return plain(502, f"The sandbox knows no site called {host}.")
