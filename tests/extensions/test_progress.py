"""How far a batch has come."""

import io
import logging
import re
from contextlib import contextmanager, redirect_stderr

import pytest
from pytest_twisted import ensureDeferred
from scrapy.exceptions import NotConfigured
from scrapy.utils.log import _uninstall_scrapy_root_handler, get_scrapy_root_handler, install_scrapy_root_handler
from scrapy.utils.test import get_crawler

from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.extensions.progress import Progress


class Terminal(io.StringIO):
    """A terminal that can be read."""

    def isatty(self):
        return True


def messages(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "webdata.extensions.progress"]


def test_it_is_off_where_no_batch_runs():
    """Crawlers on demand have no progress."""
    with pytest.raises(NotConfigured):
        Progress.from_crawler(get_crawler())


@ensureDeferred
async def test_the_summary_counts_outcomes(job, caplog):
    """The last line says how many queries ended how, and where the failures are."""
    caplog.set_level(logging.INFO)
    await job("coffee", "tea", "none", "layout")
    assert messages(caplog) == [
        "4 of 4 queries have ended: 2 ok, 1 empty, 1 layout; failures are in out.failures.jsonl"
    ]


@ensureDeferred
async def test_the_summary_of_success_names_no_failures(job, caplog):
    """Without a failure there is no file to look into."""
    caplog.set_level(logging.INFO)
    await job("coffee")
    assert messages(caplog) == ["1 of 1 queries have ended: 1 ok"]


@ensureDeferred
async def test_earlier_runs_of_a_job_are_counted(job, caplog):
    """A job that goes on counts what it has done before."""
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
    """Now and then the log says how far the batch is."""
    caplog.set_level(logging.INFO)
    await job(*[f"q{number}" for number in range(100)], LOGSTATS_INTERVAL=0.01)
    assert any(message.endswith(" failed") for message in messages(caplog)[:-1])


@contextmanager
def terminal():
    """A terminal as standard error, with Scrapy's log on it; pytest takes standard error back before each phase."""
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
    """A terminal shows a bar with the numbers, the log is whole above it, and gets the terminal back."""
    with terminal() as screen:
        await job("coffee", "tea", "bug")
        assert get_scrapy_root_handler().stream is screen
    shown = screen.getvalue()
    assert "3/3" in shown
    assert "2 ok, 1 failed" in shown
    assert re.search(r"\r\d{4}-[^\r\n]* ERROR: Line 3 of the batch", shown)


@ensureDeferred
async def test_a_query_that_vanishes_is_told(job, caplog):
    """A fault of ours that loses a query is an error of the log, not silence."""

    class LosingSpider(job.spider):
        async def answered(self, response, query, row):
            for nothing in ():
                yield nothing

    await job("coffee", spider=LosingSpider)
    assert "1 queries have neither a record nor a failure: a fault in webdata" in caplog.text
