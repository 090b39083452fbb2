"""Pages fetched by a real Chromium, against the sandbox."""

import asyncio
import ipaddress
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import orjson
import pytest
import pytest_twisted
from scrapy import FormRequest, Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError, ResponseDataLossError
from scrapy.utils.defer import deferred_from_coro

from webdata.config.chromium import find_chromium
from webdata.crawling.engine import fetch_error
from webdata.crawling.warm_crawlers import Call, WarmCrawler, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import TargetError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.proxies import pools
from webdata.domain.query import Device
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.transports.browser.process import Browser
from webdata.resources.forum import FORUM_SUBFORUM, ForumSubforumQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.runtime.wire.exchange import SiteReply
from webdata.sandbox.challenges import CHALLENGE_SECONDS
from webdata.sandbox.proxies import RegionProxy
from webdata.sandbox.server import Sandbox
from webdata.spiders.google_web import GoogleWebSpider

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.task,
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: `make setup` installs one"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in Linux's /proc"),
]

SEARCH = "https://www.google.com/search?q="
LIMIT = 4
SEEN = """<!doctype html><title>seen</title><img src="/image.png"><p id="seen"></p><script>
document.getElementById("seen").textContent = JSON.stringify({
  agent: navigator.userAgent, platform: navigator.platform, languages: navigator.languages,
  webdriver: navigator.webdriver, touch: navigator.maxTouchPoints > 0, width: innerWidth,
  scale: devicePixelRatio, hints: navigator.userAgentData});
for (const host of ["127-0-0-1.trap.example", "beacon.example"]) {
  const request = new XMLHttpRequest();
  request.open("GET", `https://${host}/`, false);
  try { request.send(); } catch {}
}
</script>"""


CHALLENGE = "<!doctype html><title>Just a moment...</title><p>Wait.</p><script>window._cf_chl_opt = {};%s</script>"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\n"
POPUPS = """<!doctype html><p>here</p><a target="_blank" rel="noopener" href="https://popup.example/link">x</a><script>
const opened = open("https://popup.example/script");
document.querySelector("a").click();
setInterval(() => open("https://popup.example/timer"), 50);
document.querySelector("p").textContent = String(opened);
</script><script src="https://late.example/?q=sandbox:slow=0.5"></script>"""
PAGES = {
    "seen.example": SiteReply(body=SEEN.encode()),
    "data.example": SiteReply(headers=(("Content-Type", "application/json"),), body=b'{"a": [1, 2]}'),
    "never.example": SiteReply(403, body=(CHALLENGE % "").encode()),
    "inplace.example": SiteReply(
        403,
        body=(CHALLENGE % "setTimeout(() => { document.documentElement.innerHTML = '<p>here it is'; }, 200)").encode(),
    ),
    "atonce.example": SiteReply(
        403, body=(CHALLENGE % "document.documentElement.innerHTML = '<p>here it is'").encode()
    ),
    "busy.example": SiteReply(body=(CHALLENGE % "for (;;);").encode()),
    "cut.example": SiteReply(body=b"<!doctype html><p>half".ljust(4000), cut=2000),
    "chunked.example": SiteReply(pieces=lambda: iter([CHUNKED])),
    "popups.example": SiteReply(body=POPUPS.encode()),
    "moved.google.com": SiteReply(302, (("Location", "https://foreign.example/"),)),
    "script.google.com": SiteReply(403, body=(CHALLENGE % "location = 'https://foreign.example/'").encode()),
    "form.google.com": SiteReply(
        403,
        body=(
            CHALLENGE % "document.write('<form method=post action=//foreign.example>');document.forms[0].submit()"
        ).encode(),
    ),
}


class Site(Sandbox):
    """A sandbox with additional pages, which records its requests."""

    def __init__(self):
        super().__init__()
        self.requests = []

    def knows(self, host):
        return True

    def answer(self, request):
        self.requests.append(request)
        if request.host in PAGES:
            return PAGES[request.host]
        return super().answer(request)


class Visitor(Spider):
    name = "visitor"


@pytest_twisted.async_yield_fixture(scope="module")
async def site():
    one = Site()
    one.url = await deferred_from_coro(one.start())
    yield one
    await deferred_from_coro(one.stop())


def project(site, **settings):
    own = scrapy_settings()
    own.setdict({"SANDBOX_URL": site.url, "TRANSPORTS": ["http", "impersonate", "browser"], "BROWSER_PAGES": LIMIT})
    own.setdict(settings)
    return own


