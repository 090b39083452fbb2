"""Region proxies of the sandbox: each tells which one it is, and misbehaves as it is told to."""

import hmac
import socket
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from http import HTTPStatus
from random import Random
from time import monotonic
from typing import cast

from pydantic import TypeAdapter, ValidationError
from twisted.internet.address import IPv4Address
from twisted.internet.interfaces import IAddress, IListeningPort
from twisted.internet.protocol import ServerFactory

from webdata.config.proxies import ANY
from webdata.domain.errors import ConfigError
from webdata.domain.query import Region
from webdata.sandbox.connection import Answering, Connection
from webdata.sandbox.exchange import HTML, TEXT, Reply, SandboxRequest
from webdata.sandbox.server import close
from webdata.sandbox.wire import Message

HOST = "127.0.0.1"
SERVED_BY = "x-sandbox-proxy"
"""The header of answers that tells the label of the proxy they came through."""

DENIED = (
    b"<!doctype html><title>Access Denied</title><h1>Access Denied</h1><p>You don't have permission to access this.</p>"
)
LIMITED = b"<!doctype html><title>Too Many Requests</title><h1>Too many requests</h1>"


@dataclass(frozen=True)
class Behaviour:
    """How a proxy does; by default well."""

    dead: bool = False
    """Refuse every connection."""
    flaky: float = 0
    """The share of connections that break before anything came through them."""
    slow: float = 0
    """Seconds before every answer."""
    locked: bool = False
    """Take nobody's password: 407."""
    denied: int | None = None
    """The status, 403 or 429, with which the sites turn everybody away who comes from it."""
    per_second: float | None = None
    """How many requests a second the sites take from it; 429 for more."""


def described(text: str) -> tuple[str, Behaviour]:
    """A region and how its proxy does, in words: `DE`, `DE dead`, `US flaky=0.5 slow=1`. Raises ConfigError."""
    region, *words = text.split() or [""]
    given = {name: value or "true" for name, _, value in (word.partition("=") for word in words)}
    known = [field.name for field in fields(Behaviour)]
    try:
        if region in (*Region, ANY) and given.keys() <= set(known):
            return region, TypeAdapter(Behaviour).validate_python(given)
    except ValidationError:
        pass
    right = f"give a region of the API or {ANY}, and how it does, such as 'DE flaky=0.5'; there are {', '.join(known)}"
    raise ConfigError(f"the sandbox has no proxy {text!r}: {right}")


class RegionProxy:
    """A forward proxy on loopback in front of a sandbox's own answers.

    With `user` and `password` it wants them; what is chance in it is the same for the same seed.
    """

    def __init__(
        self,
        sandbox: Answering,
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
        self.asked = 0
        """How many requests and tunnels it was asked for."""
        self._sandbox = sandbox
        self._user = f"{user}:{password}" if user else ""
        self._dice = Random(seed)  # noqa: S311  # the same each time
        self._clock = clock
        self._allowance, self._counted_at = self.behaviour.per_second or 0.0, clock()
        self._listener: IListeningPort | None = None
        self._closed_port: socket.socket | None = None

    @property
    def region(self) -> str:
        """The region of its label."""
        return self.label.partition("-")[0]

    def start(self) -> str:
        """Listen on a free port; the URL, with user and password."""
        return f"http://{self._user}{'@' if self._user else ''}{HOST}:{self._listen()}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._closed_port:
            self._closed_port.close()
        if self._listener:
            await close(self._listener, self.connections)

    def _listen(self) -> int:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if self.behaviour.dead:  # bound, so that nobody else takes the port, but not listened to
            self._closed_port = socket.socket()
            self._closed_port.bind((HOST, 0))
            return int(self._closed_port.getsockname()[1])
        self._listener = reactor.listenTCP(0, _Door(self), interface=HOST)
        return cast(IPv4Address, self._listener.getHost()).port

    def refusal(self, message: Message) -> Reply | None:
        """What the proxy itself answers to a request or the wish for a tunnel; None where it does as it is asked."""
        self.asked += 1
        if self._dice.random() < self.behaviour.flaky:
            return Reply(reset=True)
        if self.behaviour.locked or not self._knows(message):
            wanted = ("Proxy-Authenticate", 'Basic realm="sandbox"')
            return Reply(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, (wanted, *TEXT), b"Who is it?\n")
        return None

    def knows(self, host: str) -> bool:
        """Whether the sandbox behind it answers for a host."""
        return self._sandbox.knows(host)

    def answer(self, request: SandboxRequest) -> Reply:
        """What the site that was asked replies to whoever comes from here."""
        reply = self._turned_away() or self._sandbox.answer(request)
        headers = (*reply.headers, (SERVED_BY, self.label))
        return replace(reply, headers=headers, delay=max(reply.delay, self.behaviour.slow))

    def _knows(self, message: Message) -> bool:
        word = b64encode(self._user.encode()).decode()
        given = message.headers.get("proxy-authorization", "")
        return not self._user or hmac.compare_digest(given.encode(), f"Basic {word}".encode())

    def _turned_away(self) -> Reply | None:
        if self.behaviour.denied:
            return Reply(self.behaviour.denied, HTML, DENIED)
        if self.behaviour.per_second and not self._allowed(self.behaviour.per_second):
            return Reply(HTTPStatus.TOO_MANY_REQUESTS, (("Retry-After", "1"), *HTML), LIMITED)
        return None

    def _allowed(self, per_second: float) -> bool:
        """Whether a token bucket of one second's requests has one left."""
        now = self._clock()
        self._allowance = min(per_second, self._allowance + (now - self._counted_at) * per_second)
        self._counted_at = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True


def region_proxies(sandbox: Answering, descriptions: Iterable[str]) -> list[RegionProxy]:
    """The proxies that are described (`DE`, `DE flaky=0.5`), labelled as a service does that is given their URLs."""
    counts: Counter[str] = Counter()
    proxies = []
    for region, behaviour in map(described, descriptions):
        counts[region] += 1
        proxies.append(RegionProxy(sandbox, f"{region}-{counts[region]}", behaviour))
    return proxies


class _Door(ServerFactory):
    noisy = False

    def __init__(self, proxy: RegionProxy):
        self._proxy = proxy

    def buildProtocol(self, addr: IAddress | None) -> Connection:
        return _ProxyConnection(self._proxy)


class _ProxyConnection(Connection):
    """One client of a region proxy."""

    def __init__(self, proxy: RegionProxy):
        super().__init__(proxy)
        self._proxy = proxy

    def _take(self, message: Message) -> None:
        refusal = None if self._tunnel else self._proxy.refusal(message)
        if refusal is None:
            super()._take(self._for_the_site(message))
        elif refusal.reset:
            self.abort()
        else:
            self._refuse(refusal)

    def _for_the_site(self, message: Message) -> Message:
        """Without what was meant for the proxy; flaky ones keep no connection, so that each request is at risk."""
        headers = message.headers
        if not self._tunnel:
            headers = {name: value for name, value in headers.items() if name != "proxy-authorization"}
        return replace(message, headers=headers, keep_alive=message.keep_alive and not self._proxy.behaviour.flaky)
