"""The progress of a batch."""

import io
import logging
import re
from contextlib import contextmanager, redirect_stderr

import pytest
from pytest_twisted import ensureDeferred
from scrapy.exceptions import NotConfigured
from scrapy.utils.log import _uninstall_scrapy_root_handler, get_scrapy_root_handler, install_scrapy_root_handler
from scrapy.utils.test import get_crawler

from webdata.crawling.jobs.progress import Progress
from webdata.crawling.warm_crawlers import scrapy_settings


class Terminal(io.StringIO):
    """A terminal whose text can be read back."""

    def isatty(self):
        return True


def messages(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "webdata.crawling.jobs.progress"]


def test_it_is_off_without_a_batch():
    """Crawlers of on-demand calls have no progress."""
    with pytest.raises(NotConfigured):
        Progress.from_crawler(get_crawler())


@ensureDeferred
async def test_the_summary_counts_outcomes(job, caplog):
    """The last line has the number of queries by outcome and the path of the failures."""
    caplog.set_level(logging.INFO)
    await job("coffee", "tea", "none", "layout")
    assert messages(caplog) == [
        "4 of 4 queries have ended: 2 ok, 1 empty, 1 layout; failures are in out.failures.jsonl"
    ]


@ensureDeferred
async def test_the_summary_of_success_names_no_failures(job, caplog):
    """Without a failure the summary has no path."""
    caplog.set_level(logging.INFO)
    await job("coffee")
    assert messages(caplog) == ["1 of 1 queries have ended: 1 ok"]


@ensureDeferred
async def test_earlier_runs_of_a_job_are_counted(job, caplog):
    """A resumed job counts the queries that have ended before."""
    caplog.set_level(logging.INFO)
    queries = [f"q{number}" for number in range(20)]
    await job(*queries, JOBDIR="job", CLOSESPIDER_ITEMCOUNT=3, CONCURRENT_REQUESTS=1)
    assert messages(caplog)[-1] == "The same command goes on from here"
    caplog.clear()
    await job(*queries, JOBDIR="job")
    begun, ended = messages(caplog)
    assert begun.startswith("The job goes on: ")
    assert ended == "20 of 20 queries have ended: 20 ok"


@ensureDeferred
async def test_without_a_terminal_it_is_a_line_of_the_log(job, caplog):
    """The log has the counts at intervals."""
    caplog.set_level(logging.INFO)
    await job(*[f"q{number}" for number in range(100)], LOGSTATS_INTERVAL=0.01)
    assert any(message.endswith(" failed") for message in messages(caplog)[:-1])


@contextmanager
def terminal():
    """A terminal as standard error, with Scrapy's log; a fixture cannot do it: pytest resets standard error."""
    level = logging.root.level
    with redirect_stderr(Terminal()) as terminal:
        install_scrapy_root_handler(scrapy_settings())
        try:
            yield terminal
        finally:
            _uninstall_scrapy_root_handler()
            logging.root.setLevel(level)


@ensureDeferred
async def test_on_a_terminal_it_is_one_line(job):
    """The bar has the numbers, log lines are whole above it, and the log has the terminal again afterwards."""
    with terminal() as screen:
        await job("coffee", "tea", "bug")
        assert get_scrapy_root_handler().stream is screen
    text = screen.getvalue()
    assert "3/3" in text
    assert "2 ok, 1 failed" in text
    assert re.search(r"\r\d{4}-[^\r\n]* ERROR: Line 3 of the batch", text)


@ensureDeferred
async def test_a_lost_query_is_logged_as_an_error(job, caplog):
    """A query that ends with neither a record nor a failure is a fault of ours."""

    class LosingSpider(job.spider):
        async def answered(self, response, query, row):
            for nothing in ():
                yield nothing

    await job("coffee", spider=LosingSpider)
    assert "1 queries have neither a record nor a failure: a fault in webdata" in caplog.text