@asynccontextmanager
async def crawling(site, *, spider=Visitor, **settings):
    """A crawler without an engine, or of one, whose requests name their transport."""
    own = project(site, ON_DEMAND=True, SANDBOX=True, DOWNLOAD_VERIFY_CERTIFICATES=False, **settings)
    warm = WarmCrawler(Crawler(spider, own))
    await warm._start()
    try:
        yield warm._crawler
    finally:
        await warm.close()


@pytest_twisted.async_yield_fixture(scope="module")
async def crawler(site):
    opened = crawling(site)
    yield await deferred_from_coro(opened.__aenter__())
    await deferred_from_coro(opened.__aexit__(None, None, None))


def fetched(crawler, url, transport="browser", *, cookiejar=None, as_sent=False, **run):
    fetch = Fetch(QueryRun(**run), as_sent=as_sent, transport=transport)
    request = Request(url, meta={FETCH: fetch, "cookiejar": cookiejar or transport}, dont_filter=True)
    return crawler.engine.download_async(request)


def browser_of(crawler):
    return crawler.fetch_resources.browser


def open_pages(browser):
    return sum(len(context.pages) for context in browser._chromium.contexts)


def call(q):
    return Call(WEB_SEARCH, WebQuery(q=q), sandbox=True, deadline=60)


def family(pid):
    """The running descendants of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid and state != "Z":
            found += [int(path.parent.name), *family(int(path.parent.name))]
    return found


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pids, seconds=3.0):
    """Whether all of these processes end within some seconds."""
    for _ in range(int(seconds / 0.05)):
        if not any(map(lives, pids)):
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.slow
async def test_challenged_calls_are_answered_in_time(site):
    """A cold browser takes up to 6 s, a warm one 1.5 s; 50 calls share LIMIT pages; a killed browser is replaced."""
    before, settings = set(family(os.getpid())), project(site)
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=64)
    try:
        begun = monotonic()
        first = await warm.answer(call("coffee sandbox:challenge"))
        assert monotonic() - begun <= 6
        assert (first.outcome, first.transport) == (Outcome.OK, "browser")
        assert [attempt["outcome"] for attempt in first.attempts] == ["blocked", "ok"]
        browser = browser_of(next(iter(warm._opened.values())).result()._crawler)

        await browser.contexts.close()  # with the cookie of the passed challenge
        begun = monotonic()
        second = await warm.answer(call("tea sandbox:challenge"))
        assert monotonic() - begun <= 1.5 + CHALLENGE_SECONDS
        assert [attempt["transport"] for attempt in second.attempts] == ["browser"]

        await browser.contexts.close()
        most = asyncio.create_task(watched(browser))
        answers = await asyncio.gather(*(warm.answer(call(f"{number} sandbox:challenge")) for number in range(50)))
        most.cancel()
        assert {answer.outcome for answer in answers} == {Outcome.OK}
        assert 1 < browser.most <= LIMIT

        calls = [warm.answer(call(f"{number} sandbox:challenge sandbox:slow=0.4")) for number in range(8)]
        asyncio.get_running_loop().call_later(0.3, os.kill, browser._pid, signal.SIGKILL)
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(end, UpstreamError) or end.outcome is Outcome.OK for end in ended)
        assert (await warm.answer(call("again sandbox:challenge"))).outcome is Outcome.OK
        assert browser.launches == 2
        processes = set(family(os.getpid())) - before
        assert processes
    finally:
        await warm.close(10)
    assert await gone(processes)


async def watched(browser):
    """Record the largest number of open pages."""
    browser.most = 0
    while True:
        browser.most = max(browser.most, open_pages(browser))
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("device", Device)
async def test_a_page_receives_one_device(crawler, site, device):
    """Headers, the values that scripts read and the browser's version agree; images are not loaded."""
    site.requests.clear()
    headers = {"Accept-Language": "de,en;q=0.8"}
    meta = {FETCH: Fetch(QueryRun(device=device), transport="browser"), "cookiejar": device}
    request = Request("https://seen.example/", headers=headers, meta=meta)
    response = await crawler.engine.download_async(request)
    seen = orjson.loads(response.css("#seen::text").get())
    sent = site.requests[0].headers
    version, mobile = browser_of(crawler)._chromium.version.partition(".")[0], device is Device.MOBILE
    assert sent["user-agent"] == seen["agent"]
    assert f" Chrome/{version}.0.0.0 " in seen["agent"]
    assert f'"Chromium";v="{version}"' in sent["sec-ch-ua"]
    assert {"brand": "Chromium", "version": version} in seen["hints"]["brands"]
    assert sent["sec-ch-ua-platform"] == f'"{seen["hints"]["platform"]}"' == ('"Android"' if mobile else '"Windows"')
    assert seen["platform"] == ("Linux armv81" if mobile else "Win32")
    assert (seen["hints"]["mobile"], seen["touch"], sent["sec-ch-ua-mobile"]) == (mobile, mobile, f"?{mobile:d}")
    assert (seen["scale"] > 1) is mobile
    assert seen["languages"] == ["de", "en"]
    assert sent["accept-language"].startswith("de,en;q=0.")
    assert not seen["webdriver"]
    assert "Headless" not in str(sent) + str(seen)
    assert not [request.target for request in site.requests if "image" in request.target]


