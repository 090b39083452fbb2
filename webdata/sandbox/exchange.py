"""What a client asked a site, and what the site answers: plain data, no network."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qs

Headers = tuple[tuple[str, str], ...]

HTML: Headers = (("Content-Type", "text/html; charset=UTF-8"),)
TEXT: Headers = (("Content-Type", "text/plain; charset=UTF-8"),)


@dataclass(frozen=True)
class SandboxRequest:
    """One request to one site, as the site would see it."""

    method: str
    scheme: str
    host: str
    """Lower-case name, without the port."""
    target: str
    """The path and query as sent: `/search?q=coffee+shops`."""
    headers: Mapping[str, str]
    """By lower-case name; repeated ones are joined by `, `."""
    body: bytes = b""
    hello: bytes = b""
    """The first bytes of the client's TLS (ClientHello); none for `http`."""

    @property
    def url(self) -> str:
        """The address that the client meant, without the port."""
        return f"{self.scheme}://{self.host}{self.target}"

    @property
    def path(self) -> str:
        """The path as sent, still percent-encoded."""
        return self.target.partition("?")[0]

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The decoded query string; blank values are kept."""
        return _pairs(self.target.partition("?")[2])

    @cached_property
    def form(self) -> dict[str, list[str]]:
        """The decoded body of a posted form."""
        return _pairs(self.body.decode("utf-8", "replace"))

    @cached_property
    def cookies(self) -> dict[str, str]:
        """The cookies by name; of two with one name the first counts."""
        pairs = (pair.strip().partition("=") for pair in self.headers.get("cookie", "").split(";"))
        return {name: value for name, _, value in reversed(list(pairs)) if name}

    def first(self, name: str) -> str:
        """The first value of a query key; "" when it is not there."""
        return self.query.get(name, [""])[0]


@dataclass(frozen=True)
class Reply:
    """What a site sends back, and how it misbehaves on the way."""

    status: int = 200
    headers: Headers = HTML
    body: bytes = b""
    delay: float = 0
    """Seconds until the first byte."""
    reset: bool = False
    """Break the connection (TCP reset) instead of answering."""
    cut: int | None = None
    """Promise the whole body, send this many bytes of it, and close."""
    pieces: Callable[[], Iterator[bytes]] | None = None
    """What goes over the wire instead of all the above, from the first line to the last byte; then close."""
    pause: float = 0
    """Seconds between pieces."""


def redirect(location: str, status: int = 302, headers: Headers = ()) -> Reply:
    """Send the client to another address."""
    return Reply(status, (("Location", location), *headers, *HTML))


def plain(status: int, message: str) -> Reply:
    """A line of text for a person."""
    return Reply(status, TEXT, f"{message}\n".encode())


def unknown(host: str) -> Reply:
    """The answer for a host that no site stands for."""
    return plain(502, f"The sandbox knows no site called {host}.")


def _pairs(text: str) -> dict[str, list[str]]:
    return parse_qs(text, keep_blank_values=True)
