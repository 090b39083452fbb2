"""The guard: applies the rule to a URL and to every address of its host."""

import ipaddress
from collections.abc import Sequence

from scrapy.settings import BaseSettings
from twisted.internet.error import DNSLookupError

from webdata.egress.names import NameResolver, Resolver
from webdata.egress.rule import Address, Rule, Target, known_addresses

PUBLIC = ipaddress.ip_address("192.0.32.8")
TRAP = ".trap.example"


class Guard:
    """Resolves a target to addresses that may be connected to. Every outbound connection goes to one of them."""

    def __init__(self, rule: Rule, resolver: Resolver, caller: str = ""):
        self.rule = rule
        self._resolver = resolver
        self._caller = caller

    def for_caller(self, caller: str) -> "Guard":
        """The same guard, whose look-ups take the share of a caller."""
        return Guard(self.rule, self._resolver, caller)

    async def check(self, url: str) -> Target:
        """The target of a URL after all of its addresses were checked; raises the errors of `addresses`."""
        target = self.rule.check_url(url)
        await self.addresses(target)
        return target

    async def addresses(self, target: Target) -> tuple[Address, ...]:
        """The addresses of a target, from one look-up, in the resolver's order and without duplicates.

        Raises TargetError when one of them may not be reached, DNSLookupError when the name does not exist or has
        none, UpstreamError when the name servers fail, UpstreamTimeoutError when they do not answer in time.
        """
        addresses = known_addresses(target.host) or await self._resolver(target.host, self._caller)
        if not addresses:
            raise DNSLookupError("no address was found for the name")
        self.rule.check_addresses(addresses)
        return tuple(dict.fromkeys(addresses))


def resolver(settings: BaseSettings) -> Resolver:
    """What resolves names for a crawler with these settings: nothing is looked up with `SANDBOX`."""
    return sandbox_resolver if settings.getbool("SANDBOX") else NameResolver()


async def sandbox_resolver(name: str, _caller: str = "") -> Sequence[Address]:
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
