"""`scrapy crawl` with one-line messages for wrong arguments."""

import argparse
import asyncio

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from webdata.crawling.garbage import collect_less
from webdata.domain.errors import ConfigError, QueryError


class Command(CrawlCommand):
    """Scrapy's command; wrong arguments give a message and exit status 2, without a traceback."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give one spider, such as: scrapy crawl google_web -a q=coffee -O out.jsonl")
        assert self.crawler_process
        collect_less()
        crawl = self.crawler_process.crawl(self._create_crawler(args[0]), **opts.spargs)
        self.crawler_process.start()
        if self.crawler_process.bootstrap_failed:
            self.exitcode = 1
        if isinstance(crawl, asyncio.Future) and crawl.done() and not crawl.cancelled():
            error = crawl.exception()
            if isinstance(error, (ConfigError, QueryError)):
                raise UsageError(str(error), print_help=False)
