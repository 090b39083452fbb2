"""The progress of a batch: a bar on a terminal, else a log line at intervals; a summary at the end."""

import logging
import sys
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.log import get_scrapy_root_handler
from tqdm import tqdm

from webdata.crawling.jobs.feeds import JobFeedExporter
from webdata.crawling.jobs.queries import RunQueries
from webdata.domain.outcome import WITH_RECORD

logger = logging.getLogger(__name__)


class Progress:
    """Counts the queries of a batch by outcome.

    `interval` is the seconds between two lines of the log (`LOGSTATS_INTERVAL`); a terminal gets a bar instead.
    """

    def __init__(self, crawler: Crawler, batch: RunQueries, interval: float):
        self.crawler = crawler
        self.batch = batch
        self.interval = interval
        self.bar: Bar | None = None
        self.timer: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        batch: RunQueries | None = getattr(crawler.spider, "batch", None)
        if batch is None:
            raise NotConfigured  # without a message, which would be logged as a warning
        progress = cls(crawler, batch, crawler.settings.getfloat("LOGSTATS_INTERVAL"))
        crawler.signals.connect(progress.spider_opened, signals.spider_opened)
        crawler.signals.connect(progress.item_scraped, signals.item_scraped)
        crawler.signals.connect(progress.spider_closed, signals.spider_closed)
        return progress

    def spider_opened(self) -> None:
        if ended := self.batch.ended.total():
            logger.info("The job goes on: %d of %d queries have ended", ended, self.batch.total)
        if sys.stderr.isatty():
            self.bar = Bar(self.batch)
        elif self.interval:
            self.timer = create_looping_call(self.log)
            self.timer.start(self.interval, now=False)

    def item_scraped(self, item: Any) -> None:
        if self.feeds and self.feeds.broken:  # it is in no feed
            return
        self.batch.ended[self.batch.outcome(item)] += 1
        if self.bar:
            self.bar.update(self.batch)

    def spider_closed(self, reason: str) -> None:
        if self.bar:
            self.bar.close()
        if self.timer:
            self.timer.stop()
        self._summarise(reason)

    @property
    def feeds(self) -> JobFeedExporter | None:
        return self.crawler.get_extension(JobFeedExporter)

    def log(self) -> None:
        ok, failed = counts(self.batch)
        ended, total = ok + failed, self.batch.total
        logger.info("%d of %d queries have ended: %d with a record, %d failed", ended, total, ok, failed)

    def _summarise(self, reason: str) -> None:
        ended, total = self.batch.ended.total(), self.batch.total
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in self.batch.ended.most_common()) or "none"
        failures = f"; failures are in {self.feeds.failures}" if self.feeds and counts(self.batch)[1] else ""
        logger.info("%d of %d queries have ended: %s%s", ended, total, outcomes, failures)
        if ended < total and reason == "finished":
            logger.error("%d queries have neither a record nor a failure: a fault in webdata", total - ended)
        elif ended < total and self.feeds and self.feeds.journal:
            logger.info("The same command goes on from here")


class Bar:
    """The progress bar on a terminal. Until it is closed, the log is written above it."""

    def __init__(self, batch: RunQueries):
        ended = batch.ended.total()
        self.bar = tqdm(total=batch.total, initial=ended, unit=" queries", file=sys.stderr, dynamic_ncols=True)
        self.handler = get_scrapy_root_handler()
        if isinstance(self.handler, logging.StreamHandler) and self.handler.stream is sys.stderr:
            self.handler.setStream(_Above())
        self.update(batch, 0)

    def update(self, batch: RunQueries, by: int = 1) -> None:
        """Add `by` queries that have ended."""
        ok, failed = counts(batch)
        self.bar.set_postfix_str(f"{ok} ok, {failed} failed", refresh=False)
        self.bar.update(by)

    def close(self) -> None:
        """Leave the bar as it is and write the log to the terminal again."""
        self.bar.close()
        if isinstance(self.handler, logging.StreamHandler) and isinstance(self.handler.stream, _Above):
            self.handler.setStream(sys.stderr)


class _Above:
    """A stream to the terminal above the bar."""

    def write(self, text: str) -> None:
        tqdm.write(text, file=sys.stderr, end="")

    def flush(self) -> None:
        sys.stderr.flush()


def counts(batch: RunQueries) -> tuple[int, int]:
    """The numbers of queries that ended with a record and without one."""
    ok = sum(number for outcome, number in batch.ended.items() if outcome in WITH_RECORD)
    return ok, batch.ended.total() - ok
