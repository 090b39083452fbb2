"""The guard: applies the rule to a URL and to every address of its host."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from scrapy.settings import BaseSettings
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import IAddress, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from webdata.egress.rule import Address, Rule, Target, known_addresses

Resolver = Callable[[str], Awaitable[Sequence[Address]]]
"""Returns the addresses of a name; an empty sequence when it has none."""

SECONDS = 10.0
"""Time limit of a look-up."""

PUBLIC = ipaddress.ip_address("192.0.32.8")
TRAP = ".trap.example"


class Guard:
    """Resolves a target to addresses that may be connected to. Every outbound connection goes to one of them."""

    def __init__(self, rule: Rule, resolver: Resolver, seconds: float = SECONDS):
        self.rule = rule
        self._resolver = resolver
        self._seconds = seconds

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> "Guard":
        """The guard of a crawler; with the setting `SANDBOX` names are resolved by `sandbox_resolver`."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        resolver = sandbox_resolver if settings.getbool("SANDBOX") else reactor_resolver(reactor)
        return cls(Rule.from_settings(settings), resolver)

    async def check(self, url: str) -> Target:
        """The target of a URL after all of its addresses were checked; raises the errors of `addresses`."""
        target = self.rule.check_url(url)
        await self.addresses(target)
        return target

    async def addresses(self, target: Target) -> tuple[Address, ...]:
        """The addresses of a target, from one look-up, in the resolver's order and without duplicates.

        Raises TargetError when one of them may not be reached, DNSLookupError when the name has none.
        """
        addresses = known_addresses(target.host) or await self._resolve(target.host)
        if not addresses:
            raise DNSLookupError("no address was found for the name")
        self.rule.check_addresses(addresses)
        return addresses

    async def _resolve(self, name: str) -> tuple[Address, ...]:
        try:
            async with asyncio.timeout(self._seconds):
                return tuple(dict.fromkeys(await self._resolver(name)))
        except TimeoutError as error:
            raise DNSLookupError("the name was not resolved in time") from error


def reactor_resolver(reactor: Any) -> Resolver:
    """The reactor's own resolver, which all other connections use: in threads, with Scrapy's settings and cache."""

    async def resolve(name: str) -> Sequence[Address]:
        receiver = _Receiver()
        reactor.nameResolver.resolveHostName(receiver, name)
        return await maybe_deferred_to_future(receiver.done)

    return resolve


async def sandbox_resolver(name: str) -> Sequence[Address]:
    """The sandbox's names, without a look-up: any name has one public address, which is never connected to.

    A name under `trap.example` has the addresses that its labels spell, with hyphens for dots and colons:
    `10-0-0-1.trap.example`, `fd00--1.trap.example`, `192-0-32-8.127-0-0-1.trap.example`. Other labels add none.
    """
    name = name.rstrip(".").lower()
    if not name.endswith(TRAP):
        return (PUBLIC,)
    addresses = (_spelled_address(label) for label in name.removesuffix(TRAP).split("."))
    return [address for address in addresses if address]


def _spelled_address(label: str) -> Address | None:
    for separator in ".:":
        try:
            return ipaddress.ip_address(label.replace("-", separator))
        except ValueError:
            continue
    return None


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
