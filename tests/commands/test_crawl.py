"""The `crawl` command; `tests/e2e/test_batch.py` runs it."""

import argparse

import pytest
from scrapy.exceptions import UsageError

from webdata.commands.crawl import Command


@pytest.mark.parametrize("args", [[], ["google_web", "bing_web"]])
def test_it_runs_one_spider(args):
    """No spider, or several, is a mistake that shows what is right."""
    with pytest.raises(UsageError, match="give one spider, such as: scrapy crawl google_web"):
        Command().run(args, argparse.Namespace())
