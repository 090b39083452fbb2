"""From opaque ids to addresses, with pages that come from a function."""

import asyncio
from collections import Counter
from time import monotonic
from urllib.parse import urlsplit

import pytest
from pytest_twisted import ensureDeferred
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from webdata.domain.errors import BlockedError, UpstreamError
from webdata.sandbox.exchange import SandboxRequest
from webdata.sandbox.sites import _news_ids, google_news
from webdata.spiders import _news_links
from webdata.spiders._news_links import AT_ONCE, MOST_FAILURES, Resolution

IDS = {
    _news_ids.opaque_id(f"https://clay.example/{number}", ""): f"https://clay.example/{number}" for number in range(60)
}
EMPTY = b"<html></html>"


class Aggregator:
    """Answers as the sandbox does, after `seconds`, and counts; `broken` may answer or raise instead."""

    def __init__(self, broken=None, seconds=0.0):
        self.broken = broken
        self.seconds = seconds
        self.asked = Counter()
        self.now = 0
        self.most = 0

    async def fetch(self, request):
        path = urlsplit(request.url).path
        self.asked["call" if request.method == "POST" else path.rpartition("/")[0]] += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        body = self.broken(request) if self.broken else None
        return Response(request.url, body=self.answer(request) if body is None else body, request=request)

    @staticmethod
    def answer(request):
        path = urlsplit(request.url).path
        return google_news.answer(
            SandboxRequest(request.method, "https", "news.google.com", path, {}, request.body)
        ).body


async def resolved(aggregator, ids=tuple(IDS), seconds=20.0):
    resolution = Resolution(aggregator.fetch, {"hl": "en-US"}, monotonic() + seconds)
    return await deferred_from_coro(resolution.addresses(ids))


def of_articles(error):
    """Raise the error for every article's page."""

    def broken(request):
        if request.method == "GET":
            raise error

    return broken


@ensureDeferred
async def test_every_id_is_resolved_with_one_call():
    """Each id costs one page, all together one call, and at most a few pages are under way at once."""
    aggregator = Aggregator(seconds=0.001)
    assert await resolved(aggregator) == IDS
    assert aggregator.asked == {"/articles": len(IDS), "call": 1}
    assert aggregator.most == AT_ONCE


@ensureDeferred
async def test_a_page_that_does_not_tell_is_asked_for_at_its_other_address():
    """Where the first form of an article's page has no signature, the second is read."""
    aggregator = Aggregator(lambda request: EMPTY if "/rss/" not in request.url and request.method == "GET" else None)
    assert await resolved(aggregator) == IDS
    assert aggregator.asked == {"/articles": len(IDS), "/rss/articles": len(IDS), "call": 1}


@ensureDeferred
async def test_an_address_that_a_page_shows_needs_no_call():
    """A page of the old kind tells the address itself."""
    aggregator = Aggregator(lambda _: b'<c-wiz data-n-au="https://clay.example/a"></c-wiz>')
    assert await resolved(aggregator, ["CBMiabcdef"]) == {"CBMiabcdef": "https://clay.example/a"}
    assert aggregator.asked == {"/articles": 1}


@ensureDeferred
async def test_what_one_page_lacks_costs_only_that_page():
    """An id that cannot be resolved leaves the others alone."""
    wrong = list(IDS)[::10]
    aggregator = Aggregator(lambda request: EMPTY if any(one in request.url for one in wrong) else None)
    assert await resolved(aggregator) == {one: IDS[one] for one in IDS if one not in wrong}


@pytest.mark.parametrize("error", [BlockedError("429", "denied"), UpstreamError("refused", "refused")])
@ensureDeferred
async def test_an_aggregator_that_refuses_is_not_pressed(error):
    """After a block, or some failures in a row, no further page is asked for, and there is no call."""
    aggregator = Aggregator(of_articles(error), seconds=0.001)
    assert await resolved(aggregator) == {}
    assert aggregator.asked.total() <= AT_ONCE + MOST_FAILURES


@pytest.mark.parametrize("body", [EMPTY, b")]}'\n\n[]", UpstreamError("500", "http_500")])
@ensureDeferred
async def test_a_call_that_fails_leaves_the_ids_unknown(body):
    """Without an answer to the call nothing is found, and nothing is raised."""

    def broken(request):
        if request.method == "POST" and isinstance(body, Exception):
            raise body
        return body if request.method == "POST" else None

    assert await resolved(Aggregator(broken)) == {}


@ensureDeferred
async def test_what_was_learned_in_time_is_given_in_time():
    """With a slow aggregator the call is made while there is time, for the pages that came."""
    begun = monotonic()
    found = await resolved(Aggregator(seconds=0.3), seconds=0.9)
    assert monotonic() - begun < 0.9
    assert len(found) == AT_ONCE
    assert found.items() <= IDS.items()


@ensureDeferred
async def test_pages_that_do_not_come_are_not_waited_for():
    """When the time is over the answer is what is known, although fetches are still under way."""
    begun, aggregator = monotonic(), Aggregator(seconds=0.6)
    assert await resolved(aggregator, seconds=0.2) == {}
    assert monotonic() - begun < 0.3
    await deferred_from_coro(asyncio.sleep(0.7))
    assert (aggregator.now, aggregator.asked.total()) == (0, AT_ONCE)


@ensureDeferred
async def test_a_page_that_hangs_does_not_hold_up_the_others(monkeypatch):
    """One page that does not come costs its own id, and not the time that there is."""
    monkeypatch.setattr(_news_links, "PAGE_SECONDS", 0.2)
    hanging, *others = IDS
    begun, aggregator = monotonic(), Aggregator()
    usual = aggregator.fetch

    async def fetch(request):
        if hanging in request.url:
            await asyncio.sleep(0.4)
            raise UpstreamError("reset", "reset")
        return await usual(request)

    aggregator.fetch = fetch
    assert await resolved(aggregator) == {one: IDS[one] for one in others}
    assert monotonic() - begun < 1
    await deferred_from_coro(asyncio.sleep(0.5))


@ensureDeferred
async def test_without_time_nothing_is_asked():
    """A query that is late already asks for no page."""
    aggregator = Aggregator()
    assert await resolved(aggregator, seconds=-1) == {}
    assert not aggregator.asked
