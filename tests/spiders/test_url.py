"""How any page is asked for, and what its response is taken for."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.batch.files import Row
from webdata.domain.errors import BlockedError, NotFoundError, TargetError, UnsupportedContentError, UpstreamError
from webdata.fetching.fetch import FETCH, Fetch
from webdata.resources.url_request import UrlQuery
from webdata.spiders.url import UrlSpider

CLOSED = b"<h1>Closed</h1><p>This garden is for those who have a key to its gate.</p>"
URL = "https://example.com/page"
SETTINGS = {
    "ON_DEMAND": True,
    "EGRESS_PORTS": (80, 443),
    "EGRESS_ALLOW": (),
    "URL_MAX_BYTES": 3 * 1024 * 1024,
    "DOWNLOADER_MIDDLEWARES": {},
}


SHELL = b'<title>Shop</title><div id="root"></div><script src="/app.js"></script>'


def running(**arguments):
    settings = SETTINGS | ({"ON_DEMAND": False} if arguments else {})
    return UrlSpider.from_crawler(get_crawler(UrlSpider, settings), **arguments)


def asked(url, response_type="full"):
    return UrlQuery.check({"url": url, "response_type": response_type})


def response(body=b"<p>hello</p>", status=200, url=URL, flags=(), meta=None, **headers):
    return Response(url, status, headers, body, list(flags), Request(URL, meta=meta))


def found(answer, response_type="full"):
    """The record that an offline spider reads from a response."""

    async def first():
        return await anext(UrlSpider().parse(answer, asked(URL, response_type)))

    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(asyncio.run, first()).result()


def test_a_request_is_for_the_url_in_its_normal_form():
    """What is asked for is what the guard has read, without a fragment."""
    assert running().request(asked("https://EXAMPLE.com/a b#c")).url == "https://example.com/a%20b"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://2130706433/", "http://[::1]/", "http://localhost/", "http://example.com:22/",
     "http://user:word@example.com/", "file:///etc/passwd", "gopher://example.com/", "ftp://example.com/"],
)  # fmt: skip
def test_what_may_not_be_fetched_is_no_request(url):
    """A target that needs no look-up to be refused is refused at once."""
    with pytest.raises(TargetError):
        running().request(asked(url))


def test_every_download_is_guarded():
    """The guard is on for the whole crawler, whatever the project says, and the bound of pages is the URL's own."""
    settings = get_crawler(UrlSpider, {**SETTINGS, "EGRESS_GUARD": False, "DOWNLOAD_MAXSIZE": 7}).settings
    assert settings.getbool("EGRESS_GUARD")
    assert settings.getint("DOWNLOAD_MAXSIZE") == 3 * 1024 * 1024


def test_cookies_are_of_one_query():
    """Two calls for one site share no cookie jar."""
    one, other = (running().prepared(asked(URL)).meta["cookiejar"] for _ in range(2))
    assert one is not other


@pytest.mark.parametrize(
    ("error", "kind", "outcome", "words"),
    [
        (CannotResolveHostError("x"), "dns", NotFoundError, "does not exist"),
        (IgnoreRequest("max redirections reached"), "redirects", UpstreamError, "more than 10 times"),
        (DownloadCancelledError("x"), "too_large", UpstreamError, "larger than the 3 MiB that are read"),
        (UpstreamError("x", "too_large"), "too_large", UpstreamError, "larger than the 3 MiB"),
        (UpstreamError("x", "reset"), "reset", UpstreamError, "x"),
    ],
)
def test_why_a_download_failed(error, kind, outcome, words):
    """A host that does not exist is not found; what the caller can do something about is told with its bound."""
    lost = running().loss(error)
    assert (type(lost), lost.kind) == (outcome, kind)
    assert words in lost.reason


def test_a_refused_target_stays_one():
    """A target that was refused on the way is told as such."""
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
        "nothing came",
        "led to consent",
        "led to a login in the browser",
        "999 without a word",
    ],
)
def test_what_is_no_answer(answer, error):
    """What is not there, obstacles and forbidden ways are errors."""
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
        response(flags=["dataloss"]),
        response(url="https://www.linkedin.com/login"),
        response(b"<h1>Odd</h1>", 999),
        response(SHELL, meta={FETCH: Fetch(as_sent=True)}),
        response(SHELL, meta={FETCH: Fetch(transport="browser")}),
    ],
    ids=lambda answer: f"{answer.status} {len(answer.body)} {answer.url[12:]}",
)
def test_what_is_an_answer(answer):
    """Any page of a site is an answer, whatever its status; so is a page to sign in that was asked for."""
    running().check(answer)


def test_a_page_that_scripts_would_build_is_left_to_the_browser():
    """As Markdown it is a block that a browser may pass, and can be read where none does."""
    with pytest.raises(BlockedError) as caught:
        running().check(response(SHELL))
    assert (caught.value.kind, caught.value.readable) == ("javascript", True)
    assert running().partial(response(SHELL, meta={FETCH: Fetch(transport="browser")})) == "scripts"
    assert running().partial(response(meta={FETCH: Fetch(transport="browser")})) is None
    assert running().partial(response(SHELL)) is None


def test_how_a_page_is_wanted_is_told_with_the_request():
    """The browser gives the bytes for a full answer, and what it has made of them for Markdown."""
    for response_type in ("full", "markdown"):
        fetch = Fetch.of(running().prepared(asked(URL, response_type)))
        assert fetch.as_sent is (response_type == "full")


def test_a_rate_limit_is_known():
    """A refusal tells whether and how long the site wants to be left alone."""
    with pytest.raises(BlockedError) as caught:
        running().check(response(b"", 429, **{"Retry-After": "7"}))
    assert (caught.value.rate_limited, caught.value.retry_after) == (True, 7)


def test_a_full_page_is_told_with_all_that_came():
    """The record has the text, the status, and the headers in lower case, repeated ones joined."""
    page = found(response("<p>ä</p>".encode(), 203, **{"X-A": [b"1", b"2"], "Content-Type": "text/html"}))
    assert (page["data"], page["status"]) == ("<p>ä</p>", 203)
    assert page["headers"] == {"x-a": "1, 2", "content-type": "text/html"}
    assert (page["config"]["url"], page["config"]["method"], page["config"]["truncated"]) == (URL, "GET", False)


def test_a_page_that_broke_off_says_so():
    """What came of a page is given, and told to be a part."""
    assert found(response(flags=["dataloss"]))["config"]["truncated"] is True


def test_what_is_no_text_is_no_markdown():
    """A PDF is given whole, or not at all."""
    pdf = response(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj", **{"Content-Type": "application/pdf"})
    assert found(pdf)["config"]["encoding"] == "base64"
    with pytest.raises(UnsupportedContentError, match="application/pdf"):
        found(pdf, "markdown")


def test_a_batch_tells_what_may_not_be_fetched():
    """In a batch a forbidden target ends as an invalid query, and is no fault of ours."""
    spider = running(url="http://10.0.0.1/", response_type="full")
    (row,) = spider.batch.rows()
    failure = spider.request_of(row)
    assert (failure.outcome, failure.kind) == ("invalid", None)
    assert failure.reason.startswith("the target is not allowed")


def test_a_batch_tells_what_cannot_be_given():
    """In a batch a picture as Markdown ends as an invalid query."""
    spider = running(url=URL, response_type="markdown")
    failure = spider.failure(UnsupportedContentError("image/png"), Row(1, {}))
    assert (failure.outcome, failure.query) == ("invalid", {"url": URL, "response_type": "markdown"})
