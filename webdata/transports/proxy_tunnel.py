"""Downloads through proxies: plain ones and those that are spoken to over TLS, for http and https targets.

Scrapy's own handler cannot reach https targets through https proxies, hangs until the download's time is over where a
proxy closes the connection instead of opening the tunnel, and gives one that is silent all of that time. Here a proxy
that fails is a TunnelError, soon, so that another can be tried; whatever the target does is what it is without one.
"""

import asyncio
from typing import Any, cast
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    TunnelError,
    _ScrapyProxyAgent,
    _tunnel_request_data,
    _TunnelingAgent,
)
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint, connectProtocol, wrapClientTLS
from twisted.internet.interfaces import IProtocol, IProtocolFactory, IStreamClientEndpoint, ITCPTransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import URI, Agent, ResponseNeverReceived
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from webdata.fetching.fetch import Fetch
from webdata.transports.http import BoundedAgent, BoundedHandler

READY_SECONDS = 8.0
"""How long a proxy may take until the target is heard through its tunnel; half of the download's time where that is
shorter."""
BETWEEN_ADDRESSES = 0.05
"""Seconds until a proxy's next address is tried too; Twisted waits as long (0.3) before it tells that none is left."""
MAX_HEAD = 16 * 1024
BROKEN = "the proxy broke the connection"
MUTE = "the proxy opened a way, and nothing of the upstream came through it"
PORTS = {"http": 80, "https": 443}


class ProxiedHandler(BoundedHandler):
    """The plain handler, with a way of ours through `request.meta["proxy"]`; raises TunnelError where that fails."""

    async def download_request(self, request: Request) -> Response:
        if not request.meta.get("proxy"):
            return await super().download_request(request)
        agent = self._agent(_ProxiedAgent)
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except DownloadFailedError as error:
            if lost := agent.lost_by_proxy(request, error):
                raise TunnelError(lost) from None
            raise
        if response.status == 407:
            raise TunnelError("the proxy wants another user or password (407)")
        return response


class _ProxiedAgent(BoundedAgent):
    """One download through a proxy."""

    tunnel: "TunnelEndpoint | None" = None

    def lost_by_proxy(self, request: Request, error: DownloadFailedError) -> str | None:
        """How the proxy lost the connection before any byte of the target came; None where it did not.

        The sandbox's own proxy has no label: what it breaks is meant as the target's doing.
        """
        if self.tunnel:
            return self.tunnel.lost
        unheard = Fetch.of(request).proxy and isinstance(error.__cause__, ResponseNeverReceived)
        return BROKEN if unheard else None

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        proxy = request.meta["proxy"]
        way = ProxyEndpoint(reactor, proxy, self._contextFactory, min(READY_SECONDS, timeout / 2))
        shared = {"reactor": reactor, "contextFactory": self._contextFactory, "pool": self._pool}
        if urlsplit(request.url).scheme == "http":
            return _ForwardingAgent(way, proxyURI=proxy.encode(), **shared)
        self.tunnel = TunnelEndpoint(way)
        proxy_conf = (way.host, way.port, request.headers.get(b"Proxy-Authorization"))
        return _TunnellingAgent(self.tunnel, proxyConf=proxy_conf, **shared)


class _ForwardingAgent(_ScrapyProxyAgent):
    """Sends its request to the proxy in absolute form (RFC 9112, 3.2.2)."""

    def __init__(self, way: "ProxyEndpoint", **options: Any):
        super().__init__(**options)
        self._way = way

    def _getEndpoint(self, uri: URI) -> IStreamClientEndpoint:
        return self._way


class _TunnellingAgent(_TunnelingAgent):
    """Speaks TLS with the target through a tunnel, and asks for the tunnel if no open one is left in the pool."""

    def __init__(self, tunnel: "TunnelEndpoint", **options: Any):
        super().__init__(**options)
        self._tunnel = tunnel

    def _getEndpoint(self, uri: URI) -> IStreamClientEndpoint:  # type: ignore[override]  # any endpoint will do
        self._tunnel.ask = _tunnel_request_data(uri.host, uri.port, self._proxyConf[2])
        tls = self._contextFactory.creatorForNetloc(uri.host, uri.port)
        return wrapClientTLS(tls, self._tunnel)


