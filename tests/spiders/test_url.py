"""Requests for any URL, and the check of their responses."""

import asyncio
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.test import get_crawler

from tests.composed_pdf import PLAIN, text, with_pages
from webdata.crawling.jobs.files import Row
from webdata.domain.errors import (
    BlockedError,
    NotFoundError,
    QueryError,
    TargetError,
    UnsupportedContentError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transport_policy import TransportPolicy
from webdata.resources.url_request import UrlQuery
from webdata.spiders.url import MIDDLEWARES, UrlSpider

CLOSED = b"<h1>Closed</h1><p>This garden is for those who have a key to its gate.</p>"
URL = "https://example.com/page"
SETTINGS = {
    "ON_DEMAND": True,
    "DEADLINE": 25,
    "EGRESS_GUARD": True,
    "EGRESS_PORTS": (80, 443),
    "EGRESS_ALLOW": (),
    "URL_MAX_BYTES": 3 * 1024 * 1024,
    "DOWNLOADER_MIDDLEWARES": {},
}


SHELL = b'<title>Shop</title><div id="root"></div><script src="/app.js"></script>'


def running(**arguments):
    settings = SETTINGS | ({"ON_DEMAND": False} if arguments else {})
    return UrlSpider.from_crawler(get_crawler(UrlSpider, settings), **arguments)


def query(url, response_type="full", **more):
    return UrlQuery.check({"url": url, "response_type": response_type, **more})


def response(body=b"<p>hello</p>", status=200, url=URL, flags=(), meta=None, **headers):
    return Response(url, status, headers, body, list(flags), Request(URL, meta=meta))


def found(answer, response_type="full", **more):
    """The record that an offline spider reads from a response."""

    async def first():
        return await anext(UrlSpider().parse(answer, query(URL, response_type, **more)))

    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(asyncio.run, first()).result()


def test_a_request_has_the_normalised_url():
    """The request has the URL as the guard has parsed it, without a fragment."""
    assert running().request(query("https://EXAMPLE.com/a b#c")).url == "https://example.com/a%20b"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://2130706433/", "http://[::1]/", "http://localhost/", "http://example.com:22/",
     "http://user:word@example.com/", "file:///etc/passwd", "gopher://example.com/", "ftp://example.com/"],
)  # fmt: skip
def test_a_forbidden_target_is_refused(url):
    """A target that can be refused without a look-up is refused at once."""
    with pytest.raises(TargetError):
        running().request(query(url))


def test_batches_have_the_middlewares_of_calls():
    """`scrapy crawl` keeps what a spider has set, and follows redirects as a call does."""
    settings = running().crawler.settings
    assert settings.getpriority("DOWNLOADER_MIDDLEWARES") == SETTINGS_PRIORITIES["spider"]
    assert settings.getdict("DOWNLOADER_MIDDLEWARES").items() >= MIDDLEWARES.items()


def prepared(**options):
    return Fetch.of(running().prepared(UrlQuery.check({"url": URL, "response_type": "markdown", **options})))


@pytest.mark.parametrize(
    ("render", "transports"), [("auto", ("http", "impersonate", "browser")), ("never", ("http", "impersonate"))]
)
def test_a_page_is_fetched_without_a_browser_where_the_query_says_so(render, transports):
    """Otherwise all transports are possible."""
    assert prepared(render=render).transports == transports


def test_a_page_that_is_not_rendered_is_returned_without_its_scripts():
    """No browser could show more of it, so that it is no block, but a part of the page."""
    answer = response(SHELL, meta={FETCH: prepared(render="never")})
    spider = running()
    spider.check(answer)
    assert spider.partial(answer) == "scripts"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"render": "always"}, "render cannot be 'always'"),
        ({"wait_for": 100}, "wait_for cannot be done"),
        ({"formats": ["screenshot"]}, "formats cannot be 'screenshot'"),
    ],
)
@pytest.mark.parametrize(("transports", "remote"), [(["http"], False), (["http", "browser"], True)])
def test_without_a_browser_a_page_as_it_shows_it_is_refused(transports, remote, options, words):
    """Also where the browser runs elsewhere, and is not held to the egress guard; the message says so by name."""
    spider = running()
    browser = SimpleNamespace(remote=remote)
    spider.crawler.fetch_resources = SimpleNamespace(browser=browser, transports=TransportPolicy(transports))
    with pytest.raises(QueryError, match=f"{words}, since this service has no browser"):
        spider.prepared(UrlQuery.check({"url": URL, "response_type": "markdown", **options}))


