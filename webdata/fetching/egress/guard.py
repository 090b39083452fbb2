"""The guard: applies the rule to a URL and to every address of its host."""

from twisted.internet.error import DNSLookupError

from webdata.fetching.egress.names import Resolver
from webdata.fetching.egress.rule import Address, Rule, Target, known_addresses


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
