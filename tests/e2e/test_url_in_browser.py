"""Any URL in the browser, whose answers are those of plain HTTP."""

import asyncio
import ipaddress
import tracemalloc
from contextlib import asynccontextmanager, contextmanager
from time import monotonic

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from tests.trial_web.web import TrialWeb
from webdata.config.chromium import find_chromium
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import BlockedError, NotFoundError, TargetError, UpstreamError
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.runtime.wire.exchange import HTML, SiteReply

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.task,
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: `make setup` installs one"),
]

BUILT = b'<title>Shop</title><div id="root"></div><noscript>Switch on JavaScript.</noscript><script>%s</script>'
BUILDING = b'document.getElementById("root").innerHTML = "<h1>Tea</h1><p>" + "A pot of green tea. ".repeat(20)'
SHOWN = b"<title>Tea</title><h1>Tea</h1><p>A pot of green tea is what we sell here, day in, day out.</p>%s"
PAGES = {
    "unloaded.example": SiteReply(200, HTML, SHOWN % b'<iframe src="https://silent.example/"></iframe>'),
    "silent.example": SiteReply(200, HTML, delay=90),
    "grown.example": SiteReply(200, HTML, SHOWN % b"<script>document.body.title = 'x'.repeat(1e8)</script>"),
    "built.example": SiteReply(200, HTML, BUILT % BUILDING),
    "unbuilt.example": SiteReply(200, HTML, BUILT % b""),
    "empty403.example": SiteReply(403, HTML),
    "st999.example": SiteReply(999, HTML, b"<h1>Odd</h1>"),
    "csv.example": SiteReply(200, (("Content-Type", "text/csv; charset=latin-1"),), b"caf\xe9,1\r\n"),
    "latin.example": SiteReply(
        200, (("Content-Type", "text/html; charset=latin-1"), ("X-One", "1")), b"<p>caf\xe9</p>"
    ),
    "nowhere.example": SiteReply(302, (("Location", "https://nothing.trap.example/"),)),
    "away.example": SiteReply(302, (("Location", "https://user:word@example.com/article"),)),
}


class Site(TrialWeb):
    """A sandbox with additional pages, each at its own host."""

    def knows(self, host):
        return True

    def answer(self, request):
        return PAGES.get(request.host) or super().answer(request)


@asynccontextmanager
async def serving(site, *transports, **settings):
    own = scrapy_settings()
    own.setdict({"SANDBOX_URL": site and site.url, "TRANSPORTS": transports, "CHROMIUM": CHROMIUM, **settings})
    warm = WarmCrawlers(load_spiders(own), own, max_calls=64)
    try:
        yield warm
    finally:
        await warm.close(5)


@pytest_twisted.async_yield_fixture(scope="module")
async def site():
    one = Site()
    one.url = await deferred_from_coro(one.start())
    yield one
    await deferred_from_coro(one.stop())


@pytest_twisted.async_yield_fixture(scope="module")
async def warm(site):
    opened = serving(site, "browser", MAX_STEPS=1)
    yield await deferred_from_coro(opened.__aenter__())
    await deferred_from_coro(opened.__aexit__(None, None, None))


@contextmanager
def tracemalloc_peak():
    tracemalloc.start()
    try:
        yield lambda: peak
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()


def fetched(warm, url, response_type="full", *, sandbox=True, **options):
    query = UrlQuery(url=url, response_type=response_type, **options)
    return warm.answer(Call(URL_REQUEST, query, sandbox=sandbox, deadline=60))


SAME = (
    "https://example.com/article", "http://example.com/article", "https://example.com/file/paper.pdf",
    "https://example.com/file/table.csv", "https://example.com/file/picture.html", "https://example.com/status/204",
    "https://example.com/status/403", "https://example.com/status/500", "https://example.com/status/520",
    "https://example.com/type/none", "https://example.com/compressed/double", "https://example.com/truncated",
    "https://example.com/redirect/302/3", "https://csv.example/", "https://latin.example/", "https://st999.example/",
    "https://built.example/",
)  # fmt: skip


