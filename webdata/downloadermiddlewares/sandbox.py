"""Sends requests to the sandbox instead of the internet."""

import asyncio
from pathlib import Path
from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webdata.domain.errors import QueryError
from webdata.sandbox.scenarios import UNKNOWN_WORD
from webdata.sandbox.server import Sandbox


class SandboxMiddleware:
    """Where `SANDBOX` is on, every request goes through the sandbox's proxy; its refusal of a word is a QueryError.

    `SANDBOX_URL` is the proxy's URL; without it the crawler runs a sandbox of its own from its first request on.
    """

    def __init__(self, url: str | None, replay: Path | None):
        self.url = url
        self.replay = replay
        self.own: Sandbox | None = None
        self._starting = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("SANDBOX"):
            raise NotConfigured  # without a message: Scrapy would log it as a warning
        middleware = cls(crawler.settings["SANDBOX_URL"], crawler.settings["SANDBOX_REPLAY"])
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    async def spider_closed(self) -> None:
        if self.own:
            await self.own.stop()

    async def process_request(self, request: Request) -> None:
        async with self._starting:
            if not self.url:
                self.own = Sandbox(self.replay)
                self.url = await self.own.start()
        request.meta["proxy"] = self.url

    async def process_response(self, request: Request, response: Response) -> Response:
        if UNKNOWN_WORD in response.headers:
            message = response.body.decode("utf-8", "replace").strip()
            raise QueryError([{"loc": ["query", "q"], "msg": message, "type": "unknown_word"}])
        return response


class SandboxTrust:
    """A Scrapy add-on: crawlers in the sandbox check no certificate, since its authority is its own."""

    def update_settings(self, settings: BaseSettings) -> None:
        if settings.getbool("SANDBOX"):
            settings.set("DOWNLOAD_VERIFY_CERTIFICATES", False, priority="spider")
