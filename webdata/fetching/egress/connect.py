"""Twisted's connections through the guard: to a checked address, with no second look-up.

TLS uses the name, not the address: in SNI and in the verification of certificates.
"""

from collections.abc import Sequence
from typing import Any

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import (
    IHostnameResolver,
    IProtocol,
    IProtocolFactory,
    IReactorPluggableNameResolver,
    IResolutionReceiver,
    IStreamClientEndpoint,
)
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from webdata.fetching.connection_pool import BoundedPool
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.reactor_names import endpoint_of
from webdata.fetching.egress.rule import Address, Target

CONNECT_SECONDS = 30.0


class GuardedPool(BoundedPool):
    """A pool whose new connections go to checked addresses, whatever endpoint an agent passes."""

    def __init__(self, reactor: Any, guard: Guard, policy: IPolicyForHTTPS):
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]  # Twisted has not typed it
        self._guard = guard
        self._policy = policy

    def getConnection(self, key: Any, endpoint: IStreamClientEndpoint) -> Deferred[Any]:
        """A connection for Scrapy's key: the scheme, host and port of the target, and the local address.

        Raises ValueError for the longer keys of connections to proxies, which belong to another pool.
        """
        return self.connection(key, self._guard)

    def connection(self, key: Any, guard: Guard) -> Deferred[Any]:
        """The same, with a new connection opened by this guard."""
        scheme, host, port, bind_address = key
        netloc = b"[%s]:%d" % (host, port) if b":" in host else b"%s:%d" % (host, port)
        url = f"{scheme.decode()}://{netloc.decode('latin-1')}/"
        return super().getConnection(key, GuardedEndpoint(self._reactor, guard, self._policy, url, bind_address))

    def for_caller(self, caller: str) -> "CallersPool":
        """The same pool, whose new connections take the share of a caller to look up names."""
        return CallersPool(self, self._guard.for_caller(caller))


class CallersPool:
    """A GuardedPool as an agent uses it, for one caller."""

    def __init__(self, pool: GuardedPool, guard: Guard):
        self.persistent = pool.persistent
        self._pool = pool
        self._guard = guard

    def getConnection(self, key: Any, endpoint: IStreamClientEndpoint) -> Deferred[Any]:
        """See `GuardedPool.getConnection`."""
        return self._pool.connection(key, self._guard)


@implementer(IStreamClientEndpoint)
class GuardedEndpoint:
    """Connects to the first checked address of a URL's host that answers, with TLS for https URLs."""

    def __init__(self, reactor: Any, guard: Guard, policy: IPolicyForHTTPS, url: str, bind_address: Any = None):
        self._reactor = reactor
        self._guard = guard
        self._policy = policy
        self._url = url
        self._bind_address = bind_address

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:
        return deferred_from_coro(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        target = self._guard.rule.check_url(self._url)
        endpoint = self._endpoint(target, await self._guard.addresses(target))
        return await maybe_deferred_to_future(endpoint.connect(factory))

    def _endpoint(self, target: Target, addresses: Sequence[Address]) -> IStreamClientEndpoint:
        reactor = _CheckedReactor(self._reactor, addresses)
        endpoint = HostnameEndpoint(reactor, target.host, target.port, CONNECT_SECONDS, self._bind_address)
        if target.scheme == "http":
            return endpoint
        name = target.host.removesuffix(".").encode()
        return wrapClientTLS(self._policy.creatorForNetloc(name, target.port), endpoint)


@implementer(IReactorPluggableNameResolver, IHostnameResolver)
class _CheckedReactor:
    """A reactor that resolves every name to the checked addresses."""

    def __init__(self, reactor: Any, addresses: Sequence[Address]):
        self._reactor = reactor
        self._addresses = addresses
        self.nameResolver = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def installNameResolver(self, resolver: IHostnameResolver) -> IHostnameResolver:
        raise NotImplementedError("the addresses are checked already: no other resolver is used")

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        for address in self._addresses:
            resolutionReceiver.addressResolved(endpoint_of(address, portNumber))
        resolutionReceiver.resolutionComplete()
