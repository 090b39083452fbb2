"""What only a browser does with a page: waiting, its own HTML, screenshots."""

import asyncio
from base64 import b64decode
from contextlib import closing
from struct import unpack

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from tests.trial_web.web import TrialWeb
from webdata.config.chromium import find_chromium
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import QueryError, UnsupportedContentError
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.runtime.wire.exchange import HTML, SiteReply

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.task,
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: `make setup` installs one"),
]

SHOP = "https://shop.example"
ADDED = "document.body.insertAdjacentHTML('beforeend', '<p id=late>Late</p>')"
PAGE = (
    f'<!doctype html><meta charset=latin-1><title>Caf\xe9</title><body style="margin:0"><h1>Caf\xe9</h1>'
    f'<div style="height:3000px">Tea</div><img src="/picture"><script>setTimeout(() => {{ {ADDED} }}, 300)</script>'
).encode("latin-1")
VAST = b'<meta name=viewport content="width=10000"><div style="height: 100000px; width: 9000px">Tea</div>'
SIGNATURES = {"png": b"\x89PNG", "jpeg": b"\xff\xd8\xff", "webp": b"RIFF"}


class Shop(TrialWeb):
    """A page with a picture and a late element, and one whose pictures, fonts and frames are on this machine."""

    forbidden = ""

    def __init__(self):
        super().__init__()
        self.arrived = []

    def knows(self, host):
        return True

    def answer(self, request):
        self.arrived.append(request.path)
        if request.path == "/page":
            return SiteReply(200, (("Content-Type", "text/html; charset=latin-1"),), PAGE)
        if request.path == "/vast":
            return SiteReply(200, HTML, VAST)
        if request.path == "/traps":
            parts = (f'<img src="{self.forbidden}/a"><iframe src="{self.forbidden}/b"></iframe>', "<p>Tea</p>")
            style = f'<style>body {{ background: url({self.forbidden}/c) }}</style><img src="http://10.0.0.1/d">'
            return SiteReply(200, HTML, "".join((style, *parts)).encode())
        return super().answer(request)


@pytest_twisted.async_yield_fixture(scope="module")
async def shop():
    one = Shop()
    one.url = await deferred_from_coro(one.start())
    yield one
    await deferred_from_coro(one.stop())


@pytest_twisted.async_yield_fixture(scope="module")
async def warm(shop):
    own = scrapy_settings()
    own.setdict({"SANDBOX_URL": shop.url, "TRANSPORTS": ("http", "browser"), "CHROMIUM": CHROMIUM, "MAX_STEPS": 2})
    crawlers = WarmCrawlers(load_spiders(own), own, max_calls=16)
    yield crawlers
    await deferred_from_coro(crawlers.close(5))


def fetched(warm, path="/page", deadline=60, **options):
    query = UrlQuery.check({"url": SHOP + path, **options})
    return warm.answer(Call(URL_REQUEST, query, sandbox=True, deadline=deadline))


def size_of_png(screenshot):
    """Width and height, https://www.w3.org/TR/png-3/#11IHDR."""
    return unpack(">II", b64decode(screenshot["data"])[16:24])


@pytest.mark.slow
async def test_an_element_is_waited_for(warm):
    """A page is read once it has the element, or after a number of milliseconds."""
    answers = [await fetched(warm, formats=["text"], wait_for=one) for one in ("#late", 1500)]
    assert [(one.transport, one.partial) for one in answers] == [("browser", None)] * 2
    assert all("Late" in one.record["text"] for one in answers)


@pytest.mark.slow
async def test_an_element_that_never_comes_leaves_the_page_as_it_is(warm):
    """The answer says that it is partial; that of a document which no browser shows says so at once."""
    page = await fetched(warm, formats=["text"], wait_for="#never", deadline=8)
    data = await fetched(warm, "/echo", formats=["text"], wait_for="#never")
    assert (page.partial, "Tea" in page.record["text"]) == ("wait_for", True)
    assert (data.partial, '"method":"GET"' in data.record["text"]) == ("wait_for", True)


async def test_a_selector_that_browsers_do_not_know_is_refused(warm):
    """It is one for pages as they are parsed here."""
    with pytest.raises(QueryError, match="wait_for has a selector that browsers do not know"):
        await fetched(warm, formats=["text"], wait_for="p:contains(Tea)")


async def test_the_html_of_the_browser_stands_beside_that_of_the_server(warm):
    """Only the browser's has what scripts have made; in one answer the other is as it was sent."""
    both = await fetched(warm, formats=["html", "rendered_html", "text"], wait_for="#late")
    alone = await fetched(warm, formats=["rendered_html"], wait_for="#late")
    assert both.record["html"] == PAGE.decode("latin-1")
    assert '<p id="late">Late</p>' in both.record["rendered_html"]
    assert alone.record["rendered_html"] == both.record["rendered_html"]
    assert "Caf\xe9" in both.record["text"]
    assert "html" not in alone.record


@pytest.mark.slow
@pytest.mark.parametrize("picture", ["png", "jpeg", "webp"])
async def test_a_screenshot_is_of_the_screen_or_of_the_whole_page(shop, warm, picture):
    """Of each type, with its size in pixels; pictures are loaded for it alone."""
    shop.arrived.clear()
    screen = (await fetched(warm, formats=["screenshot"], screenshot_type=picture)).record["screenshot"]
    whole = (await fetched(warm, formats="screenshot", screenshot_type=picture, screenshot_full_page=True)).record
    assert (screen["content_type"], screen["width"], screen["height"], screen["cut"]) == (
        f"image/{picture}", 1280, 720, True,
    )  # fmt: skip
    assert (whole["screenshot"]["height"] > 3000, whole["screenshot"]["cut"]) == (True, False)
    assert b64decode(screen["data"]).startswith(SIGNATURES[picture])
    assert picture != "png" or size_of_png(screen) == (1280, 720)
    assert shop.arrived.count("/picture") == 2
    await fetched(warm, formats=["text"], wait_for="#late")
    assert shop.arrived.count("/picture") == 2


async def test_the_pixels_of_a_screenshot_are_bounded(warm):
    """A page that has itself laid out ten thousand pixels wide, and ten times as high, is made smaller, and cut."""
    options = {"screenshot_full_page": True, "device": "mobile"}
    found = (await fetched(warm, "/vast", formats="screenshot", **options)).record["screenshot"]
    assert size_of_png(found) == (found["width"], found["height"])
    assert (found["width"], found["cut"]) == (3000, True)
    assert 7_900 < found["height"] <= 8_000
    assert found["width"] * found["height"] <= 24_000_000


@pytest.mark.parametrize("wanted", ["screenshot", "rendered_html"])
async def test_what_no_browser_shows_as_a_page_is_refused(warm, wanted):
    """JSON and PDFs have neither a picture nor the browser's HTML; the error says what to leave out."""
    for path in ("/echo", "/file/paper.pdf"):
        with pytest.raises(UnsupportedContentError, match=f"no browser shows as a page: leave {wanted} out"):
            await fetched(warm, path, formats=[wanted])


async def test_pictures_of_a_screenshot_come_from_no_forbidden_target(shop, warm):
    """Nothing on this machine or in its network is reached for it; the page is shown without them."""
    hits = []

    async def serve(reader, writer):
        hits.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    with closing(server):
        shop.forbidden = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        shop.arrived.clear()
        answer = await fetched(warm, "/traps", formats=["screenshot", "text"])
    assert "Tea" in answer.record["text"]
    assert not hits
    assert shop.arrived == ["/traps"]
