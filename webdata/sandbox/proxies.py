"""Region proxies of the sandbox: each names itself in its replies, and fails as configured."""

import socket
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from http import HTTPStatus
from random import Random
from time import monotonic

from pydantic import TypeAdapter, ValidationError

from webdata.domain.errors import ConfigError
from webdata.domain.proxies import ANY
from webdata.domain.query import Region
from webdata.runtime.wire.exchange import HTML, TEXT, SandboxRequest, SiteReply
from webdata.runtime.wire.listener import HOST
from webdata.runtime.wire.wire import Message
from webdata.sandbox.connection import Backend

SERVED_BY = "x-sandbox-proxy"
"""The header of replies with the label of the proxy."""

DENIED = (
    b"<!doctype html><title>Access Denied</title><h1>Access Denied</h1><p>You don't have permission to access this.</p>"
)
LIMITED = b"<!doctype html><title>Too Many Requests</title><h1>Too many requests</h1>"


@dataclass(frozen=True)
class Behaviour:
    """How a proxy fails; by default not at all."""

    dead: bool = False
    """Whether it refuses every connection."""
    flaky: float = 0
    """The share of connections that break before the first byte."""
    slow: float = 0
    """Seconds before every reply."""
    locked: bool = False
    """Reject every password: 407."""
    denied: int | None = None
    """The status, 403 or 429, with which the sites reject every request from it."""
    per_second: float | None = None
    """How many requests a second the sites accept from it; 429 for more."""


def parse_description(text: str) -> tuple[str, Behaviour]:
    """The region and behaviour of a proxy in `DE`, `DE dead` or `US flaky=0.5 slow=1`. Raises ConfigError."""
    region, *options = text.split() or [""]
    given = {name: value or "true" for name, _, value in (option.partition("=") for option in options)}
    known = [field.name for field in fields(Behaviour)]
    try:
        if region in (*Region, ANY) and given.keys() <= set(known):
            return region, TypeAdapter(Behaviour).validate_python(given)
    except ValidationError:
        pass
    right = f"give a region of the API or {ANY}, and how it does, such as 'DE flaky=0.5'; there are {', '.join(known)}"
    raise ConfigError(f"the sandbox has no proxy {text!r}: {right}")


class RegionProxy(Backend):
    """A forward proxy on loopback in front of a sandbox.

    It requires `user` and `password`, where given; the same seed breaks the same connections.
    """

    def __init__(
        self,
        sandbox: Backend,
        label: str,
        behaviour: Behaviour | None = None,
        *,
        user: str = "",
        password: str = "",
        seed: int = 0,
        clock: Callable[[], float] = monotonic,
    ):
        super().__init__()
        self.authority = sandbox.authority
        self.label = label
        self.behaviour = behaviour or Behaviour()
        self.keep_alive = not self.behaviour.flaky
        """A flaky proxy closes its connections, so that any request can fail."""
        self.request_count = 0
        """How many requests for a page or a tunnel it received."""
        self._sandbox = sandbox
        self._credentials = f"{user}:{password}" if user else ""
        self._random = Random(seed)  # noqa: S311 - repeatable failures
        self._clock = clock
        self._tokens, self._refilled_at = self.behaviour.per_second or 0.0, clock()
        self._closed_port: socket.socket | None = None

    @property
    def region(self) -> str:
        """The region of its label."""
        return self.label.partition("-")[0]

    async def start(self) -> str:
        """Listen on a free port, and return the URL with user and password."""
        port = self._bound() if self.behaviour.dead else await self.listener.start()
        return f"http://{self._credentials}{'@' if self._credentials else ''}{HOST}:{port}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._closed_port:
            self._closed_port.close()
        await self.listener.stop()

    def _bound(self) -> int:
        """A port that is bound without listening, so that no other process gets it."""
        self._closed_port = socket.socket()
        self._closed_port.bind((HOST, 0))
        return int(self._closed_port.getsockname()[1])

    def refusal(self, message: Message) -> SiteReply | None:
        """The proxy's own reply to a request for a page or a tunnel; None when it forwards the request."""
        self.request_count += 1
        if self._random.random() < self.behaviour.flaky:
            return SiteReply(reset=True)
        if self.behaviour.locked or (self._credentials and not message.has_credentials(self._credentials)):
            wanted = ("Proxy-Authenticate", 'Basic realm="sandbox"')
            return SiteReply(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, (wanted, *TEXT), b"Who is it?\n")
        return None

    def knows(self, host: str) -> bool:
        """Whether the sandbox behind it answers for a host."""
        return self._sandbox.knows(host)

    def answer(self, request: SandboxRequest) -> SiteReply:
        """The reply of the requested site to a request from this proxy."""
        reply = self._denial() or self._sandbox.answer(request)
        headers = (*reply.headers, (SERVED_BY, self.label))
        return replace(reply, headers=headers, delay=max(reply.delay, self.behaviour.slow))

    def _denial(self) -> SiteReply | None:
        if self.behaviour.denied:
            return SiteReply(self.behaviour.denied, HTML, DENIED)
        if self.behaviour.per_second and not self._take_token(self.behaviour.per_second):
            return SiteReply(HTTPStatus.TOO_MANY_REQUESTS, (("Retry-After", "1"), *HTML), LIMITED)
        return None

    def _take_token(self, per_second: float) -> bool:
        """Take a token from a bucket of one second's requests; False when it is empty."""
        now = self._clock()
        self._tokens = min(per_second, self._tokens + (now - self._refilled_at) * per_second)
        self._refilled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


def region_proxies(sandbox: Backend, descriptions: Iterable[str]) -> list[RegionProxy]:
    """The proxies of descriptions (`DE`, `DE flaky=0.5`), labelled as in the service's proxy pool: `DE-1`, `DE-2`."""
    counts: Counter[str] = Counter()
    proxies = []
    for region, behaviour in map(parse_description, descriptions):
        counts[region] += 1
        proxies.append(RegionProxy(sandbox, f"{region}-{counts[region]}", behaviour))
    return proxies
