"""Fetch resources for a crawler that was given none, as in `scrapy crawl`."""

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.transports.browser.process import Browser


class OwnFetchResources:
    """A Scrapy add-on: makes the crawler's fetch resources where there are none, and closes them with the crawler.

    The crawlers of a service share theirs (`webdata.crawling.warm_crawlers`).
    """

    def __init__(self, crawler: Crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        if hasattr(self.crawler, "fetch_resources"):
            return
        self.resources = FetchResources.from_settings(settings, Browser.from_settings(settings))
        self.crawler.fetch_resources = self.resources  # type: ignore[attr-defined]  # ours
        self.crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    async def engine_stopped(self) -> None:
        await self.resources.close()
