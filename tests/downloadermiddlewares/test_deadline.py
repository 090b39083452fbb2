"""Each fetch is limited to the time of its query."""

from time import monotonic

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError

from webdata.downloadermiddlewares.deadline import DeadlineMiddleware
from webdata.fetching.fetch import FETCH, Fetch, QueryRun


async def processed(run):
    request = Request("https://example.com", meta={FETCH: Fetch(run)})
    await DeadlineMiddleware(30).process_request(request)
    return request


@pytest.mark.timed
@ensureDeferred
async def test_the_first_fetch_has_the_whole_time():
    """A query's first fetch starts its clock and has all of the deadline."""
    run = QueryRun(deadline=10)
    assert (await processed(run)).meta["download_timeout"] == pytest.approx(10, abs=0.1)
    assert run.started_at <= monotonic()


@pytest.mark.timed
@ensureDeferred
async def test_a_later_fetch_has_the_time_that_is_left():
    """A later fetch has the time that is left by those before it."""
    request = await processed(QueryRun(deadline=10, started_at=monotonic() - 7))
    assert 2 < request.meta["download_timeout"] <= 3


@ensureDeferred
async def test_a_request_without_a_query_has_the_deadline_of_the_settings():
    """A request of `scrapy shell` has a time-out, too."""
    assert (await processed(QueryRun())).meta["download_timeout"] == pytest.approx(30, abs=0.1)


@pytest.mark.timed
@ensureDeferred
async def test_without_time_nothing_is_fetched():
    """Without time left the fetch fails at once, as a time-out."""
    with pytest.raises(DownloadTimeoutError):
        await processed(QueryRun(deadline=10, started_at=monotonic() - 11))
