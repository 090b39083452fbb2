"""The download handler: how a request's page is won."""

import asyncio
from typing import Self, cast

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, NotSupported
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions

from webdata.egress.connect import GuardedPool
from webdata.egress.guard import Guard
from webdata.egress.rule import Target
from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.transports.browser.process import Browser
from webdata.transports.http import BoundedHandler
from webdata.transports.proxy_tunnel import ProxiedHandler


class TransportsHandler(BaseDownloadHandler):
    """Downloads over http and https by the transport of their fetch: `http`, `impersonate`, `browser`.

    The last two are made for the first request that wants them. Where the setting `EGRESS_GUARD` is on, every request
    goes to targets that the guard allows, others fail with TargetError.
    """

    def __init__(self, crawler: Crawler, guard: Guard | None):
        super().__init__(crawler)
        self._http: BaseDownloadHandler = ProxiedHandler(crawler)
        if guard:
            self._http = GuardedHandler(crawler, guard, self._http)
        self._guard = guard
        self._others: dict[str, BaseDownloadHandler] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, Guard.from_settings(crawler.settings) if crawler.settings.getbool("EGRESS_GUARD") else None)

    async def download_request(self, request: Request) -> Response:
        transport = Fetch.of(request).transport
        if transport == "http":
            return await self._http.download_request(request)
        return await self._other(transport).download_request(request)

    async def close(self) -> None:
        for handler in (self._http, *self._others.values()):
            await handler.close()

    def _other(self, transport: str) -> BaseDownloadHandler:
        if transport not in self._others:
            self._others[transport] = self._made(transport)
        return self._others[transport]

    def _made(self, transport: str) -> BaseDownloadHandler:
        settings = self.crawler.settings
        if transport == "impersonate":
            from webdata.transports.impersonate import ImpersonateHandler  # noqa: PLC0415 - it needs an extra

            return ImpersonateHandler(self.crawler, self._guard)
        if transport == "browser":
            from webdata.transports.browser.handler import BrowserHandler  # noqa: PLC0415 - it loads Playwright

            return BrowserHandler(
                self.crawler,
                cast(Browser, FetchResources.of(self.crawler).browser),
                self._guard or Guard.from_settings(settings),
            )
        raise NotSupported(f"there is no transport called {transport}")


class GuardedHandler(BoundedHandler):
    """The plain handler, whose connections the guard opens.

    With `request.meta["proxy"]` the target is checked before `proxied`, a plain handler, hands it to the proxy.
    """

    def __init__(self, crawler: Crawler, guard: Guard, proxied: BaseDownloadHandler):
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        super().__init__(crawler)
        pool = GuardedPool(reactor, guard, self._contextFactory)
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = self._pool._factory  # noqa: SLF001  # Scrapy's, lenient with broken servers
        self._pool = pool
        self._guard = guard
        self._proxied = proxied

    async def download_request(self, request: Request) -> Response:
        target = self._guard.rule.check_url(request.url)
        if target.url != request.url:  # so that nobody after us reads it in another way
            request = request.replace(url=target.url)
        if not request.meta.get("proxy"):
            return await super().download_request(request)
        await self._check(target, request.meta.get("download_timeout"))
        return await self._proxied.download_request(request)

    async def _check(self, target: Target, seconds: float | None) -> None:
        """Look up the target's addresses for the check alone, within the time that the download has."""
        try:
            async with asyncio.timeout(seconds):
                with wrap_twisted_exceptions():
                    await self._guard.addresses(target)
        except TimeoutError as error:
            raise DownloadTimeoutError("the name was not resolved in time") from error

    async def close(self) -> None:
        await super().close()
        await self._proxied.close()
