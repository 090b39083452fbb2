"""The failures feed: one line for each query that ends without a record."""

from pathlib import Path
from typing import Any, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FileFeedStorage, ItemFilter
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure as Caught

from webdata.crawling.engine import EngineSpider
from webdata.crawling.jobs.queries import RunQueries
from webdata.domain.errors import ConfigError
from webdata.domain.failures import FIELDS, Failure


class RecordFilter(ItemFilter):
    """Excludes failures from the feeds of records."""

    def accepts(self, item: Any) -> bool:
        return not isinstance(item, Failure) and super().accepts(item)


class FailuresFeed:
    """Adds the failures feed to the feeds of a batch.

    `FAILURES_FEED` is its path or URI; `%(output)s` in it is the path of the first output file without its suffix,
    or the spider's name when no output is a file. Like that output it is overwritten (`-O`) or appended to (`-o`).
    """

    def __init__(self, spider: type[Spider]):
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.spidercls)

    def update_settings(self, settings: BaseSettings) -> None:
        if settings.getbool("ON_DEMAND") or not issubclass(self.spider, EngineSpider):  # that of `scrapy shell` is none
            return
        outputs = settings.getdict("FEEDS")
        path = self._path(settings, outputs)
        if path in outputs:
            raise ConfigError(f"FAILURES_FEED cannot be {path!r}, which is an output already: give another path")
        feeds = {output: {"item_filter": RecordFilter, **options} for output, options in outputs.items()}
        feeds[path] = {
            "format": "jsonl",
            "fields": FIELDS,
            "item_classes": [Failure],
            "store_empty": True,
            "overwrite": all(options.get("overwrite") for options in outputs.values()),
        }
        settings.set("FEEDS", feeds, priority="cmdline")

    def _path(self, settings: BaseSettings, outputs: dict[Any, Any]) -> str:
        files = [str(output) for output in outputs if ":" not in str(output) or str(output).startswith("file:")]
        stem = str(Path(FileFeedStorage(files[0]).path).with_suffix("")) if files else self.spider.name
        return str(settings["FAILURES_FEED"]).replace("%(output)s", stem)


class RefusedItems:
    """Adds a failure for each record that an item pipeline refuses or drops."""

    def __init__(self, crawler: Crawler, batch: RunQueries):
        self.crawler = crawler
        self.batch = batch

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        batch: RunQueries | None = getattr(crawler.spider, "batch", None)
        if batch is None:
            raise NotConfigured  # without a message, which would be logged as a warning
        refused = cls(crawler, batch)
        crawler.signals.connect(refused.item_error, signals.item_error)
        crawler.signals.connect(refused.item_dropped, signals.item_dropped)
        return refused

    async def item_error(self, item: Any, response: Response | None, failure: Caught) -> None:
        assert failure.value
        row = response.cb_kwargs["row"] if isinstance(response, Response) else None
        if row and not isinstance(item, Failure):
            await self._add(Failure.of(failure.value, self.batch.given(row), row.line), response)

    async def item_dropped(self, item: Any, response: Response | None, exception: BaseException) -> None:
        row = response.cb_kwargs["row"] if isinstance(response, Response) else None
        if row and not isinstance(item, Failure):
            await self._add(Failure(self.batch.given(row), "dropped", None, str(exception), row.line), response)

    async def _add(self, failure: Failure, response: Response | None) -> None:
        await self.crawler.engine.scraper.start_itemproc_async(failure, response=response)