def test_a_query_has_no_more_time_than_it_asks_for():
    """Its own timeout is its deadline."""
    run = running().query_run(UrlQuery.check({"url": URL, "response_type": "full", "timeout": 3}))
    assert run.deadline == 3


def test_the_largest_page_has_a_size_of_its_own():
    """The engine's own setting for the largest page overrides the project's."""
    settings = get_crawler(UrlSpider, {**SETTINGS, "DOWNLOAD_MAXSIZE": 7}).settings
    assert settings.getint("DOWNLOAD_MAXSIZE") == 3 * 1024 * 1024


def test_queries_do_not_share_cookies():
    """Two calls for one site have different cookie jars."""
    one, other = (running().prepared(query(URL)).meta["cookiejar"] for _ in range(2))
    assert one is not other


@pytest.mark.parametrize(
    ("error", "kind", "outcome", "text"),
    [
        (CannotResolveHostError("x"), "dns", NotFoundError, "does not exist"),
        (IgnoreRequest("max redirections reached"), "redirects", UpstreamError, "more than 10 times"),
        (DownloadCancelledError("x"), "too_large", UpstreamError, "larger than the 3 MiB that are read"),
        (UpstreamError("x", "too_large"), "too_large", UpstreamError, "larger than the 3 MiB"),
        (UpstreamError("x", "reset"), "reset", UpstreamError, "x"),
        (UpstreamError("x", "dns_failed"), "dns_failed", UpstreamError, "x"),
        (UpstreamTimeoutError("x", "dns_timeout"), "dns_timeout", UpstreamTimeoutError, "x"),
    ],
)
def test_a_failed_download_has_a_reason(error, kind, outcome, text):
    """The error of a download has a reason; one that the caller can avoid names the limit."""
    lost = running().loss(error)
    assert (type(lost), lost.kind) == (outcome, kind)
    assert text in lost.reason


def test_a_refused_target_is_a_target_error():
    """A target that was refused during the download is a TargetError."""
    error = TargetError("no")
    assert running().loss(error) is error


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (response(status=404), NotFoundError),
        (response(status=410), NotFoundError),
        (response(status=403, body=b""), BlockedError),
        (response(b"<script>window._cf_chl_opt = {}</script>", status=503), BlockedError),
        (response(status=302, body=b"", Location="file:///etc/passwd"), TargetError),
        (response(body=b"", flags=["dataloss"]), UpstreamError),
        (response(url="https://consent.google.com/m", meta={"redirect_urls": [URL]}), BlockedError),
        (response(url="https://www.linkedin.com/login", meta={FETCH: Fetch(transport="browser")}), BlockedError),
        (response(b"<script>location = '/authwall'</script>", status=999), BlockedError),
    ],
    ids=[
        "404",
        "410",
        "bare 403",
        "challenge",
        "redirect to a file",
        "empty and truncated",
        "redirect to consent",
        "redirect to a login in the browser",
        "999 with a script only",
    ],
)
def test_blocks_and_missing_pages_are_errors(answer, error):
    """Missing pages, blocks and forbidden redirects are errors."""
    with pytest.raises(error):
        running().check(answer)


@pytest.mark.parametrize(
    "answer",
    [
        response(),
        *(response(CLOSED, status) for status in (201, 401, 403, 418, 429, 451, 500, 503)),
        response(body=b""),
        response(status=204, body=b""),
        response(status=302, body=b"no Location"),
        response(status=302, body=b"an empty Location", Location=""),
        response(status=301, body=b"a Location of blanks", Location="  "),
        response(flags=["dataloss"]),
        response(url="https://www.linkedin.com/login"),
        response(b"<h1>Odd</h1>", 999),
        response(SHELL, meta={FETCH: Fetch(as_sent=True)}),
        response(SHELL, meta={FETCH: Fetch(transport="browser")}),
    ],
    ids=lambda answer: f"{answer.status} {len(answer.body)} {answer.url[12:]}",
)
def test_any_other_page_is_an_answer(answer):
    """Any other page is an answer, whatever its status; so is a sign-in page that was requested."""
    running().check(answer)


def test_a_page_of_scripts_needs_the_browser():
    """As Markdown a page of scripts is a block that a browser may pass, and readable without one."""
    with pytest.raises(BlockedError) as caught:
        running().check(response(SHELL))
    assert (caught.value.kind, caught.value.readable) == ("javascript", True)
    assert running().partial(response(SHELL, meta={FETCH: Fetch(transport="browser")})) == "scripts"
    assert running().partial(response(meta={FETCH: Fetch(transport="browser")})) is None
    assert running().partial(response(SHELL)) is None


