"""The base class of all engines."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, UnsupportedURLSchemeError
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.test import get_crawler
from twisted.internet.error import ConnectionLost

from webdata.crawling.engine import EngineSpider, fetch_error, utf8
from webdata.crawling.jobs.files import Row
from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.domain.errors import (
    BlockedError,
    ConfigError,
    LayoutError,
    NotFoundError,
    TargetError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.fetching.fetch import Fetch, SessionJar
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.spiders.google_web import GoogleWebSpider

URL = "https://www.google.com/search?q=coffee"


def response(body=b"<html></html>", status=200, **headers):
    return HtmlResponse(URL, status=status, body=body, headers=headers, request=Request(URL))


def spider(settings=None, **arguments):
    return GoogleWebSpider.from_crawler(get_crawler(GoogleWebSpider, settings), **arguments)


def test_a_run_without_arguments_is_a_mistake():
    """A batch without queries is a ConfigError."""
    with pytest.raises(ConfigError, match="no query was given"):
        spider()


def test_a_spider_on_demand_has_no_batch():
    """A spider on demand has no batch."""
    assert spider({"ON_DEMAND": True}).batch is None


class TwoResources(EngineSpider):
    """An engine of two resources."""

    name = "two_resources"
    resources = (WEB_SEARCH, MAPS_SEARCH)


def test_an_engine_of_several_resources_needs_the_name_of_one():
    """The argument `resource` selects the resource; the others are fields of its query."""
    running = TwoResources.from_crawler(get_crawler(TwoResources), resource="maps_search", q="coffee")
    assert running.batch.resource is MAPS_SEARCH
    assert running.resource_of(running.batch.query(Row(1, {}))) is MAPS_SEARCH
    assert running.resource_of(WebQuery(q="coffee")) is WEB_SEARCH


@pytest.mark.parametrize(
    ("arguments", "wrong"), [({}, "no resource was given"), ({"resource": "maps"}, "there is no resource maps")]
)
def test_a_resource_that_an_engine_does_not_have_is_a_mistake(arguments, wrong):
    """The message lists the engine's resources."""
    with pytest.raises(ConfigError, match=f"{wrong}: give -a resource=… with one of web_search, maps_search"):
        TwoResources.from_crawler(get_crawler(TwoResources), q="coffee", **arguments)


def test_arguments_do_not_become_attributes():
    """An argument with the name of a spider's method, such as start, is a field of the query."""
    running = spider(q="coffee", start="10")
    assert callable(running.start)
    assert running.batch.query(next(running.batch.rows())).start == 10


def test_a_row_becomes_a_request():
    """The request of a row has the query and the row, and is not filtered as a duplicate."""
    running = spider(q="coffee", region="DE")
    (row,) = running.batch.rows()
    request = running.request_of(row)
    assert request.cb_kwargs == {"query": WebQuery(q="coffee", region="DE"), "row": row}
    assert request.dont_filter
    assert request.meta["cookiejar"] == SessionJar("", "DE/None/")


def test_a_row_for_another_engine_is_invalid():
    """A crawl runs one engine: a row that names others is a failure, and none that names this one alone is."""
    running = spider(q="coffee", engines="google_web, bing_web")
    (row,) = running.batch.rows()
    failure = running.request_of(row)
    assert (failure.outcome, failure.reason) == (
        "invalid",
        f"engines names others than {running.name}, which alone runs here: leave it out",
    )
    alone = spider(q="coffee", engines=running.name)
    assert isinstance(alone.request_of(next(alone.batch.rows())), Request)


def test_arguments_of_tools_are_no_fields():
    """Names that begin with `_`, as the `_job` of scrapyd, are of the tool that runs the spider."""
    running = spider(q="coffee", _job="1f2e", _version="1")
    assert running.batch.defaults == {"q": "coffee"}


def test_a_batch_has_its_own_settings():
    """BATCH_SETTINGS apply to batches only, and the command line overrides them."""
    settings = {"CONCURRENT_REQUESTS": 64, "BATCH_SETTINGS": {"CONCURRENT_REQUESTS": 16}}
    assert get_crawler(GoogleWebSpider, settings).settings.getint("CONCURRENT_REQUESTS") == 16
    on_demand = get_crawler(GoogleWebSpider, {**settings, "ON_DEMAND": True})
    assert on_demand.settings.getint("CONCURRENT_REQUESTS") == 64
    own = Settings(settings)
    own.set("CONCURRENT_REQUESTS", 3, priority="cmdline")
    assert Crawler(GoogleWebSpider, own).settings.getint("CONCURRENT_REQUESTS") == 3


@pytest.mark.parametrize(
    ("answer", "error", "kind"),
    [
        (response(status=404), NotFoundError, None),
        (response(status=410), NotFoundError, None),
        (response(status=500), UpstreamError, "http_500"),
        (response(status=429, body=b'<form id="captcha-form">'), BlockedError, "captcha"),
        (response(body=b""), UpstreamError, "empty_body"),
    ],
)
def test_a_response_that_is_not_a_page_is_an_error(answer, error, kind):
    """Statuses and empty bodies are errors with their own outcomes."""
    with pytest.raises(error) as caught:
        spider({"ON_DEMAND": True}).check(answer)
    assert kind is None or caught.value.kind == kind


