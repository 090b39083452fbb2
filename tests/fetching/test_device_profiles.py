"""The headers that each transport sends for a device, as the sandbox and a plain listener receive them."""

import asyncio
import re

import pytest
import pytest_twisted
from curl_cffi.requests.impersonate import BrowserTypeLiteral
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import WarmCrawler, scrapy_settings
from webdata.domain.query import Device
from webdata.fetching import device_profiles
from webdata.fetching.device_profiles import BRANDS, IDENTITIES, VERSION, brands, identity
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.sandbox.server import Sandbox

PAGE = [
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "upgrade-insecure-requests",
    "user-agent",
    "accept",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-user",
    "sec-fetch-dest",
    "accept-encoding",
    "accept-language",
]
PLAIN = [name for name in PAGE if not name.startswith("sec-")]
OF_CONNECTIONS = ("host", "connection", "proxy-connection")
URL = "https://www.google.com/search?q=coffee"


class RecordingSandbox(Sandbox):
    """A sandbox that stores the last request."""

    def answer(self, request):
        self.request = request
        return super().answer(request)


class Visitor(Spider):
    name = "visitor"


@pytest_twisted.async_yield_fixture(scope="module")
async def sandbox(starts):
    one = RecordingSandbox()
    one.url = await deferred_from_coro(one.start())
    yield one
    await deferred_from_coro(one.stop())


@pytest_twisted.async_yield_fixture(scope="module")
async def crawler(sandbox):
    """A crawler with all of the project's middlewares but those for engines."""
    settings = scrapy_settings()
    settings.setdict(
        {"ON_DEMAND": True, "SANDBOX": True, "SANDBOX_URL": sandbox.url, "DOWNLOAD_VERIFY_CERTIFICATES": False}
    )
    warm = WarmCrawler(Crawler(Visitor, settings))
    await deferred_from_coro(warm._start())
    yield warm._crawler
    await deferred_from_coro(warm.close())


async def sent(crawler, sandbox, transport, device, url=URL, **headers):
    meta = {FETCH: Fetch(QueryRun(device=device), transport=transport), "cookiejar": device}
    await crawler.engine.download_async(Request(url, headers=headers, meta=meta, dont_filter=True))
    return {name: value for name, value in sandbox.request.headers.items() if name not in OF_CONNECTIONS}


@pytest.mark.task
@pytest.mark.parametrize("transport", ["http", "impersonate"])
@pytest.mark.parametrize("device", Device)
async def test_a_page_is_requested_with_chromes_headers(crawler, sandbox, transport, device):
    """Both transports send the headers of one identity only, in Chrome's order."""
    headers = await sent(crawler, sandbox, transport, device, **{"Accept-Language": "de,en;q=0.9"})
    assert list(headers) == PAGE
    expected = {name.lower(): value for name, value in identity(device).page_headers().items()}
    assert headers == {**expected, "accept-language": "de,en;q=0.9"}


@pytest.mark.task
@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_plain_http_has_fewer_headers(crawler, sandbox, transport):
    """To plain HTTP both transports send only the headers that Chrome sends."""
    headers = await sent(crawler, sandbox, transport, None, URL.replace("https", "http"))
    assert list(headers) == PLAIN
    assert headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.task
@pytest.mark.parametrize("transport", ["http", "impersonate"])
async def test_a_script_has_other_headers_than_a_page(crawler, sandbox, transport):
    """A request with `Accept: */*` has the headers of a script's fetch."""
    given = {"Accept": "*/*", "Referer": "https://www.google.com/"}
    headers = await sent(crawler, sandbox, transport, None, **given)
    assert [headers[f"sec-fetch-{what}"] for what in ("site", "mode", "dest")] == ["same-origin", "cors", "empty"]
    assert not {"upgrade-insecure-requests", "sec-fetch-user"} & set(headers)
    assert list(headers)[-3:] == ["referer", "accept-encoding", "accept-language"]


@pytest.mark.task
async def test_cookies_are_the_last_header(crawler, sandbox):
    """The cookie follows Chrome's other headers."""
    meta = {"cookiejar": "own"}
    request = Request(URL, cookies={"a": "b"}, meta=meta, dont_filter=True)
    await crawler.engine.download_async(request)
    assert [name for name in sandbox.request.headers if name not in ("host", "connection")] == [*PAGE, "cookie"]


@pytest.mark.task
@pytest.mark.usefixtures("starts")
async def test_the_order_of_headers_is_the_same_on_the_wire():
    """The bytes have the headers in the same order, before those that Twisted adds."""
    received = asyncio.get_running_loop().create_future()

    async def reply(reader, writer):
        received.set_result(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    settings = scrapy_settings()
    settings.setdict({"ON_DEMAND": True, "EGRESS_GUARD": False})  # the server is on loopback
    warm = WarmCrawler(Crawler(Visitor, settings))
    await warm._start()
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    await warm._crawler.engine.download_async(Request(url, dont_filter=True))
    await warm.close()
    server.close()
    names = [line.partition(b":")[0].decode().lower() for line in (await received).split(b"\r\n")[1:-2]]
    assert [name for name in names if name not in ("host", "connection")] == PLAIN
    assert names[-1] == "host"


@pytest.mark.parametrize("device", Device)
def test_an_identity_is_consistent(device):
    """User agent, hints, TLS profile and viewport are those of one device and version."""
    who = IDENTITIES[device]
    headers = who.page_headers()
    mobile = device is Device.MOBILE
    assert headers["User-Agent"] == headers["User-Agent"].replace("Headless", "")
    assert set(re.findall(r'(?:Chromium|Google Chrome)";v="(\d+)"', BRANDS)) == {VERSION}
    assert f"Chrome/{VERSION}.0.0.0" in headers["User-Agent"]
    assert f"chrome{VERSION}" == device_profiles.PROFILE
    assert headers["Sec-Ch-Ua-Mobile"] == ("?1" if mobile else "?0")
    assert ("Mobile" in headers["User-Agent"], who.mobile) == (mobile, mobile)
    assert who.platform in headers["User-Agent"]
    assert (who.viewport[0] < who.viewport[1]) is mobile


def test_the_profile_is_the_newest():
    """The profile is curl_cffi's newest Chrome; when a newer one is released the table must be updated."""
    versions = [int(name[6:]) for name in BrowserTypeLiteral.__args__ if re.fullmatch(r"chrome\d+", name)]
    assert int(VERSION) == max(versions)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("131", [("Google Chrome", "131"), ("Chromium", "131"), ("Not_A Brand", "24")]),
        ("150", [("Not;A=Brand", "8"), ("Chromium", "150"), ("Google Chrome", "150")]),
        (
            "156.0.8078.79",
            [("Not:A-Brand", "8.0.0.0"), ("Chromium", "156.0.8078.79"), ("Google Chrome", "156.0.8078.79")],
        ),
    ],
)
def test_brands_are_those_of_chromes_version(version, expected):
    """Names, versions and order are those that these versions of Chrome send."""
    assert brands(version) == expected


def test_the_user_agent_has_the_browsers_version():
    """The user agent has the first number of the browser's version, as Chrome's has."""
    assert " Chrome/156.0.0.0 " in identity(None).user_agent("156.0.8078.79")
