"""`scrapy parse` with a message for engines, which it cannot run."""

import argparse

from scrapy.commands.parse import Command as ParseCommand
from scrapy.exceptions import UsageError

from webdata.crawling.engine import EngineSpider


class Command(ParseCommand):
    """Scrapy's command, for spiders that are no engines: a page of an engine answers a query, and a URL has none."""

    def set_spidercls(self, url: str, opts: argparse.Namespace) -> None:
        super().set_spidercls(url, opts)
        if self.spidercls and issubclass(self.spidercls, EngineSpider):
            name = self.spidercls.name
            raise UsageError(
                f"{name} is an engine, whose pages answer a query: run a query by `scrapy crawl {name}`, with its "
                f"arguments by -a, or parse a saved page by `webdata parse {name} FILE`",
                print_help=False,
            )