@implementer(IStreamClientEndpoint)
class ProxyEndpoint:
    """Connects to a proxy, over TLS where its URL says https; fails with TunnelError after `seconds` at the latest."""

    def __init__(self, reactor: Any, url: str, policy: IPolicyForHTTPS, seconds: float):
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        self.port = parts.port or PORTS[parts.scheme]
        self.seconds = seconds
        endpoint: IStreamClientEndpoint = HostnameEndpoint(
            reactor, self.host, self.port, seconds, attemptDelay=BETWEEN_ADDRESSES
        )
        if parts.scheme == "https":
            endpoint = wrapClientTLS(policy.creatorForNetloc(self.host.encode(), self.port), endpoint)
        self._endpoint = endpoint

    def connect(self, protocolFactory: IProtocolFactory) -> "Deferred[IProtocol]":
        connecting: Deferred[IProtocol] = self._endpoint.connect(protocolFactory)
        return connecting.addErrback(_not_connected)


def _not_connected(_failure: Failure) -> Any:
    raise TunnelError("the proxy did not take the connection") from None


@implementer(IStreamClientEndpoint)
class TunnelEndpoint:
    """Opens a tunnel through a proxy (RFC 9110, 9.3.6); fails with TunnelError."""

    def __init__(self, way: ProxyEndpoint):
        self.ask = b""
        """The request for it; set before the first connection."""
        self._way = way
        self._tunnel: _Tunnel | None = None

    @property
    def lost(self) -> str | None:
        """How the tunnel that was opened ended before any byte came through it; None where it did not."""
        return self._tunnel.lost if self._tunnel else None

    def connect(self, protocolFactory: IProtocolFactory) -> "Deferred[IProtocol]":
        return deferred_from_coro(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        self._tunnel = tunnel = _Tunnel(self.ask)
        until = asyncio.get_running_loop().time() + self._way.seconds
        try:
            async with asyncio.timeout_at(until):
                await maybe_deferred_to_future(connectProtocol(self._way, tunnel))
                await tunnel.opened
        except TimeoutError:
            raise TunnelError("the proxy did not open a way to the upstream in time") from None
        finally:
            tunnel.close_unless_open()
        return tunnel.carry(factory, until)


class _Tunnel(Protocol):
    """The connection to the proxy: asks for a tunnel, and then carries another protocol's bytes."""

    def __init__(self, ask: bytes):
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost: str | None = None
        """How it ended before any byte came through it."""
        self._ask = ask
        self._head = bytearray()
        self._inner: IProtocol | None = None
        self._waiting: asyncio.TimerHandle | None = None
        self._heard = False

    def connectionMade(self) -> None:
        self._transport.write(self._ask)

    def dataReceived(self, data: bytes) -> None:
        if self._inner:
            if not self._heard:
                self._hear()
            self._inner.dataReceived(data)
            return
        self._head += data
        if b"\r\n\r\n" in self._head or len(self._head) > MAX_HEAD:
            self._judge()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.connected = False
        self._fail("the proxy closed the connection")
        if not self._heard:
            self.lost = self.lost or BROKEN
            self._hear()
        if self._inner:
            self._inner.connectionLost(reason)

    def carry(self, factory: IProtocolFactory, until: float) -> IProtocol:
        """Make the protocol that goes through the tunnel; raises TunnelError where that broke meanwhile.

        `until` is the loop's time at which the tunnel is given up unless a byte has come through it.
        """
        if self.lost:
            raise TunnelError(self.lost)
        inner = factory.buildProtocol(self._transport.getPeer())
        assert inner
        self._inner = inner
        self._waiting = asyncio.get_running_loop().call_at(until, self._give_up)
        inner.makeConnection(self._transport)
        if early := self._head.partition(b"\r\n\r\n")[2]:
            self.dataReceived(bytes(early))
        return inner

    def close_unless_open(self) -> None:
        """Break the connection of a tunnel that is not wanted any more, or never came about."""
        if not self.opened.done() or self.opened.cancelled() or self.opened.exception():
            self.opened.cancel()
            if self.connected:
                self._transport.abortConnection()

    @property
    def _transport(self) -> ITCPTransport:
        return cast(ITCPTransport, self.transport)

    def _hear(self) -> None:
        """Wait no longer for the first byte."""
        self._heard = True
        if self._waiting:
            self._waiting.cancel()

    def _give_up(self) -> None:
        self.lost = MUTE
        self._transport.abortConnection()

    def _judge(self) -> None:
        status = self._head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            told = status[0].decode("latin-1") if status and status[0].isdigit() else "no HTTP"
            self._fail(f"the proxy did not open a way to the upstream ({told})")
        elif not self.opened.done():
            self.opened.set_result(None)

    def _fail(self, reason: str) -> None:
        if not self.opened.done():
            self.opened.set_exception(TunnelError(reason))
