"""Ways for a crawler that nobody gave some, as in a batch."""

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from webdata.fetching.fetch import Ways


class OwnWays:
    """Makes the setting `WAYS` where it is missing, and closes them with the crawler.

    A service has ways that all of its crawlers share.
    """

    def __init__(self, crawler: Crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        if settings["WAYS"] is None:
            self.ways = Ways.from_settings(settings)
            settings.set("WAYS", self.ways, priority="cmdline")
            self.crawler.signals.connect(self.engine_stopped, signals.engine_stopped)

    async def engine_stopped(self) -> None:
        await self.ways.close()
