"""Requests for OpenAlex's works, and the record made of several pages."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Headers, Response
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.test import get_crawler

from webdata.crawling.engine import unknown_layout
from webdata.domain.errors import BlockedError, FetchError, UpstreamError
from webdata.resources.scholar_search import ScholarQuery
from webdata.runtime.wire.exchange import SandboxRequest
from webdata.sandbox.sites import openalex_works as site
from webdata.spiders.openalex_works import MAX_PAGE_SIZE, OpenalexWorksSpider, covering, joined

KEY = "secret-of-ours"


def parameters(url):
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}


class Offline(OpenalexWorksSpider):
    """The engine over the sandbox's site, without a network; `broken` are failing replies by page number."""

    def fetched(self, request):
        self.urls.append(request.url)
        parts = urlsplit(request.url)
        reply = site.answer(SandboxRequest("GET", "https", parts.hostname, f"{parts.path}?{parts.query}", {}))
        status, body = self.broken.get(int(parameters(request.url)["page"]), (reply.status, reply.body))
        return Response(request.url, status=status, headers=Headers(dict(reply.headers)), body=body, request=request)


class Engine:
    """The download interface of Scrapy's engine."""

    def __init__(self, spider):
        self.spider = spider

    async def download_async(self, request):
        return self.spider.fetched(request)


@pytest.fixture
def spider(request):
    """The engine with a key; or with the key of the parameter."""
    settings = {"ON_DEMAND": True, "SAMPLES": "", "OPENALEX_KEY": getattr(request, "param", KEY)}
    made = Offline.from_crawler(get_crawler(Offline, settings))
    made.crawler.engine = Engine(made)
    made.urls, made.broken = [], {}
    return made


async def result_of(spider, q="mills", **fields):
    query = ScholarQuery(q=q, **fields)
    first = spider.prepared(query)
    return await spider.parsed(await spider.download(first), query)


def number(article):
    return int(article["id"][-3:])


def test_a_query_of_terms_alone_requests_ten_works():
    """A query of terms alone requests the first ten works; without a key none is sent."""
    url = OpenalexWorksSpider().request(ScholarQuery(q="mills & tides")).url
    assert parameters(url).items() >= {"search": "mills & tides", "per_page": "10", "page": "1"}.items()
    assert "api_key" not in parameters(url)


@pytest.mark.parametrize(
    ("start", "num", "size", "pages"),
    [(0, 10, 10, [1]), (10, 10, 10, [2]), (15, 10, 13, [2]), (0, 200, 100, [1, 2]), (9990, 10, 10, [1000])],
)
def test_the_fewest_and_shortest_pages_are_requested(start, num, size, pages):
    """A range of works is covered by the fewest pages, and those by the shortest."""
    assert covering(start, num) == (size, range(pages[0], pages[-1] + 1))


@pytest.mark.parametrize("start", [*range(0, 120, 7), 9_799, 9_800])
@pytest.mark.parametrize("num", [1, 10, 99, 101, 200])
def test_pages_cover_the_requested_works(start, num):
    """Every requested work is on one of the pages, none of which is too long or past the last work."""
    size, numbers = covering(start, num)
    assert 1 <= size <= MAX_PAGE_SIZE
    assert (numbers[0] - 1) * size <= start
    assert start + num <= numbers[-1] * size <= 10_000


@pytest.mark.parametrize("spider", ["", KEY], ids=["without a key", "with a key"], indirect=True)
@pytest.mark.parametrize(("num", "start", "calls"), [(10, 0, 1), (10, 15, 1), (100, 0, 1), (200, 0, 2), (200, 100, 2)])
@deferred_f_from_coro_f
async def test_pages_are_joined(spider, num, start, calls):
    """The requested works are joined in order from the fewest requests."""
    page = (await result_of(spider, num=num, start=start)).page
    assert [number(article) for article in page["articles"]] == list(range(start + 1, start + num + 1))
    assert len(spider.urls) == calls
    assert {parameters(url).get("api_key") for url in spider.urls} == {spider.key}


@deferred_f_from_coro_f
async def test_works_end_at_the_total(spider):
    """Past the last work the record is empty, and so is the outcome."""
    assert len((await result_of(spider, num=200, start=300)).page["articles"]) == 47
    result = await result_of(spider, start=5000)
    assert (result.outcome, result.page["total"]) == ("empty", 347)


@deferred_f_from_coro_f
async def test_a_further_page_that_fails_is_an_error(spider):
    """A failed second page is an error, never a record without its works."""
    spider.broken[2] = (500, b"")
    with pytest.raises(UpstreamError):
        await result_of(spider, num=200)


@deferred_f_from_coro_f
async def test_a_key_stays_out_of_logs(spider):
    """The `repr` of a request has no key."""
    request = spider.prepared(ScholarQuery(q="mills"))
    assert KEY not in repr(request)
    assert KEY not in str(request.replace(dont_filter=False))
    assert "search=mills" in repr(request)


@deferred_f_from_coro_f
async def test_a_reported_page_names_no_key(spider):
    """A page of unknown layout is reported without the key in its URL."""
    urls = []

    def report(response):
        urls.append(response.url)

    spider.crawler.signals.connect(report, unknown_layout)
    with pytest.raises(FetchError):
        await result_of(spider, "mills sandbox:layout")
    assert ["search=mills" in url and KEY not in url for url in urls] == [True]


@pytest.mark.parametrize(
    ("word", "kind", "seconds"),
    [("budget", "budget", 2), ("paused", "budget", 2), ("key", "login", 60), ("error", "http_500", 0)],
)
@deferred_f_from_coro_f
async def test_a_refusal_has_its_seconds_to_wait(spider, word, kind, seconds):
    """A refusal's error carries the seconds until the next request."""
    with pytest.raises(FetchError) as caught:
        await result_of(spider, f"mills sandbox:{word}")
    assert (caught.value.kind, caught.value.retry_after) == (kind, seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 60),
        ({"Retry-After": "5"}, 5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60),
        ({"Retry-After": "5", "X-RateLimit-Reset": "900.5"}, 900.5),
        ({"X-RateLimit-Reset": "1760000000"}, 60),
        ({"X-RateLimit-Reset": "176000000"}, 86_400),
    ],
)
def test_the_wait_is_read_from_headers(headers, seconds):
    """A number of seconds is used, up to a day; a date or a time of day is ignored."""
    response = Response("https://api.openalex.org/works", status=429, headers=headers, body=b'{"error": "rate limit"}')
    with pytest.raises(BlockedError) as caught:
        OpenalexWorksSpider().check(response)
    assert caught.value.retry_after == seconds


def test_a_work_about_captchas_is_no_block():
    """A captcha's markup inside JSON is not recognised as a captcha."""
    body = b'{"results": [{"display_name": "unusual traffic <form id=captcha-form> www.google.com/sorry/"}]}'
    headers = {"Content-Type": "application/json"}
    OpenalexWorksSpider().check(Response("https://api.openalex.org/works", headers=headers, body=body))


def test_overlapping_pages_are_joined_without_duplicates():
    """Each work appears once; no works where the total names some are an error."""
    works = [{"id": str(index)} for index in range(100)]
    page = joined(
        [{"articles": works, "total": 150}, {"articles": works[90:], "total": 150}], ScholarQuery(q="x", num=200)
    )
    assert page["articles"] == works
    with pytest.raises(UpstreamError):
        joined([{"articles": works[:5], "total": 150}], ScholarQuery(q="x", num=7, start=5))
