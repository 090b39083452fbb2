"""Warm crawlers, against the sandbox over real sockets."""

import asyncio
from functools import wraps

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawl import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.errors import BlockedError, LayoutError, OverloadedError, UpstreamError, UpstreamTimeoutError
from webdata.outcome import Outcome
from webdata.query import WebQuery
from webdata.resources.web_search import WEB_SEARCH
from webdata.sandbox.server import Sandbox

MAX_CALLS = 4


def as_task(test):
    """Run an async test as an asyncio task, in which asyncio's own things can be awaited."""

    @wraps(test)
    def run(*args, **kwargs):
        return deferred_from_coro(test(*args, **kwargs))

    return run


@pytest_twisted.async_yield_fixture
async def crawlers():
    """Warm crawlers over a sandbox of their own."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await sandbox.start())
    warm = WarmCrawlers(load_spiders(settings), settings, MAX_CALLS)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def call(q, deadline=20.0, **fields):
    return Call(WEB_SEARCH, WebQuery(q=q, **fields), sandbox=True, deadline=deadline)


@as_task
async def test_a_call_is_answered_with_a_record(crawlers):
    """A call gives the whole record, its outcome, its transport and how long each phase took."""
    answer = await crawlers.answer(call("coffee", num=3, region="DE"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "coffee"
    assert answer.record["device_region"] == "DE"
    assert len(answer.record["results"]) == 3
    assert answer.record["ts"] > 0
    assert answer.transport == "http"
    assert set(answer.timings) == {"queue", "fetch", "parse", "validate"}


@as_task
async def test_what_is_not_there_is_empty(crawlers):
    """Past the last page the record is empty, and says so."""
    answer = await crawlers.answer(call("coffee", start=1000))
    assert answer.outcome is Outcome.EMPTY
    assert answer.record["results"] == []


@pytest.mark.parametrize(
    ("q", "error", "kind"),
    [
        ("sandbox:captcha", BlockedError, "captcha"),
        ("sandbox:enablejs", BlockedError, "javascript"),
        ("sandbox:consent", BlockedError, "consent"),
        ("sandbox:layout", LayoutError, None),
        ("sandbox:reset", UpstreamError, "reset"),
        ("sandbox:truncated", UpstreamError, "truncated"),
        ("sandbox:error", UpstreamError, "http_500"),
    ],
)
@as_task
async def test_a_page_that_is_not_won_is_told_by_its_outcome(crawlers, q, error, kind):
    """Every way not to get a page ends in its own error, never in an empty record."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(q))
    assert caught.value.kind == kind


@as_task
async def test_a_slow_call_is_answered_at_its_deadline(crawlers):
    """The caller hears at the deadline that there is no answer, and the crawl ends by itself."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with pytest.raises(UpstreamTimeoutError):
        await crawlers.answer(call("sandbox:slow=30", deadline=0.5))
    assert loop.time() - begun < 1.5
    await asyncio.sleep(0.7)
    assert crawlers.in_flight == 0


@as_task
async def test_there_is_room_for_so_many_calls(crawlers):
    """One call more than there is room for is turned away at once; when one ends there is room again."""
    slow = [asyncio.ensure_future(crawlers.answer(call("sandbox:slow=1"))) for _ in range(MAX_CALLS)]
    await asyncio.sleep(0.1)
    with pytest.raises(OverloadedError) as caught:
        await crawlers.answer(call("coffee"))
    assert caught.value.retry_after >= 1
    await asyncio.gather(*slow)
    assert (await crawlers.answer(call("coffee"))).outcome is Outcome.OK


@as_task
async def test_calls_at_once_do_not_mix(crawlers):
    """Calls that run at the same time each get the answer to their own query."""
    queries = [f"query {number}" for number in range(MAX_CALLS)]
    answers = await asyncio.gather(*(crawlers.answer(call(q)) for q in queries))
    assert [answer.record["query"] for answer in answers] == queries
    assert len({answer.record["results"][0]["link"] for answer in answers}) == MAX_CALLS


@as_task
async def test_the_crawler_stays_warm(crawlers):
    """A second call opens nothing: it waits less in the queue than the first."""
    first = await crawlers.answer(call("coffee"))
    second = await crawlers.answer(call("tea"))
    assert second.timings["queue"] < first.timings["queue"]


@as_task
async def test_closing_lets_calls_finish(crawlers):
    """A call in flight is answered although the crawlers are being closed."""
    slow = asyncio.ensure_future(crawlers.answer(call("sandbox:slow=0.5")))
    await asyncio.sleep(0.1)
    await crawlers.close(10)
    assert (await slow).outcome is Outcome.OK
