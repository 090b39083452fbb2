"""The download handler: selects the transport of each request."""

import asyncio
from typing import Any, cast

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, NotSupported
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions

from webdata.domain.errors import UpstreamError
from webdata.fetching.egress.connect import GuardedPool
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule
from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.transports.browser.process import Browser
from webdata.fetching.transports.http import BoundedHandler
from webdata.fetching.transports.proxy_tunnel import ProxiedHandler

STATUSES = range(100, 1000)
"""Three digits (RFC 9112, 4): what parsers read of other ones is a number all the same."""
PROXIED = "http through a proxy"
"""The transport `http` has a handler of its own for it, with other connections."""


class TransportsHandler(BaseDownloadHandler):
    """Downloads by the transport of a request's fetch: `http`, `impersonate`, `browser`.

    Handlers are created for their first request. With the setting `EGRESS_GUARD` every request is held to the egress
    rule, with redirects, refreshes and forms of consent pages: hosts other than the spider's own sites
    (`Rule.of_spider`) are refused with TargetError, and so are addresses that the guard does not allow. The browser's
    handler also checks the navigations of its pages.
    """

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._guard = guard_of(crawler) if crawler.settings.getbool("EGRESS_GUARD") else None
        self._rule = Rule.of_spider(crawler.settings, crawler.spidercls)
        self._handlers: dict[str, BaseDownloadHandler] = {}

    async def download_request(self, request: Request) -> Response:
        if self._guard:
            request = await self._allowed(request, self._guard)
        transport: str = Fetch.of(request).transport
        if transport == "http" and request.meta.get("proxy"):
            transport = PROXIED
        if transport not in self._handlers:
            self._handlers[transport] = self._create(transport)
        response = await self._handlers[transport].download_request(request)
        if response.status not in STATUSES:
            raise UpstreamError("the upstream's answer has no status of HTTP", "no_status")
        return response

    async def close(self) -> None:
        for handler in [*self._handlers.values()]:
            await handler.close()

    def _create(self, transport: str) -> BaseDownloadHandler:
        if transport == "http":
            return GuardedHandler(self.crawler, self._guard) if self._guard else BoundedHandler(self.crawler)
        if transport == PROXIED:
            return ProxiedHandler(self.crawler)
        if transport == "impersonate":
            from webdata.fetching.transports.impersonate import ImpersonateHandler  # noqa: PLC0415 - it needs an extra

            return ImpersonateHandler(self.crawler, self._guard)
        if transport == "browser":
            from webdata.fetching.transports.browser.handler import BrowserHandler  # noqa: PLC0415 - it loads Playwright

            browser = cast(Browser, FetchResources.of(self.crawler).browser)
            return BrowserHandler(self.crawler, browser, self._guard or guard_of(self.crawler))
        raise NotSupported(f"there is no transport called {transport}")

    async def _allowed(self, request: Request, guard: Guard) -> Request:
        """The request for the normalized URL, so that no later parser of the URL sees another host.

        A proxy resolves names itself: for any site they are looked up here too, to check the addresses; for a spider's
        own sites that would add nothing to what is known of them.
        """
        target = self._rule.check_url(request.url)
        if request.meta.get("proxy") and self._rule.sites is None:
            try:
                async with asyncio.timeout(request.meta.get("download_timeout")):
                    with wrap_twisted_exceptions():
                        await guard.for_caller(Fetch.of(request).run.account).addresses(target)
            except TimeoutError as error:
                raise DownloadTimeoutError("the name was not resolved in time") from error
        return request if target.url == request.url else request.replace(url=target.url)


def guard_of(crawler: Crawler) -> Guard:
    """The guard of a crawler's settings, with the resolver that it shares with others."""
    return Guard(Rule.from_settings(crawler.settings), FetchResources.of(crawler).resolver)


class GuardedHandler(BoundedHandler):
    """The plain handler, with connections that the guard opens."""

    _pool: GuardedPool

    def __init__(self, crawler: Crawler, guard: Guard):
        self._guard = guard
        super().__init__(crawler)

    def _bounded_pool(self) -> GuardedPool:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        return GuardedPool(reactor, self._guard, self._contextFactory)

    def _pool_for(self, request: Request) -> Any:
        return self._pool.for_caller(Fetch.of(request).run.account)
