"""The guard: applies the rule to a URL and to every address that its host has."""

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
"""Gives the addresses of a name; none where it has none."""

SECONDS = 10.0
"""How long a look-up may take."""

PUBLIC = ipaddress.ip_address("192.0.32.8")
TRAP = ".trap.example"


class Guard:
    """Says where a target may be connected to. Every way out asks it, and connects to nothing else."""

    def __init__(self, rule: Rule, resolver: Resolver, seconds: float = SECONDS):
        self.rule = rule
        self._resolver = resolver
        self._seconds = seconds

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> "Guard":
        """The guard of a crawler; in the sandbox (setting `SANDBOX`) names are those of the sandbox."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        resolver = sandbox_resolver if settings.getbool("SANDBOX") else reactor_resolver(reactor)
        return cls(Rule.from_settings(settings), resolver)

    async def check(self, url: str) -> Target:
        """The target of a URL, all of whose addresses were checked; raises as `addresses`."""
        target = self.rule.check_url(url)
        await self.addresses(target)
        return target

    async def addresses(self, target: Target) -> tuple[Address, ...]:
        """The addresses of a target, looked up once; every one of them may be reached.

        Raises TargetError where one may not, DNSLookupError where the name has none.
        """
        found = known_addresses(target.host) or await self._resolved(target.host)
        if not found:
            raise DNSLookupError("no address was found for the name")
        self.rule.check_addresses(found)
        return found

    async def _resolved(self, name: str) -> tuple[Address, ...]:
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._resolver(name)
        except TimeoutError as error:
            raise DNSLookupError("the name was not resolved in time") from error
        return tuple(dict.fromkeys(found))


def reactor_resolver(reactor: Any) -> Resolver:
    """The reactor's own resolver: what every other connection uses, in threads, with Scrapy's settings and cache."""

    async def resolve(name: str) -> Sequence[Address]:
        receiver = _Receiver()
        reactor.nameResolver.resolveHostName(receiver, name)
        return await maybe_deferred_to_future(receiver.done)

    return resolve


async def sandbox_resolver(name: str) -> Sequence[Address]:
    """The names of the sandbox, where nothing is looked up: any name has one public address, never connected to.

    Names under `trap.example` have the addresses that they spell, a label each, with hyphens for dots and colons:
    `10-0-0-1.trap.example`, `fd00--1.trap.example`, `192-0-32-8.127-0-0-1.trap.example`. What spells no address has
    none.
    """
    name = name.rstrip(".").lower()
    if not name.endswith(TRAP):
        return (PUBLIC,)
    spelt = (_spelt(label) for label in name.removesuffix(TRAP).split("."))
    return [address for address in spelt if address]


def _spelt(label: str) -> Address | None:
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
        self._found: list[Address] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        """Nothing of ours begins."""

    def addressResolved(self, address: IAddress) -> None:
        self._found.append(ipaddress.ip_address(address.host))  # type: ignore[attr-defined]  # they are of IPv4 or IPv6

    def resolutionComplete(self) -> None:
        if not self.done.called:  # given up meanwhile
            self.done.callback(self._found)