@pytest.mark.slow
async def test_a_full_answer_is_that_of_plain_http(site, warm):
    """Pages, files and errors have the same bytes, status and type by the browser as by plain HTTP."""
    async with serving(site, "http") as plain:
        expected = await asyncio.gather(*(fetched(plain, url) for url in SAME))
    got = await asyncio.gather(*(fetched(warm, url) for url in SAME))
    for url, one, other in zip(SAME, expected, got, strict=True):
        assert (one.transport, other.transport) == ("http", "browser")
        assert {**other.record, "headers": None} == {**one.record, "headers": None}, url
        assert other.record["headers"].get("content-type") == one.record["headers"].get("content-type"), url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "error", "kind"),
    [
        ("http://example.com/challenge/akamai", BlockedError, "denied"),
        ("https://empty403.example/", BlockedError, "denied"),
        ("https://example.com/huge", UpstreamError, "too_large"),
        ("https://example.com/bomb/gzip", UpstreamError, "too_large"),
        ("https://example.com/endless", UpstreamError, "too_large"),
        ("https://example.com/redirect/302/11", UpstreamError, "redirects"),
        ("https://example.com/compressed/wrong-br", UpstreamError, "truncated"),
        ("https://example.com/status/410", NotFoundError, None),
        ("https://nowhere.example/", NotFoundError, "dns"),
        ("https://example.com/trap/redirect/private", TargetError, None),
        ("https://example.com/trap/redirect/file", TargetError, None),
        ("https://example.com/trap/refresh/metadata", TargetError, None),
        ("https://away.example/", TargetError, None),
    ],
)
async def test_errors_are_those_of_plain_http(warm, url, error, kind):
    """Refused targets, unknown hosts and endless pages have the same errors as by plain HTTP."""
    with pytest.raises(error) as caught:
        await fetched(warm, url)
    assert getattr(caught.value, "kind", None) == kind


async def test_a_page_that_never_loads_wholly_is_read(warm):
    """A part of a page that never arrives, such as an advertisement's frame, does not cost the page."""
    answer = await fetched(warm, "https://unloaded.example/", "markdown")
    assert "A pot of green tea" in answer.record["data"]


async def test_a_page_that_a_script_makes_huge_is_not_received(warm):
    """The HTML that scripts make of a page is measured in the browser, before it takes memory here."""
    with tracemalloc_peak() as peak, pytest.raises(UpstreamError, match="larger than"):
        await fetched(warm, "https://grown.example/", "markdown")
    assert peak() < 1e8


async def test_a_page_is_rendered_where_the_query_says_so(site):
    """Always: by the browser at once, and with full its document; never: as it was sent, which the record says."""
    async with serving(site, "http", "browser") as both:
        always, never = await asyncio.gather(
            fetched(both, "https://built.example/", render="always"),
            fetched(both, "https://built.example/", "markdown", render="never"),
        )
    assert (always.transport, never.transport, never.partial) == ("browser", "http", "scripts")
    assert "A pot of green tea." in always.record["data"]
    assert "green tea" not in never.record["data"]


@pytest.mark.slow
@pytest.mark.timed
async def test_the_size_of_a_rendered_page_is_limited(warm):
    """The size of a page that the browser renders is limited, too."""
    begun = monotonic()
    with pytest.raises(UpstreamError, match="larger than"):
        await fetched(warm, "https://example.com/endless", "markdown")
    assert monotonic() - begun < 15


@pytest.mark.slow
async def test_a_page_of_scripts_is_rendered_by_the_browser(site):
    """Markdown is made of the rendered page; without a browser it is made of the static page, and marked as partial."""
    async with serving(site, "http", "browser") as warm:
        built = await fetched(warm, "https://built.example/", "markdown")
        unbuilt = await fetched(warm, "https://unbuilt.example/", "markdown")
        full = await fetched(warm, "https://built.example/")
    async with serving(site, "http") as warm:
        static = await fetched(warm, "https://built.example/", "markdown")
    async with serving(site, "http", "browser", CHROMIUM="/nowhere/chromium") as warm:
        broken = await fetched(warm, "https://built.example/", "markdown")
    assert (built.transport, built.partial) == ("browser", None)
    assert "# Tea" in built.record["data"]
    assert (unbuilt.transport, unbuilt.partial) == ("browser", "scripts")
    for answer in (static, broken):
        assert (answer.transport, answer.partial) == ("http", "scripts")
        assert "Switch on JavaScript" in answer.record["data"]
    assert [attempt["transport"] for attempt in broken.attempts][:2] == ["http", "browser"]
    assert full.transport == "http"


async def test_an_unreachable_target_is_an_error():
    """A redirect to a closed port or to a name without addresses is an error."""

    async def serve(reader, writer):
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
        to = {b"/refused": b"http://127.0.0.2:%d/" % (port + 1), b"/dns": b"http://nosuch.invalid:%d/" % port}[path]
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % to)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    rule = {"EGRESS_PORTS": (80, port, port + 1), "EGRESS_ALLOW": (ipaddress.ip_network("127.0.0.2/32"),)}
    async with serving(None, "browser", MAX_STEPS=1, **rule) as warm:
        for path, error, kind in (("refused", UpstreamError, "refused"), ("dns", NotFoundError, "dns")):
            with pytest.raises(error) as caught:
                await fetched(warm, f"http://127.0.0.2:{port}/{path}", sandbox=False)
            assert caught.value.kind == kind
    server.close()
