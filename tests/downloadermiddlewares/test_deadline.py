"""No fetch outlives the query it is for."""

from time import monotonic

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.deadline import DeadlineMiddleware


@pytest.fixture
def middleware():
    return DeadlineMiddleware.from_crawler(get_crawler(settings_dict={"DEADLINE": 10}))


@ensureDeferred
async def test_the_first_fetch_has_the_whole_time(middleware):
    """A query's first fetch sets the clock and gets all of the deadline."""
    request = Request("https://example.com")
    await middleware.process_request(request)
    assert request.meta["download_timeout"] == 10
    assert request.meta["started_at"] <= monotonic()


@ensureDeferred
async def test_a_later_fetch_has_what_is_left(middleware):
    """A fetch that follows gets the time that the ones before it left."""
    request = Request("https://example.com", meta={"started_at": monotonic() - 7})
    await middleware.process_request(request)
    assert 2 < request.meta["download_timeout"] <= 3


@ensureDeferred
async def test_a_calls_own_deadline_wins(middleware):
    """A call may bring a deadline of its own."""
    request = Request("https://example.com", meta={"deadline": 4})
    await middleware.process_request(request)
    assert request.meta["download_timeout"] == 4


@ensureDeferred
async def test_without_time_nothing_is_fetched(middleware):
    """When the time is over the fetch fails at once, as a timeout."""
    with pytest.raises(DownloadTimeoutError):
        await middleware.process_request(Request("https://example.com", meta={"started_at": monotonic() - 11}))
