"""The `crawl` command; `tests/e2e/test_batch.py` runs it."""

import argparse

import pytest
from scrapy.exceptions import UsageError

from webdata.commands.crawl import Command


@pytest.mark.parametrize("args", [[], ["google_web", "bing_web"]])
def test_it_runs_one_spider(args):
    """Without a spider, or with several, the message has an example of a right command."""
    with pytest.raises(UsageError, match="give one spider, such as: scrapy crawl google_web"):
        Command().run(args, argparse.Namespace())
