"""What the API and the gateway know of each other: requests that are passed on to other services."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from twisted.web.http_headers import Headers

from webdata.accounts.access.admission import CallerStatus
from webdata.accounts.access.api_keys import Header
from webdata.runtime.server.streams import BodyStream, ResponseStream

DATA_SERVICE = "v1"
"""The first segment of the paths of this service's own endpoints."""
Begin = Callable[[int, str, list[tuple[bytes, bytes]], Mapping[str, str]], ResponseStream]
"""Begins a response: with the status, reason and headers of the upstream, and further headers of this service."""


@dataclass(frozen=True)
class RequestSender:
    """Who sent a request, and how."""

    address: str
    host: str
    """The `Host` that it asked."""
    secure: bool

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return "https" if self.secure else "http"


@dataclass(frozen=True)
class ProxyRequest:
    """A request to be passed on."""

    id: str
    method: str
    path: str
    """As `query`, it is still percent-encoded."""
    query: str
    headers: Headers
    header: Header
    body: bytes | BodyStream
    sender: RequestSender
    check: Callable[[], None] = lambda: None
    """Raises UnauthorizedError for a key that was sent where none belongs."""


@dataclass(frozen=True)
class ProxyEnd:
    """How a request ended: with a response, or an error for which there was none."""

    error: Exception | None
    status: CallerStatus | None


class Proxying(Protocol):
    """Passes on requests, and answers `/ping`."""

    def leads(self, path: str) -> bool:
        """Whether requests of a path are passed on."""

    def check_secret(self, headers: Headers) -> None:
        """Raise UnauthorizedError or QueryError where a request does not have the gateway's secret as it should."""

    async def answer(self, request: ProxyRequest, begin: Begin) -> ProxyEnd:
        """Pass on a request, from its key to the end of the response. Raises nothing."""
        ...

    def ended(self, path: str, status: int) -> None:
        """Count a request, by the status of its response."""

    def ping(self, request_id: str, *, stopping: bool) -> dict[str, str]:
        """The answer of `/ping`."""