async def test_a_pages_own_requests_are_guarded(crawler, site):
    """A page's own requests are sent to public addresses only, by the page's transport."""
    site.requests.clear()
    await fetched(crawler, "https://seen.example/", cookiejar="guard")
    hosts = {request.host for request in site.requests}
    assert {"seen.example", "beacon.example"} <= hosts
    assert not [host for host in hosts if "trap" in host]


async def test_a_guarded_crawler_refuses_forbidden_targets(site):
    """A forbidden target is refused before a page is opened."""
    async with crawling(site) as guarded:
        for url in ("https://127-0-0-1.trap.example/", "http://127.0.0.1/", "https://localhost/"):
            with pytest.raises(TargetError):
                await fetched(guarded, url)
        assert browser_of(guarded).launches == 0


@pytest.mark.parametrize(
    ("transport", "page"),
    [("http", "moved"), ("impersonate", "moved"), ("browser", "moved"), ("browser", "script"), ("browser", "form")],
)
async def test_no_transport_leaves_an_engines_sites(site, transport, page):
    """A redirect, a script or a form that leads to a foreign host ends the download, which is not sent there."""
    site.requests.clear()
    async with crawling(site, spider=GoogleWebSpider) as crawler:
        fetch = Fetch(transport=transport, judged=True)
        request = Request(f"https://{page}.google.com/", meta={FETCH: fetch, "cookiejar": "x"}, dont_filter=True)
        with pytest.raises(TargetError):
            await crawler.engine.download_async(request)
    assert {one.host for one in site.requests} == {f"{page}.google.com"}


async def test_a_passed_challenge_leaves_its_cookies(crawler):
    """The response is the final page with its status, and later plain requests with its cookies are not challenged."""
    url = f"{SEARCH}coffee+sandbox:enablejs"
    assert b"knitsail" in (await fetched(crawler, url, "http", cookiejar="won")).body
    won = await fetched(crawler, url, cookiejar="won")
    assert (won.status, won.url) == (200, url)
    assert b'id="rso"' in won.body
    assert b'id="rso"' in (await fetched(crawler, url, "http", cookiejar="won")).body
    challenged = await fetched(crawler, f"{SEARCH}coffee+sandbox:challenge", cookiejar="other")
    assert challenged.status == 200
    assert b"sandbox_clearance=" in challenged.headers["Set-Cookie"]


@pytest.mark.timed
async def test_a_denial_is_returned_at_once(crawler):
    """A block that no browser passes is returned without waiting."""
    begun = monotonic()
    response = await fetched(crawler, f"{SEARCH}sandbox:denied")
    assert response.status == 403
    assert monotonic() - begun < 2


async def test_json_is_returned_unchanged(crawler):
    """The body of JSON is the received one, not the browser's rendering of it."""
    response = await fetched(crawler, "https://data.example/")
    assert (response.body, response.headers["Content-Type"]) == (b'{"a": [1, 2]}', b"application/json")


@pytest.mark.timed
async def test_an_unsolved_challenge_is_returned(crawler):
    """Shortly before the deadline the challenge itself is returned."""
    begun = monotonic()
    response = await fetched(crawler, "https://never.example/", deadline=2.5)
    assert (response.status, b"Just a moment" in response.body) == (403, True)
    assert monotonic() - begun < 2.5


@pytest.mark.parametrize("host", ["inplace.example", "atonce.example"])
async def test_a_challenge_may_be_replaced_in_place(crawler, host):
    """A page with which a script replaces the challenge, later or at once, is a 200."""
    response = await fetched(crawler, f"https://{host}/")
    assert (response.status, response.css("p::text").get()) == (200, "here it is")


