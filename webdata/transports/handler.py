"""The download handler: selects the transport of each request."""

import asyncio
from typing import Any, Self, cast

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, NotSupported
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions

from webdata.egress.connect import GuardedPool
from webdata.egress.guard import Guard
from webdata.egress.rule import Rule, Target
from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.transports.browser.process import Browser
from webdata.transports.http import BoundedHandler
from webdata.transports.proxy_tunnel import ProxiedHandler


class TransportsHandler(BaseDownloadHandler):
    """Downloads over http and https by the transport of their fetch: `http`, `impersonate`, `browser`.

    The handlers of the last two are created for their first request. With the setting `EGRESS_GUARD`, every request
    to an address that the guard does not allow fails with TargetError.
    """

    def __init__(self, crawler: Crawler, guard: Guard | None):
        super().__init__(crawler)
        self._guard = guard
        http: BaseDownloadHandler = ProxiedHandler(crawler)
        self._handlers: dict[str, BaseDownloadHandler] = {
            "http": GuardedHandler(crawler, guard, http) if guard else http
        }

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, guard_of(crawler) if crawler.settings.getbool("EGRESS_GUARD") else None)

    async def download_request(self, request: Request) -> Response:
        transport = Fetch.of(request).transport
        if transport not in self._handlers:
            self._handlers[transport] = self._create(transport)
        return await self._handlers[transport].download_request(request)

    async def close(self) -> None:
        for handler in [*self._handlers.values()]:
            await handler.close()

    def _create(self, transport: str) -> BaseDownloadHandler:
        if transport == "impersonate":
            from webdata.transports.impersonate import ImpersonateHandler  # noqa: PLC0415 - it needs an extra

            return ImpersonateHandler(self.crawler, self._guard)
        if transport == "browser":
            from webdata.transports.browser.handler import BrowserHandler  # noqa: PLC0415 - it loads Playwright

            browser = cast(Browser, FetchResources.of(self.crawler).browser)
            return BrowserHandler(self.crawler, browser, self._guard or guard_of(self.crawler))
        raise NotSupported(f"there is no transport called {transport}")


def guard_of(crawler: Crawler) -> Guard:
    """The guard of a crawler's settings, with the resolver that it shares with others."""
    return Guard(Rule.from_settings(crawler.settings), FetchResources.of(crawler).resolver)


class GuardedHandler(BoundedHandler):
    """The plain handler, with connections that the guard opens.

    For requests with `request.meta["proxy"]` the target is checked, and `proxied`, a plain handler, downloads them.
    The proxy resolves the names of a spider's own sites alone: no look-up here adds to what is known of them.
    """

    def __init__(self, crawler: Crawler, guard: Guard, proxied: BaseDownloadHandler):
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        super().__init__(crawler)
        pool = GuardedPool(reactor, guard, self._contextFactory)
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = self._pool._factory  # noqa: SLF001  # Scrapy's, lenient with broken servers
        self._pool = self._guarded_pool = pool
        self._guard = guard
        self._proxied = proxied
        self._any_site = Rule.of_spider(crawler.settings, crawler.spidercls).sites is None

    async def download_request(self, request: Request) -> Response:
        target = self._guard.rule.check_url(request.url)
        if target.url != request.url:  # so that no later parser of the URL sees another host
            request = request.replace(url=target.url)
        if not request.meta.get("proxy"):
            return await super().download_request(request)
        if self._any_site:
            guard = self._guard.for_caller(Fetch.of(request).run.key)
            await self._check(guard, target, request.meta.get("download_timeout"))
        return await self._proxied.download_request(request)

    def _pool_for(self, request: Request) -> Any:
        return self._guarded_pool.for_caller(Fetch.of(request).run.key)

    async def _check(self, guard: Guard, target: Target, seconds: float | None) -> None:
        """Check the target's addresses, which the proxy resolves again, within the download's time limit."""
        try:
            async with asyncio.timeout(seconds):
                with wrap_twisted_exceptions():
                    await guard.addresses(target)
        except TimeoutError as error:
            raise DownloadTimeoutError("the name was not resolved in time") from error

    async def close(self) -> None:
        await super().close()
        await self._proxied.close()