def test_a_proxys_failure_has_its_own_reason():
    """The error of a proxy has its reason."""
    found = fetch_error(TunnelError("the proxy wants another user or password (407)"))
    assert (found.kind, found.reason) == ("proxy", "the proxy wants another user or password (407)")


@pytest.mark.parametrize(
    ("error", "type_", "kind"),
    [
        (DownloadTimeoutError("30 s"), UpstreamTimeoutError, "timeout"),
        (ConnectionLost(), UpstreamError, "reset"),
        (UnsupportedURLSchemeError("nowhere"), UpstreamError, "failed"),
        (LayoutError("results"), LayoutError, None),
    ],
)
def test_a_failed_download_is_a_fetch_error(error, type_, kind):
    """Any exception of a download becomes a FetchError, without addresses."""
    found = fetch_error(error)
    assert type(found) is type_
    assert found.kind == kind
    assert found.outcome in Outcome


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("café".encode(), "text/html; charset=UTF-8"),
        ("café".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ('<meta charset="windows-1252">café'.encode("latin-1"), "text/html"),
        ("café".encode(), ""),
        ("À midi, un café très serré: café".encode("latin-1"), ""),
        ('<meta charset="utf-8">À midi, un café très serré: café'.encode("latin-1"), "text/html; charset=utf-8"),
    ],
)
def test_bodies_become_utf8(body, content_type):
    """A body is decoded by its declared encoding, in the header or in itself, or by what its bytes show."""
    assert utf8(Response(URL, body=body, headers={"Content-Type": content_type})).endswith("café".encode())


class TwoPagesSpider(EngineSpider):
    """Needs a second page, whose URL is `q`."""

    name = "two_pages"
    resources = (WEB_SEARCH,)

    def request(self, query):
        return Request("data:,first")

    async def parse(self, response, query):
        second = await self.fetch(Request(query.q), after=response)
        same = Fetch.of(second).run is Fetch.of(response).run
        yield {"results": [second.text], "same": [same, second.meta["cookiejar"] == response.meta["cookiejar"]]}


async def items_of(**arguments):
    settings = scrapy_settings()
    settings.setdict(
        {
            "ITEM_PIPELINES": {},
            "ADDONS": {"webdata.crawling.jobs.own_resources.OwnFetchResources": 500},
            "SANDBOX": False,
            "DOWNLOAD_HANDLERS": {"data": "scrapy.core.downloader.handlers.datauri.DataURIDownloadHandler"},
        },
        priority="cmdline",
    )
    crawler, items = Crawler(TwoPagesSpider, settings), []

    def item_scraped(item):
        items.append(item)

    crawler.signals.connect(item_scraped, signals.item_scraped)
    await deferred_from_coro(crawler.crawl_async(**arguments))
    return items


@ensureDeferred
async def test_a_second_page_shares_the_run_of_the_first():
    """A page that is fetched inside parse shares the region, the cookies and the clock of the first."""
    (found,) = await items_of(q="data:,second", region="DE")
    assert found.page == {"results": ["second"], "same": [True, True]}


@pytest.mark.parametrize(("address", "kind"), [("nowhere://here", "failed"), ("data:,", "empty_body")])
@ensureDeferred
async def test_a_second_page_that_fails_is_a_failure_of_the_query(address, kind):
    """A query whose second page is lost fails."""
    (failure,) = await items_of(q=address)
    assert (failure.outcome, failure.kind, failure.query) == ("upstream", kind, {"q": address})


def test_a_session_has_its_own_cookies():
    """All requests of a session share one cookie jar, and no others do."""
    running = spider({"ON_DEMAND": True})
    plain, one, other = (WebQuery(q="coffee", session=name) for name in (None, "one", "other"))
    jars = [running.prepared(query).meta["cookiejar"] for query in (plain, one, one, other)]
    assert jars[1] == jars[2]
    assert len(set(jars)) == 3
    assert Fetch.of(running.prepared(one)).run.session == "one"


@pytest.mark.parametrize(
    ("status", "value", "seconds"),
    [(429, "7", 7), (503, "120", 120), (429, "", 0), (503, "soon", 0), (429, "9" * 9, 0)],
)
def test_an_error_has_the_retry_after(status, value, seconds):
    """An error has the seconds of the response's Retry-After, or 0 where that is invalid."""
    with pytest.raises((BlockedError, UpstreamError)) as caught:
        spider({"ON_DEMAND": True}).check(response(status=status, **{"Retry-After": value}))
    assert caught.value.retry_after == seconds


def test_a_response_is_judged_once():
    """A response that the middleware has checked is not checked again."""
    refused = response(status=403)
    Fetch.of(refused).judged = True
    spider({"ON_DEMAND": True}).judge(refused)


def test_a_refused_target_is_the_fault_of_an_engines_site():
    """An engine's site that leads elsewhere, or whose address is not public, failed; the caller gave no target."""
    error = spider({"ON_DEMAND": True}).loss(TargetError("the target is not allowed"))
    assert (type(error), error.kind) == (UpstreamError, "off_site")