async def test_a_form_is_sent(crawler, site):
    """The site receives the request's method and body."""
    meta = {FETCH: Fetch(transport="browser")}
    form = FormRequest("https://www.google.com/search", formdata={"q": "a b"}, meta=meta, dont_filter=True)
    response = await crawler.engine.download_async(form)
    posted = next(request for request in reversed(site.requests) if request.path == "/search")
    assert (posted.method, posted.body, response.status) == ("POST", b"q=a+b", 405)


@pytest.mark.timed
async def test_a_page_that_hangs_is_closed(crawler):
    """A script that never ends fails its own request only."""
    with pytest.raises(DownloadTimeoutError):
        await fetched(crawler, "https://busy.example/", started_at=monotonic(), deadline=1.5)
    assert open_pages(browser_of(crawler)) == 0
    assert (await fetched(crawler, "https://data.example/")).status == 200


@pytest.mark.slow
@pytest.mark.timed
async def test_a_browser_that_hangs_is_replaced(site, caplog):
    """A hanging browser is killed at the call's deadline; the next call gets a new one."""
    async with crawling(site) as crawler:
        await fetched(crawler, "https://data.example/")
        browser = browser_of(crawler)
        hung = browser._pid
        os.kill(hung, signal.SIGSTOP)
        begun = monotonic()
        calls = [fetched(crawler, "https://data.example/", deadline=1.0, cookiejar=n) for n in "abc"]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(end) for end in ended} <= {DownloadTimeoutError, UpstreamError}
        assert monotonic() - begun < 3
        assert (browser.snapshot()["running"], browser.snapshot()["failure"]) == (
            False,
            "it did not answer and was given up",
        )
        assert (await fetched(crawler, "https://data.example/")).status == 200
        assert (browser.launches, browser.failure) == (2, None)
        assert await gone([hung])
    assert [record.levelname for record in caplog.records if "does not answer" in record.getMessage()] == ["ERROR"]


@pytest.mark.timed
@pytest.mark.parametrize("host", ["cut.example", "chunked.example"])
async def test_a_truncated_page_is_an_error_at_once(crawler, host):
    """A truncated page is an error of the kind `truncated`, long before the deadline."""
    begun = monotonic()
    with pytest.raises(ResponseDataLossError) as caught:
        await fetched(crawler, f"https://{host}/", deadline=20)
    assert fetch_error(caught.value).kind == "truncated"
    assert monotonic() - begun < 3
    assert open_pages(browser_of(crawler)) == 0


@pytest.mark.timed
async def test_windows_of_a_page_are_closed(crawler, site):
    """Windows that a page opens are blocked or closed."""
    site.requests.clear()
    response = await fetched(crawler, "https://popups.example/")
    assert response.css("p::text").get() == "null"
    for _ in range(60):
        if not open_pages(browser_of(crawler)):
            break
        await asyncio.sleep(0.05)
    assert open_pages(browser_of(crawler)) == 0
    windows = [request.target for request in site.requests if request.host == "popup.example"]
    assert "/link" not in windows
    assert len(windows) < 10


async def test_windows_of_a_remote_browser_are_closed(site, remote_browser):
    """Windows that pages open in a remote browser are closed."""
    async with crawling(site, BROWSER_URL=remote_browser[1], EGRESS_GUARD=False) as crawler:
        await fetched(crawler, "https://popups.example/")
        await asyncio.sleep(0.7)
        pages = [page for context in browser_of(crawler)._chromium.contexts for page in context.pages]
        assert not [page for page in pages if "popup" in page.url]


@pytest.mark.timed
async def test_a_slow_page_is_closed_at_its_deadline(crawler):
    """A page that is too slow is a time-out at the deadline, and is closed."""
    late = Request(f"{SEARCH}sandbox:slow=30", meta={FETCH: Fetch(QueryRun(deadline=0.8), transport="browser")})
    begun = monotonic()
    with pytest.raises(DownloadTimeoutError):
        await crawler.engine.download_async(late)
    assert monotonic() - begun < 2
    assert (browser_of(crawler).pages, open_pages(browser_of(crawler))) == (0, 0)


@pytest.mark.parametrize(("transport", "status"), [("http", 403), ("impersonate", 200), ("browser", 200)])
async def test_a_site_may_require_a_browsers_handshake(crawler, transport, status):
    """A site that requires a browser's TLS handshake refuses plain TLS, and accepts the other two transports."""
    response = await fetched(crawler, f"{SEARCH}coffee+sandbox:handshake", transport)
    assert response.status == status


