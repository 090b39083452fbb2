"""`scrapy crawl` outside of a Scrapy project. Scrapy finds this command by the entry point `crawl` of the package."""

import argparse
import os
import sys

from scrapy import cmdline
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.utils.project import ENVVAR, inside_project

SETTINGS = "webdata.settings"


class CrawlAnywhere(CrawlCommand):
    """Begins again with webdata's settings, so that its own `crawl` runs, where Scrapy would refuse the command."""

    requires_crawler_process = False

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        os.environ[ENVVAR] = SETTINGS
        cmdline.execute([sys.argv[0], "crawl", *sys.argv[1:]])  # Scrapy has taken the command out of them


# Entry points come before the commands of a project: one that has none of its own keeps Scrapy's.
command: type[CrawlCommand] = CrawlCommand if inside_project() else CrawlAnywhere
