"""The resolution of opaque ids to addresses, with a fake aggregator."""

import asyncio
from collections import Counter
from time import monotonic
from urllib.parse import urlsplit

import pytest
from pytest_twisted import ensureDeferred
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from webdata.domain.errors import BlockedError, UpstreamError
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import _news_ids, google_news
from webdata.spiders import _news_links
from webdata.spiders._news_links import AT_ONCE, MOST_FAILURES, Resolution

IDS = {
    _news_ids.opaque_id(f"https://clay.example/{number}", ""): f"https://clay.example/{number}" for number in range(60)
}
EMPTY = b"<html></html>"


class Aggregator:
    """Returns the answers of the sandbox after `seconds`, and counts requests; `broken` may return a body or raise."""

    def __init__(self, broken=None, seconds=0.0):
        self.broken = broken
        self.seconds = seconds
        self.requests = Counter()
        self.active = 0
        self.most_active = 0

    async def fetch(self, request):
        path = urlsplit(request.url).path
        self.requests["call" if request.method == "POST" else path.rpartition("/")[0]] += 1
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        await asyncio.sleep(self.seconds)
        self.active -= 1
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
    """A function that raises the error for every article page."""

    def broken(request):
        if request.method == "GET":
            raise error

    return broken


@ensureDeferred
async def test_every_id_is_resolved_with_one_call():
    """There is one page for each id, one call for all, and a limited number of concurrent pages."""
    aggregator = Aggregator(seconds=0.001)
    assert await resolved(aggregator) == IDS
    assert aggregator.requests == {"/articles": len(IDS), "call": 1}
    assert aggregator.most_active == AT_ONCE


@ensureDeferred
async def test_a_page_without_a_signature_is_fetched_at_its_other_address():
    """The second form of the page has the signature."""
    aggregator = Aggregator(lambda request: EMPTY if "/rss/" not in request.url and request.method == "GET" else None)
    assert await resolved(aggregator) == IDS
    assert aggregator.requests == {"/articles": len(IDS), "/rss/articles": len(IDS), "call": 1}


@ensureDeferred
async def test_an_address_on_a_page_requires_no_call():
    """An older page contains the address."""
    aggregator = Aggregator(lambda _: b'<c-wiz data-n-au="https://clay.example/a"></c-wiz>')
    assert await resolved(aggregator, ["CBMiabcdef"]) == {"CBMiabcdef": "https://clay.example/a"}
    assert aggregator.requests == {"/articles": 1}


@ensureDeferred
async def test_an_unresolved_id_does_not_affect_the_others():
    """An id whose page has no signature is left out."""
    wrong = list(IDS)[::10]
    aggregator = Aggregator(lambda request: EMPTY if any(one in request.url for one in wrong) else None)
    assert await resolved(aggregator) == {one: IDS[one] for one in IDS if one not in wrong}


@pytest.mark.parametrize("error", [BlockedError("429", "denied"), UpstreamError("refused", "refused")])
@ensureDeferred
async def test_no_page_is_fetched_after_a_block_or_consecutive_failures(error):
    """There is no call either."""
    aggregator = Aggregator(of_articles(error), seconds=0.001)
    assert await resolved(aggregator) == {}
    assert aggregator.requests.total() <= AT_ONCE + MOST_FAILURES


@pytest.mark.parametrize("body", [EMPTY, b")]}'\n\n[]", UpstreamError("500", "http_500")])
@ensureDeferred
async def test_a_failed_call_resolves_no_ids(body):
    """No error is raised."""

    def broken(request):
        if request.method == "POST" and isinstance(body, Exception):
            raise body
        return body if request.method == "POST" else None

    assert await resolved(Aggregator(broken)) == {}


@pytest.mark.timed
@ensureDeferred
async def test_addresses_are_returned_in_time():
    """With a slow aggregator the call is made in time for the pages fetched so far."""
    begun = monotonic()
    found = await resolved(Aggregator(seconds=0.3), seconds=0.9)
    assert monotonic() - begun < 0.9
    assert len(found) == AT_ONCE
    assert found.items() <= IDS.items()


@pytest.mark.timed
@ensureDeferred
async def test_slow_pages_do_not_delay_the_result():
    """At the end of the time the result is returned, although fetches are in progress."""
    begun, aggregator = monotonic(), Aggregator(seconds=0.6)
    assert await resolved(aggregator, seconds=0.2) == {}
    assert monotonic() - begun < 0.3
    await deferred_from_coro(asyncio.sleep(0.7))
    assert (aggregator.active, aggregator.requests.total()) == (0, AT_ONCE)


@pytest.mark.timed
@ensureDeferred
async def test_a_page_that_hangs_does_not_delay_the_others(monkeypatch):
    """A page has a time limit of its own."""
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
async def test_without_time_nothing_is_fetched():
    """A query after its deadline fetches no page."""
    aggregator = Aggregator()
    assert await resolved(aggregator, seconds=-1) == {}
    assert not aggregator.requests