@pytest.fixture
def remote_browser(tmp_path):
    """A remote browser's process, and the URL of its debugging port."""
    arguments = ["--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={tmp_path}"]
    with subprocess.Popen([CHROMIUM, *arguments, "about:blank"], stderr=subprocess.PIPE, text=True) as process:
        line = next(line for line in process.stderr if "DevTools listening" in line)
        yield process, f"http://{re.search(r'ws://([^/]+)/', line)[1]}"
        process.kill()


async def test_a_remote_browser_is_used(site, remote_browser):
    """A remote browser is used over its debugging port and not closed, for an engine's own sites only."""
    process, url = remote_browser
    async with crawling(site, spider=GoogleWebSpider, BROWSER_URL=url) as crawler:
        response = await fetched(crawler, f"{SEARCH}coffee+sandbox:enablejs")
        assert (response.status, browser_of(crawler).remote) == (200, True)
        assert b'id="rso"' in response.body
    async with crawling(site, BROWSER_URL=url) as crawler:
        with pytest.raises(UpstreamError, match="guard"):
            await fetched(crawler, f"{SEARCH}coffee")
    assert process.poll() is None


@pytest.mark.parametrize("transport", ["http", "impersonate", "browser"])
async def test_every_transport_uses_the_proxy(site, transport):
    """Plain, impersonated and browser requests use the region's proxy, with its user and password."""
    proxy = RegionProxy(site, "de-1", user="us@er", password="p:w/ö")
    url = (await proxy.start()).replace("us@er:p:w/ö", "us%40er:p%3Aw%2F%C3%B6")
    try:
        async with crawling(site, SANDBOX_PROXIES=True, PROXIES=pools([("DE", url)])) as crawler:
            response = await fetched(crawler, f"{SEARCH}coffee", transport, region="DE")
            assert (response.status, response.headers["x-sandbox-proxy"]) == (200, b"de-1")
    finally:
        await proxy.stop()


async def test_without_a_proxy_the_browser_connects_directly():
    """Without sandbox and proxy the browser reaches addresses that the operator allows, and no private others."""

    async def reply(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<p>hi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    allow = {"EGRESS_PORTS": [port], "EGRESS_ALLOW": [ipaddress.ip_network("127.0.0.2")]}
    settings = scrapy_settings()
    settings.setdict({"ON_DEMAND": True, **allow})
    warm = WarmCrawler(Crawler(Visitor, settings))
    await warm._start()
    try:
        response = await fetched(warm._crawler, f"http://127.0.0.2:{port}/")
        assert response.css("p::text").get() == "hi"
        with pytest.raises(TargetError):
            await fetched(warm._crawler, f"http://127.0.0.1:{port}/")
    finally:
        await warm.close()
        server.close()


async def test_a_browser_that_does_not_start_is_an_error():
    """A browser that does not start is an upstream error, without its path."""
    browser = Browser("/nonexistent/chromium")
    with pytest.raises(UpstreamError, match=r"^no browser could be started$") as caught:
        await browser.open()
    assert caught.value.kind == "browser"
    await browser.close()


@pytest.mark.slow
async def test_a_stopped_service_leaves_no_process(start):
    """SIGTERM ends the service, its driver and its browser."""
    with start(WEBDATA_TRANSPORTS="http,browser") as running:
        get = asyncio.to_thread(running.get, "/v1/search?q=coffee+sandbox:challenge")
        status, headers, _ = await get
        assert (status, headers["x-transport"]) == (200, "browser")
        processes = family(running.process.pid)
        assert len(processes) > 1
        await asyncio.to_thread(running.stop)
        assert await gone(processes)


async def test_reddits_pages_answer_when_all_else_is_blocked(site):
    """Where the API, the JSON and the feeds are blocked a browser's page has the posts, with their scores."""
    settings = project(site)
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=4)
    try:
        query = ForumSubforumQuery(subforum="sandbox_page_only")
        answer = await warm.answer(Call(FORUM_SUBFORUM, query, sandbox=True, deadline=90))
    finally:
        await warm.close(10)
    posts = [thing["data"] for thing in answer.record["data"]["children"]]
    assert (answer.outcome, answer.partial, answer.transport) == (Outcome.OK, "html", "browser")
    assert all(isinstance(post["score"], int) and isinstance(post["num_comments"], int) for post in posts)
    assert posts
