"""Which URLs may be webhooks: those that the egress rule allows, by HTTPS."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

from ada_url import URL
from twisted.internet.error import DNSLookupError

from webdata.domain.errors import FetchError, QueryError, TargetError
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.names import NameResolver
from webdata.fetching.egress.rule import Network, Rule, Target

LOOK_UP_SECONDS = 3.0
"""How long the name of a new webhook may take to be resolved; delivery checks it again."""
QUOTED = 100


class WebhookUrls:
    """Checks the URLs of webhooks. With `http` they need no TLS."""

    def __init__(self, guard: Guard, *, http: bool) -> None:
        self.guard = guard
        self._http = http

    @classmethod
    def guarded(cls, ports: Iterable[int], allow: Iterable[Network], *, http: bool) -> Self:
        """Those of public hosts on these ports, and of the networks that an operator allows."""
        return cls(Guard(Rule(frozenset(ports), tuple(allow)), NameResolver()), http=http)

    def check(self, url: str) -> Target:
        """The target of a URL, before its name is resolved; raises TargetError with what would be right."""
        with suppress(TargetError):
            target = self.guard.rule.check_url(url)
            if target.scheme == "https" or self._http:
                return target
        raise self._refusal(url)

    async def check_new(self, url: str, caller: str) -> Target:
        """The target of a URL; raises QueryError for one that cannot be a webhook, as far as that can be told now.

        Its `url` is what a webhook is made with: the URL as browsers write it. A URL whose host other programs read
        differently is refused, since its owner would be shown another host than that which gets the events.
        """
        try:
            target = self.check(url)
            if _host_by_rfc_3986(url) != target.host:
                raise self._refusal(url)
            with suppress(TimeoutError, FetchError, DNSLookupError):
                async with asyncio.timeout(LOOK_UP_SECONDS):
                    await self._check_addresses(target, url, caller)
        except TargetError as error:
            raise QueryError([{"loc": ["body", "url"], "msg": str(error), "type": "target_not_allowed"}]) from None
        return target

    async def _check_addresses(self, target: Target, url: str, caller: str) -> None:
        try:
            await self.guard.for_caller(caller).addresses(target)
        except TargetError:
            raise self._refusal(url) from None

    def _refusal(self, url: str) -> TargetError:
        *most, last = map(str, sorted(self.guard.rule.ports))
        ports = f"{', '.join(most)} or {last}" if most else last
        scheme = "an http:// or https://" if self._http else "an https://"
        shown = url if len(url) <= QUOTED else f"{url[:QUOTED]}…"
        return TargetError(
            f"url cannot be {shown!r}: give {scheme} URL of a public host, on port {ports}, without user and password, "
            "such as https://shop.example/webhook"
        )


def _host_by_rfc_3986(url: str) -> str | None:
    """The host of a URL in which a backslash is no slash, as the URL standard writes it; None where there is none."""
    with suppress(ValueError):
        _, _, host_and_port = urlsplit(url).netloc.rpartition("@")
        return URL(f"https://{host_and_port}/").hostname.strip("[]")
    return None
