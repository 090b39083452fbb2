"""How often it may be tried to sign in, so that passwords are not guessed and nobody is locked out."""

from ipaddress import ip_address, ip_network

from webdata.accounts.access.api_keys import digest
from webdata.accounts.access.rate_limits import RateLimits
from webdata.domain.account_names import folded_name
from webdata.domain.errors import RateLimitedError
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.model import Plan

SECONDS = 900
ADDRESS_ATTEMPTS = Plan("attempts of an address", requests=10, seconds=SECONDS, in_flight=10)
NAME_ATTEMPTS = Plan("attempts for a name", requests=20, seconds=SECONDS, in_flight=20)
BROWSER_ATTEMPTS = Plan("attempts of a known browser", requests=20, seconds=SECONDS, in_flight=20)
NETWORK_BITS = 64
"""Whoever has an address of IPv6 has as many as this leaves."""


class Attempts:
    """Counts attempts to sign in, right ones too.

    They are counted by address and by name. A browser from which the member has signed in before is counted alone, so
    that others who try, however many, lock nobody out of the own browser.
    """

    def __init__(self, rate_limits: RateLimits, members: MemberStore) -> None:
        self._rate_limits = rate_limits
        self._members = members

    async def count(self, name: str, address: str, browser_secret: str | None) -> None:
        """Count an attempt; raises RateLimitedError if there were too many."""
        browser = digest(browser_secret) if browser_secret else None
        if browser and await self._members.knows_browser(browser, name):
            await self._count(f"browser:{browser}:{_short(name)}", BROWSER_ATTEMPTS)
            return
        await self._count(f"address:{_network(address)}", ADDRESS_ATTEMPTS)
        await self._count(f"name:{_short(name)}", NAME_ATTEMPTS)

    async def _count(self, counted: str, plan: Plan) -> None:
        async with self._rate_limits.counted(f"sign-in:{counted}", plan) as limit:
            if limit.refused:
                minutes = max(1, round(limit.retry_after / 60))
                wait = "a minute" if minutes == 1 else f"{minutes} minutes"
                raise RateLimitedError(
                    f"Too many attempts to sign in: try again in {wait}.", int(limit.retry_after) + 1
                )


def _short(name: str) -> str:
    return digest(folded_name(name))


def _network(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ip_network((address, NETWORK_BITS), strict=False))
