"""The `crawl` command; `tests/e2e/test_batch.py` runs it."""

import argparse

import pytest
from scrapy.exceptions import UsageError

from webdata.crawling.jobs.crawl import Command, check_engine, check_numbers
from webdata.crawling.warm_crawlers import scrapy_settings


@pytest.mark.parametrize("args", [[], ["google_web", "bing_web"]])
def test_it_runs_one_spider(args):
    """Without a spider, or with several, the message has an example of a right command."""
    with pytest.raises(UsageError, match="give one spider, such as: scrapy crawl google_web"):
        Command().run(args, argparse.Namespace())


def test_an_unknown_engine_is_refused():
    """The message for a misspelt engine names the nearest one, and all others."""
    with pytest.raises(UsageError, match="'gogle_web': the nearest is google_web; all are bing_web, google_web"):
        check_engine("gogle_web", ["bing_web", "google_web"])


@pytest.mark.parametrize("value", ["0", "-1", "many", "2.5", "nan", "", "9" * 5000])
@pytest.mark.parametrize("name", ["CONCURRENT_REQUESTS_PER_DOMAIN", "CONCURRENT_REQUESTS", "MAX_STEPS"])
def test_a_count_that_a_batch_cannot_run_with_is_refused(name, value):
    """A number of things at once that is none, negative or no whole number is an error that names a right value."""
    settings = scrapy_settings()
    settings.set(name, value, priority="cmdline")
    with pytest.raises(UsageError, match=f"{name} cannot be .*: give a whole number from 1, such as -s {name}=8"):
        check_numbers(settings)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "soon"])
@pytest.mark.parametrize("name", ["DOWNLOAD_DELAY", "DEADLINE", "LOGSTATS_INTERVAL"])
def test_seconds_that_a_batch_cannot_run_with_are_refused(name, value):
    """Seconds that are negative, without an end or no number are an error."""
    settings = scrapy_settings()
    settings.set(name, value, priority="cmdline")
    with pytest.raises(UsageError, match=f"{name} cannot be {value!r}: give a number from"):
        check_numbers(settings)


def test_the_settings_as_they_are_can_be_used():
    """Numbers and texts of numbers pass."""
    settings = scrapy_settings()
    settings.setdict(
        {"CONCURRENT_REQUESTS": "32", "DOWNLOAD_DELAY": "0.5", "LOGSTATS_INTERVAL": "0"}, priority="cmdline"
    )
    check_numbers(settings)
