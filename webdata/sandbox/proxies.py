"""Region proxies of the sandbox: each names itself in its replies, and fails as configured."""

import hmac
import socket
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from http import HTTPStatus
from random import Random
from time import monotonic
from typing import cast

from pydantic import TypeAdapter, ValidationError
from twisted.internet.address import IPv4Address
from twisted.internet.interfaces import IListeningPort

from webdata.config.proxies import ANY
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region
from webdata.sandbox.connection import Backend, Connection, ConnectionFactory
from webdata.sandbox.exchange import HTML, TEXT, Reply, SandboxRequest
from webdata.sandbox.server import close
from webdata.sandbox.wire import Message

HOST = "127.0.0.1"
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
    """Refuse every connection."""
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


class RegionProxy:
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
        self.authority = sandbox.authority
        self.connections: set[Connection] = set()
        self.label = label
        self.behaviour = behaviour or Behaviour()
        self.request_count = 0
        """How many requests for a page or a tunnel it received."""
        self._sandbox = sandbox
        self._credentials = f"{user}:{password}" if user else ""
        self._random = Random(seed)  # noqa: S311 - repeatable failures
        self._clock = clock
        self._allowance, self._counted_at = self.behaviour.per_second or 0.0, clock()
        self._listener: IListeningPort | None = None
        self._closed_port: socket.socket | None = None

    @property
    def region(self) -> str:
        """The region of its label."""
        return self.label.partition("-")[0]

    def start(self) -> str:
        """Listen on a free port, and return the URL with user and password."""
        return f"http://{self._credentials}{'@' if self._credentials else ''}{HOST}:{self._listen()}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._closed_port:
            self._closed_port.close()
        if self._listener:
            await close(self._listener, self.connections)

    def _listen(self) -> int:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if self.behaviour.dead:  # bound without listening, so that no other process gets the port
            self._closed_port = socket.socket()
            self._closed_port.bind((HOST, 0))
            return int(self._closed_port.getsockname()[1])
        self._listener = reactor.listenTCP(0, ConnectionFactory(partial(_ProxyConnection, self)), interface=HOST)
        return cast(IPv4Address, self._listener.getHost()).port

    def refusal(self, message: Message) -> Reply | None:
        """The proxy's own reply to a request for a page or a tunnel; None when it forwards the request."""
        self.request_count += 1
        if self._random.random() < self.behaviour.flaky:
            return Reply(reset=True)
        if self.behaviour.locked or not self._is_authorised(message):
            wanted = ("Proxy-Authenticate", 'Basic realm="sandbox"')
            return Reply(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, (wanted, *TEXT), b"Who is it?\n")
        return None

    def knows(self, host: str) -> bool:
        """Whether the sandbox behind it answers for a host."""
        return self._sandbox.knows(host)

    def answer(self, request: SandboxRequest) -> Reply:
        """The reply of the requested site to a request from this proxy."""
        reply = self._denial() or self._sandbox.answer(request)
        headers = (*reply.headers, (SERVED_BY, self.label))
        return replace(reply, headers=headers, delay=max(reply.delay, self.behaviour.slow))

    def _is_authorised(self, message: Message) -> bool:
        expected = b"Basic " + b64encode(self._credentials.encode())
        given = message.headers.get("proxy-authorization", "")
        return not self._credentials or hmac.compare_digest(given.encode(), expected)

    def _denial(self) -> Reply | None:
        if self.behaviour.denied:
            return Reply(self.behaviour.denied, HTML, DENIED)
        if self.behaviour.per_second and not self._allowed(self.behaviour.per_second):
            return Reply(HTTPStatus.TOO_MANY_REQUESTS, (("Retry-After", "1"), *HTML), LIMITED)
        return None

    def _allowed(self, per_second: float) -> bool:
        """Take a token from a bucket of one second's requests; False when it is empty."""
        now = self._clock()
        self._allowance = min(per_second, self._allowance + (now - self._counted_at) * per_second)
        self._counted_at = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def region_proxies(sandbox: Backend, descriptions: Iterable[str]) -> list[RegionProxy]:
    """The proxies of descriptions (`DE`, `DE flaky=0.5`), labelled as in the service's proxy pool: `DE-1`, `DE-2`."""
    counts: Counter[str] = Counter()
    proxies = []
    for region, behaviour in map(parse_description, descriptions):
        counts[region] += 1
        proxies.append(RegionProxy(sandbox, f"{region}-{counts[region]}", behaviour))
    return proxies


class _ProxyConnection(Connection):
    """One client of a region proxy."""

    def __init__(self, proxy: RegionProxy):
        super().__init__(proxy)
        self._proxy = proxy

    def _handle(self, message: Message) -> None:
        refusal = None if self._tunnel else self._proxy.refusal(message)
        if refusal is None:
            super()._handle(self._forwarded(message))
        elif refusal.reset:
            self.abort()
        else:
            self._refuse(refusal)

    def _forwarded(self, message: Message) -> Message:
        """The message without the proxy's headers; flaky proxies close the connection, so that any request can fail."""
        headers = message.headers
        if not self._tunnel:
            headers = {name: value for name, value in headers.items() if name != "proxy-authorization"}
        return replace(message, headers=headers, keep_alive=message.keep_alive and not self._proxy.behaviour.flaky)
