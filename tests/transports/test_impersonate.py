"""Requests with a browser's TLS, to the sandbox and to listeners on loopback."""

import asyncio
import ipaddress
from contextlib import asynccontextmanager

import pytest
from curl_cffi import CurlECode
from curl_cffi.requests import exceptions
from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from webdata.crawling.warm_crawlers import WarmCrawler, scrapy_settings
from webdata.domain.errors import TargetError
from webdata.egress.guard import Guard
from webdata.egress.rule import Rule
from webdata.fetching.fetch import FETCH, Fetch
from webdata.sandbox.proxies import Behaviour, RegionProxy
from webdata.sandbox.server import Sandbox
from webdata.transports import impersonate
from webdata.transports.impersonate import ImpersonateHandler, _failure

pytestmark = pytest.mark.task


class Visitor(Spider):
    name = "visitor"


@asynccontextmanager
async def crawling(**settings):
    own = scrapy_settings()
    own.setdict({"ON_DEMAND": True, **settings})
    warm = WarmCrawler(Crawler(Visitor, own))
    await warm._start()
    try:
        yield warm._crawler
    finally:
        await warm.close()


@asynccontextmanager
async def listening(answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"):
    """A site on loopback, and what it was asked."""
    asked = []

    async def take(reader, writer):
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        if not answer:
            await reader.read()
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


def request(url, **meta):
    return Request(url, meta={FETCH: Fetch(transport="impersonate"), **meta}, dont_filter=True)


async def test_a_page_is_won():
    """The response is the site's, with the request that Scrapy knows."""
    async with crawling() as crawler, listening() as (port, asked):
        sent = request(f"http://127.0.0.1:{port}/")
        response = await crawler.engine.download_async(sent)
    assert (response.status, response.body, response.flags) == (200, b"ok", ["impersonate"])
    assert "impersonate_args" not in response.request.meta
    assert b"Chrome/" in asked[0]


async def test_the_checked_address_is_the_one_that_is_reached():
    """A guarded name is looked up once, by the guard: libcurl is told its address."""
    looked = []

    async def resolver(name):
        looked.append(name)
        return [ipaddress.ip_address("127.0.0.1")]

    async with crawling() as crawler, listening() as (port, asked):
        guard = Guard(Rule(frozenset([port]), (ipaddress.ip_network("127.0.0.1"),)), resolver)
        response = await ImpersonateHandler(crawler, guard).download_request(request(f"http://name.example:{port}/"))
    assert (response.body, looked) == (b"ok", ["name.example"])
    assert f"Host: name.example:{port}".encode() in asked[0]


async def test_a_guarded_crawler_reaches_nothing_else():
    """What the guard does not allow sees no byte."""
    async with listening() as (port, asked), crawling(EGRESS_GUARD=True, EGRESS_PORTS=[port]) as crawler:
        for host in ("127.0.0.1", "localhost", "0x7f.1"):
            with pytest.raises(TargetError):
                await crawler.engine.download_async(request(f"http://{host}:{port}/"))
        assert not asked


async def test_proxies_of_the_machine_are_not_taken(monkeypatch):
    """What the environment says of proxies is Scrapy's to read, not libcurl's."""
    async with crawling(HTTPPROXY_ENABLED=False) as crawler, listening() as (port, asked):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
        await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))
    assert asked


async def test_a_silent_site_is_a_timeout():
    """The request's own time ends it."""
    async with crawling(DEADLINE=0.3) as crawler, listening(b"") as (port, _):
        with pytest.raises(DownloadTimeoutError):
            await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))


SILENT, OPEN = b"", b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize("answer", [SILENT, OPEN])
async def test_a_mute_proxy_does_not_take_all_of_the_time(monkeypatch, answer):
    """One that opens no way, or one through which nothing comes, is left after a while: that is its own failure."""
    monkeypatch.setattr(impersonate, "READY_SECONDS", 0.2)

    async def take(reader, writer):
        writer.write(answer)
        while await reader.read(1000):
            pass
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with crawling(HTTPPROXY_ENABLED=False) as crawler, server, asyncio.timeout(3):
        proxy = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(TunnelError, match="in time"):
            await crawler.engine.download_async(request("https://www.google.com/", proxy=proxy))


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (Behaviour(dead=True), "did not open a way"),
        (Behaviour(locked=True), r"\(407\)"),
        (Behaviour(flaky=1), "broke the connection"),
    ],
)
async def test_a_proxy_that_does_not_serve_is_the_proxys_failure(scheme, behaviour, words):
    """Refused connections, refused passwords and connections that break are told as plain downloads tell them."""
    proxy = RegionProxy(Sandbox(), "DE-1", behaviour)
    async with crawling() as crawler:
        handler = ImpersonateHandler(crawler, None)
        asked = request(f"{scheme}://www.google.com/search?q=coffee", proxy=proxy.start(), proxy_label="DE-1")
        with pytest.raises(TunnelError, match=words) as error:
            await handler.download_request(asked)
    await proxy.stop()
    assert "127.0.0.1" not in str(error.value)


async def test_what_breaks_behind_a_proxy_is_the_targets_doing():
    """A reset after the handshake with the target, or at a proxy without a label, is no failure of the proxy."""
    proxy = RegionProxy(Sandbox(), "DE-1")
    way = proxy.start()
    async with crawling(DOWNLOAD_VERIFY_CERTIFICATES=False) as crawler:
        handler = ImpersonateHandler(crawler, None)
        for url, label in (("https", {"proxy_label": "DE-1"}), ("http", {})):
            asked = request(f"{url}://www.google.com/search?q=coffee+sandbox:reset", proxy=way, **label)
            with pytest.raises(DownloadFailedError):
                await handler.download_request(asked)
    await proxy.stop()


async def test_a_slow_site_behind_a_proxy_is_a_timeout():
    """What takes its time after the way is open is not the proxy's failure."""
    async with crawling(DEADLINE=0.5) as crawler, listening(b"") as (port, _):
        with pytest.raises(DownloadTimeoutError):
            await crawler.engine.download_async(request("http://site.example/", proxy=f"http://127.0.0.1:{port}"))


async def test_a_page_that_is_cut_off_is_told_so():
    """A body that is shorter than it should be is data loss, as in plain downloads."""
    async with crawling() as crawler, listening(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok") as (port, _):
        with pytest.raises(ResponseDataLossError):
            await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.Timeout("a"), DownloadTimeoutError),
        (exceptions.ProxyError("a"), TunnelError),
        (exceptions.DNSError("a"), CannotResolveHostError),
        (exceptions.ConnectionError("a", CurlECode.COULDNT_CONNECT), DownloadConnectionRefusedError),
        (exceptions.ConnectionError("a", CurlECode.RECV_ERROR), DownloadFailedError),
        (exceptions.RequestException("a", CurlECode.FILESIZE_EXCEEDED), DownloadCancelledError),
        (exceptions.IncompleteRead("a", CurlECode.PARTIAL_FILE), ResponseDataLossError),
    ],
)
async def test_failures_are_told_as_plain_downloads_tell_them(error, kind):
    """Each of curl's errors becomes the one that plain HTTP has for it."""
    assert type(_failure(error)) is kind
