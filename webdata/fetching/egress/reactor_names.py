"""Names of our own and the operator's: the resolver of Twisted's reactor, for connections that no guard opens."""

import ipaddress
import logging
from collections.abc import Sequence
from typing import Any, cast

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from webdata.domain.errors import FetchError
from webdata.fetching.egress.names import Resolver
from webdata.fetching.egress.rule import Address, known_addresses

logger = logging.getLogger(__name__)


@implementer(IHostnameResolver)
class ReactorNames:
    """The resolver of the reactor.

    Without it Twisted asks `getaddrinfo`, in ten threads that everybody shares.
    """

    def __init__(self, resolver: Resolver):
        self._resolver = resolver

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        looking_up = _LookingUp(hostName)
        resolutionReceiver.resolutionBegan(looking_up)
        looking_up.done = deferred_from_coro(self._resolve(resolutionReceiver, hostName, portNumber, addressTypes))
        return looking_up

    async def _resolve(self, receiver: IResolutionReceiver, name: str, port: int, kinds: Any) -> None:
        try:
            for address in known_addresses(name) or await self._resolver(name, name):
                endpoint = endpoint_of(address, port)
                if kinds is None or type(endpoint) in kinds:
                    receiver.addressResolved(endpoint)
        except FetchError as error:
            logger.info("%s was not resolved: %s", name, error.reason)
        finally:
            receiver.resolutionComplete()


def endpoint_of(address: Address, port: int) -> IPv4Address | IPv6Address:
    """An address as Twisted's resolvers report it."""
    kind = IPv4Address if address.version == 4 else IPv6Address
    return kind("TCP", str(address), port)


async def reactor_addresses(name: str) -> Sequence[Address]:
    """The addresses of a name of our own or the operator's, by the reactor's resolver; empty where it found none."""
    from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

    receiver = _Receiver()
    cast(Any, reactor).nameResolver.resolveHostName(receiver, name)
    return await maybe_deferred_to_future(receiver.done)


@implementer(IResolutionReceiver)
class _Receiver:
    """Collects the addresses of one look-up."""

    def __init__(self) -> None:
        self.done: Deferred[list[Address]] = Deferred()
        self._addresses: list[Address] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        """Part of the interface; the look-up needs no preparation."""

    def addressResolved(self, address: IAddress) -> None:
        self._addresses.append(ipaddress.ip_address(address.host))  # type: ignore[attr-defined]  # always IPv4 or IPv6

    def resolutionComplete(self) -> None:
        if not self.done.called:  # else the caller has cancelled
            self.done.callback(self._addresses)


@implementer(IHostResolution)
class _LookingUp:
    """A look-up that runs."""

    def __init__(self, name: str):
        self.name = name
        self.done: Any = None

    def cancel(self) -> None:
        self.done.cancel()
