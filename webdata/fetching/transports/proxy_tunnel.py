"""Downloads through http and https proxies, for http and https targets.

Scrapy's own handler cannot reach https targets through https proxies, and waits for the whole download timeout when a
proxy is silent or closes the connection instead of opening the tunnel. Here a failing proxy raises TunnelError early,
so that another can be tried; failures of the target raise the same errors as without a proxy.
"""

import asyncio
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from h11 import RemoteProtocolError
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError, _ScrapyProxyAgent, _TunnelingAgent
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

from webdata.fetching.egress.outbound import PORTS, TunnelRequest
from webdata.fetching.fetch import Fetch
from webdata.fetching.transports.http import BoundedAgent, BoundedHandler, bounded_headers

READY_SECONDS = 8.0
"""Time limit until the target's first byte through a tunnel, or half of the download timeout if that is shorter."""
BETWEEN_ADDRESSES = 0.05
"""Seconds between the attempts at a proxy's addresses; Twisted's 0.3 would also delay the failure of the last one."""
BROKEN = "the proxy broke the connection"
ENDLESS = "the proxy's answer does not end"
SILENT = "the proxy opened a tunnel, and nothing of the upstream was received through it"


class ProxiedHandler(BoundedHandler):
    """The plain handler, which connects through `request.meta["proxy"]`; raises TunnelError when the proxy fails."""

    async def download_request(self, request: Request) -> Response:
        if not request.meta.get("proxy"):
            return await super().download_request(request)
        agent = self._agent(_ProxiedAgent, self._pool)
        try:
            with bounded_headers(), wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except DownloadFailedError as error:
            if reason := agent.proxy_failure(request, error):
                raise TunnelError(reason) from None
            raise
        if response.status == 407:
            raise TunnelError("the proxy wants another user or password (407)")
        return response


class _ProxiedAgent(BoundedAgent):
    """One download through a proxy."""

    tunnel: "TunnelEndpoint | None" = None

    def proxy_failure(self, request: Request, error: DownloadFailedError) -> str | None:
        """How the proxy failed before the first byte of the target; None when the target failed.

        Failures of the sandbox's proxy, which has no label, count as the target's.
        """
        if self.tunnel:
            return self.tunnel.failure
        no_response = bool(Fetch.of(request).proxy) and isinstance(error.__cause__, ResponseNeverReceived)
        return BROKEN if no_response else None

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        url = request.meta["proxy"]
        proxy = ProxyEndpoint(reactor, url, self._contextFactory, min(READY_SECONDS, timeout / 2))
        shared = {"reactor": reactor, "contextFactory": self._contextFactory, "pool": self._pool}
        target = URI.fromBytes(request.url.encode())
        if target.scheme == b"http":
            return _ForwardingAgent(proxy, proxyURI=url.encode(), **shared)
        authorization = request.headers.get(b"Proxy-Authorization") or b""
        self.tunnel = TunnelEndpoint(proxy, TunnelRequest(target.host.decode(), target.port, authorization.decode()))
        return _TunnellingAgent(self.tunnel, proxyConf=(proxy.host, proxy.port, authorization), **shared)


class _ForwardingAgent(_ScrapyProxyAgent):
    """Sends its request to the proxy in absolute form (RFC 9112, 3.2.2)."""

    def __init__(self, proxy: "ProxyEndpoint", **options: Any):
        super().__init__(**options)
        self._proxy = proxy

    def _getEndpoint(self, uri: URI) -> IStreamClientEndpoint:
        return self._proxy


class _TunnellingAgent(_TunnelingAgent):
    """Opens a tunnel, and TLS with the target in it, when the pool has no open connection."""

    def __init__(self, tunnel: "TunnelEndpoint", **options: Any):
        super().__init__(**options)
        self._tunnel = tunnel

    def _getEndpoint(self, uri: URI) -> IStreamClientEndpoint:  # type: ignore[override]  # any endpoint works
        tls = self._contextFactory.creatorForNetloc(uri.host, uri.port)
        return wrapClientTLS(tls, self._tunnel)


