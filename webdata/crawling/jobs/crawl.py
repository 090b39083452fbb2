"""`scrapy crawl` with one-line messages for wrong arguments."""

import argparse
import asyncio
import math
from collections.abc import Sequence

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from webdata.crawling.jobs.feeds import JobFeedExporter
from webdata.domain.errors import ConfigError, QueryError
from webdata.domain.nearest_name import nearest_name
from webdata.runtime.process.memory import collect_less, tune_heap

COUNTS = {
    "CONCURRENT_ITEMS": 1,
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "BROWSER_PAGES": 1,
    "CLOSESPIDER_ERRORCOUNT": 0,
    "CLOSESPIDER_ITEMCOUNT": 0,
    "CLOSESPIDER_PAGECOUNT": 0,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": 0,
    "DOWNLOAD_MAXSIZE": 0,
    "DOWNLOAD_WARNSIZE": 0,
    "MAX_STEPS": 1,
    "REACTOR_THREADPOOL_MAXSIZE": 1,
    "REDIRECT_MAX_TIMES": 0,
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
    "URL_MAX_BYTES": 1,
}
"""The settings that are whole numbers, and the least of each: below it a batch would wait for ever or fetch nothing."""

NUMBERS = {
    "AUTOTHROTTLE_MAX_DELAY": 0.0,
    "AUTOTHROTTLE_START_DELAY": 0.0,
    "AUTOTHROTTLE_TARGET_CONCURRENCY": 0.1,
    "BACKOFF": 0.0,
    "BACKOFF_MAX": 0.0,
    "CLOSESPIDER_TIMEOUT": 0.0,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": 0.0,
    "DEADLINE": 1.0,
    "DNS_TIMEOUT": 0.1,
    "DOWNLOAD_DELAY": 0.0,
    "DOWNLOAD_TIMEOUT": 0.1,
    "LOGSTATS_INTERVAL": 0.0,
}
"""The settings that are any number, and the least of each."""


class Command(CrawlCommand):
    """Scrapy's command with an exit status that a script can rely on.

    0: every query has its record or its failure in the feeds. 1: the batch stopped before, or a feed could not be
    written. 2: wrong arguments or settings, by a message without a traceback, before anything is fetched.
    """

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give one spider, such as: scrapy crawl google_web -a q=coffee -O out.jsonl")
        assert self.crawler_process
        check_engine(args[0], sorted(self.crawler_process.spider_loader.list()))
        collect_less()
        tune_heap()
        crawler = self._create_crawler(args[0])
        check_numbers(crawler.settings)
        crawl = self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        if self.crawler_process.bootstrap_failed or not _complete(crawler):
            self.exitcode = 1
        if isinstance(crawl, asyncio.Future) and crawl.done() and not crawl.cancelled():
            error = crawl.exception()
            if isinstance(error, (ConfigError, QueryError)):
                raise UsageError(str(error), print_help=False)


def check_engine(name: str, known: Sequence[str]) -> None:
    """Raise UsageError for the name of no engine, with the nearest and all of them."""
    if name not in known:
        nearest = nearest_name(name, known)
        raise UsageError(
            f"there is no engine {name!r}: the nearest is {nearest}; all are {', '.join(known)}", print_help=False
        )


def check_numbers(settings: BaseSettings) -> None:
    """Raise UsageError for a setting that is not the number which it must be."""
    for name, least in {**COUNTS, **NUMBERS}.items():
        number = _number(settings[name], int if name in COUNTS else float)
        if number is None or number < least:
            kind = "whole number" if name in COUNTS else "number"
            right = f"give a {kind} from {least}, such as -s {name}={max(least, 8)}"
            raise UsageError(f"{name} cannot be {settings[name]!r}: {right}", print_help=False)


def _number(value: object, kind: type[int | float]) -> int | float | None:
    try:
        number = kind(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _complete(crawler: Crawler) -> bool:
    feeds = crawler.get_extension(JobFeedExporter) if crawler.extensions else None
    return feeds is not None and feeds.complete