def test_a_page_whose_data_has_its_text_needs_no_browser():
    """It is no block, and not a part of a page: its Markdown is made of the data."""
    article = json.dumps({"@type": "Article", "articleBody": "The bees fly from one tree to the next. " * 20})
    answer = response(SHELL + f'<script type="application/ld+json">{article}</script>'.encode())
    spider = running()
    spider.check(answer)
    assert spider.partial(answer) is None


def test_a_full_answer_needs_the_received_bytes():
    """The browser returns the received bytes for a full answer, and the rendered page for Markdown."""
    for response_type in ("full", "markdown"):
        fetch = Fetch.of(running().prepared(query(URL, response_type)))
        assert fetch.as_sent is (response_type == "full")


def test_a_rate_limit_has_its_seconds():
    """The error of a rate limit has its seconds."""
    with pytest.raises(BlockedError) as caught:
        running().check(response(b"", 429, **{"Retry-After": "7"}))
    assert (caught.value.rate_limited, caught.value.retry_after) == (True, 7)


def test_a_full_answer_has_text_status_and_headers():
    """The record has the text, the status, and the headers in lower case, repeated ones joined."""
    page = found(response("<p>ä</p>".encode(), 203, **{"X-A": [b"1", b"2"], "Content-Type": "text/html"}))
    assert (page["data"], page["status"]) == ("<p>ä</p>", 203)
    assert page["headers"] == {"x-a": "1, 2", "content-type": "text/html"}
    assert (page["config"]["url"], page["config"]["method"], page["config"]["truncated"]) == (URL, "GET", False)


def test_a_truncated_page_is_marked():
    """A truncated page is returned, and marked."""
    assert found(response(flags=["dataloss"]))["config"]["truncated"] is True


def test_a_pdf_is_markdown_by_its_pages(starts):
    """A PDF of any declared type is returned as base64, or as the Markdown of the pages that are asked for."""
    pdf = response(with_pages([PLAIN, text(50, 300, "The second page.")]), **{"Content-Type": "text/html"})
    assert found(pdf)["config"]["encoding"] == "base64"
    record = found(pdf, "markdown", pages="2-")
    assert record["data"] == "<!-- page 2 -->\n\nThe second page.\n"
    assert record["config"]["document"]["pages"] == 2


def test_a_pdf_without_text_is_refused(starts):
    """The error of a PDF without text comes from its process with its reason and its advice."""
    with pytest.raises(UnsupportedContentError, match=r"is application/pdf, which is broken .* response_type full"):
        found(response(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj"), "markdown")


def test_pages_of_what_has_none_are_refused(starts):
    """The pages of an HTML page are refused by name."""
    with pytest.raises(UnsupportedContentError, match="which has no pages: leave pages out"):
        found(response(b"<p>A page"), "markdown", pages="2")


def test_a_forbidden_target_of_a_batch_is_invalid():
    """In a batch a forbidden target is an invalid query."""
    spider = running(url="http://10.0.0.1/", response_type="full")
    (row,) = spider.batch.rows()
    failure = spider.request_of(row)
    assert (failure.outcome, failure.kind) == ("invalid", None)
    assert failure.reason.startswith("the target is not allowed")


def test_unsupported_content_of_a_batch_is_invalid():
    """In a batch a picture as Markdown is an invalid query."""
    spider = running(url=URL, response_type="markdown")
    failure = spider.failure(UnsupportedContentError("image/png"), Row(1, {}))
    assert (failure.outcome, failure.query) == ("invalid", {"url": URL, "response_type": "markdown"})


def test_a_saved_page_that_is_compressed_is_decompressed():
    """A page with a Content-Encoding is compressed, whether saved or large; its record has the header."""
    record = found(response(gzip.compress(b"<p>hello</p>"), **{"Content-Encoding": "gzip"}))
    assert (record["data"], record["headers"]["content-encoding"]) == ("<p>hello</p>", "gzip")


def test_the_encoding_of_a_decompressed_page_is_known():
    """A page that was decompressed during its download has no such header any more; its record has it."""
    record = found(response(flags=["Content-Encoding: gzip, br"]))
    assert (record["data"], record["headers"]) == ("<p>hello</p>", {"content-encoding": "gzip, br"})