@implementer(IStreamClientEndpoint)
class ProxyEndpoint:
    """Connects to a proxy, over TLS for an https URL; fails with TunnelError within `seconds`."""

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
    raise TunnelError("the proxy did not accept the connection") from None


@implementer(IStreamClientEndpoint)
class TunnelEndpoint:
    """Opens a tunnel through a proxy (RFC 9110, 9.3.6); fails with TunnelError."""

    def __init__(self, proxy: ProxyEndpoint, request: TunnelRequest):
        self._proxy = proxy
        self._request = request
        self._tunnel: _Tunnel | None = None

    @property
    def failure(self) -> str | None:
        """How the tunnel ended before its first byte; None when it did not."""
        return self._tunnel.failure if self._tunnel else None

    def connect(self, protocolFactory: IProtocolFactory) -> "Deferred[IProtocol]":
        return deferred_from_coro(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        self._tunnel = tunnel = _Tunnel(self._request)
        until = asyncio.get_running_loop().time() + self._proxy.seconds
        try:
            async with asyncio.timeout_at(until):
                await maybe_deferred_to_future(connectProtocol(self._proxy, tunnel))
                await tunnel.opened
            return tunnel.start(factory, until)
        except TimeoutError:
            raise TunnelError("the proxy did not connect to the upstream in time") from None
        finally:
            tunnel.abort_unless_started()


class _Tunnel(Protocol):
    """The connection to the proxy: requests a tunnel, and then passes its bytes to an inner protocol."""

    def __init__(self, request: TunnelRequest):
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failure: str | None = None
        """How it ended before its first byte."""
        self._request = request
        self._inner: IProtocol | None = None
        self._timer: asyncio.TimerHandle | None = None
        """Runs until the first byte."""

    def connectionMade(self) -> None:
        self._transport.write(self._request.sent)

    def dataReceived(self, data: bytes) -> None:
        if self._inner is None:
            self._read_answer(data)
            return
        self._end_wait()
        self._inner.dataReceived(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.connected = False
        if self._inner is None or self._timer:
            self._fail(BROKEN)
        self._end_wait()
        if self._inner:
            self._inner.connectionLost(reason)

    def start(self, factory: IProtocolFactory, until: float) -> IProtocol:
        """Create and connect the inner protocol; raises TunnelError when the tunnel has ended meanwhile.

        `until` is the loop's time at which the tunnel is aborted if it has received no byte.
        """
        if self.failure:
            raise TunnelError(self.failure)
        inner = factory.buildProtocol(self._transport.getPeer())
        assert inner
        self._inner = inner
        self._timer = asyncio.get_running_loop().call_at(until, self._time_out)
        inner.makeConnection(self._transport)
        if early := self._request.early:
            self.dataReceived(early)
        return inner

    def abort_unless_started(self) -> None:
        """Abort the connection when the tunnel was cancelled or not opened."""
        if self._inner is None:
            self.opened.cancel()
            if self.connected:
                self._transport.abortConnection()

    @property
    def _transport(self) -> ITCPTransport:
        return cast(ITCPTransport, self.transport)

    def _end_wait(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        self._fail(SILENT)
        self._transport.abortConnection()

    def _read_answer(self, data: bytes) -> None:
        try:
            status = self._request.status(data)
        except RemoteProtocolError as error:
            is_endless = error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._fail(ENDLESS if is_endless else "the proxy did not connect to the upstream (no HTTP)")
            return
        if status == HTTPStatus.OK and not self.opened.done():
            self.opened.set_result(None)
        elif status:
            self._fail(f"the proxy did not connect to the upstream ({status})")

    def _fail(self, reason: str) -> None:
        self.failure = self.failure or reason
        if not self.opened.done():
            self.opened.set_exception(TunnelError(reason))
