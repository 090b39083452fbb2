"""Downloads with a browser's TLS, from the sandbox and from listeners on loopback."""

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
from webdata.domain.errors import RateLimitedError, TargetError
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.rule import Rule
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports import impersonate
from webdata.fetching.transports.impersonate import ImpersonateHandler, _failure
from webdata.runtime.process.shares import MEBIBYTE, CallShare, HeldBytes
from webdata.sandbox.proxies import Behaviour, RegionProxy
from webdata.sandbox.server import Sandbox

pytestmark = pytest.mark.task


class Visitor(Spider):
    name = "visitor"


@asynccontextmanager
async def crawling(**settings):
    own = scrapy_settings()
    own.setdict({"ON_DEMAND": True, "EGRESS_GUARD": False, **settings})
    warm = WarmCrawler(Crawler(Visitor, own))
    await warm._start()
    try:
        yield warm._crawler
    finally:
        await warm.close()


@asynccontextmanager
async def listening(answer=b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"):
    """A site on loopback: yields its port and the requests that it receives."""
    requests = []

    async def take(reader, writer):
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        if not answer:
            await reader.read()
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], requests


def request(url, label=None, **meta):
    fetch = Fetch(transport="impersonate", proxy=label)
    return Request(url, meta={FETCH: fetch, **meta}, dont_filter=True)


async def test_a_page_is_downloaded():
    """The response is the site's, and its request is the one that was sent."""
    async with crawling() as crawler, listening() as (port, requests):
        sent = request(f"http://127.0.0.1:{port}/")
        response = await crawler.engine.download_async(sent)
    assert (response.status, response.body, response.flags) == (200, b"ok", ["impersonate"])
    assert "impersonate_args" not in response.request.meta
    assert b"Chrome/" in requests[0]


async def test_libcurl_connects_to_the_checked_address():
    """The guard resolves a name, and libcurl makes no look-up of its own."""
    lookups = []

    async def resolver(name, caller):
        lookups.append(name)
        return [ipaddress.ip_address("127.0.0.1")]

    async with crawling() as crawler, listening() as (port, requests):
        guard = Guard(Rule(frozenset([port]), (ipaddress.ip_network("127.0.0.1"),)), resolver)
        response = await ImpersonateHandler(crawler, guard).download_request(request(f"http://name.example:{port}/"))
    assert (response.body, lookups) == (b"ok", ["name.example"])
    assert f"Host: name.example:{port}".encode() in requests[0]


async def test_a_guarded_crawler_refuses_other_targets():
    """A target that the guard does not allow receives nothing."""
    async with listening() as (port, requests), crawling(EGRESS_GUARD=True, EGRESS_PORTS=[port]) as crawler:
        for host in ("127.0.0.1", "localhost", "0x7f.1"):
            with pytest.raises(TargetError):
                await crawler.engine.download_async(request(f"http://{host}:{port}/"))
        assert not requests


async def test_proxies_of_the_environment_are_ignored(monkeypatch):
    """Scrapy reads the environment's proxies; libcurl must not."""
    async with crawling(HTTPPROXY_ENABLED=False) as crawler, listening() as (port, requests):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        monkeypatch.setenv("all_proxy", "http://127.0.0.1:1")
        await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))
    assert requests


async def test_a_silent_site_is_a_timeout():
    """The request's deadline ends the download."""
    async with crawling(DEADLINE=0.3) as crawler, listening(b"") as (port, _):
        with pytest.raises(DownloadTimeoutError):
            await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))


SILENT, OPEN = b"", b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize("answer", [SILENT, OPEN])
async def test_a_silent_proxy_fails_before_the_download_timeout(monkeypatch, answer):
    """A proxy that opens no tunnel, or a tunnel without a byte, is a TunnelError after READY_SECONDS."""
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
    ("behaviour", "message"),
    [
        (Behaviour(dead=True), "did not connect"),
        (Behaviour(locked=True), r"\(407\)"),
        (Behaviour(flaky=1), "broke the connection"),
    ],
)
async def test_a_failing_proxy_is_a_tunnel_error(scheme, behaviour, message):
    """Refused connections, refused passwords and broken connections raise the same error as in plain downloads."""
    proxy = RegionProxy(Sandbox(), "DE-1", behaviour)
    async with crawling() as crawler:
        handler = ImpersonateHandler(crawler, None)
        sent = request(f"{scheme}://www.google.com/search?q=coffee", "DE-1", proxy=await proxy.start())
        with pytest.raises(TunnelError, match=message) as error:
            await handler.download_request(sent)
    await proxy.stop()
    assert "127.0.0.1" not in str(error.value)


async def test_a_reset_of_the_target_is_not_a_failure_of_the_proxy():
    """A reset after the target's handshake, or at a proxy without a label, is a failed download."""
    proxy = RegionProxy(Sandbox(), "DE-1")
    proxy_url = await proxy.start()
    async with crawling(DOWNLOAD_VERIFY_CERTIFICATES=False) as crawler:
        handler = ImpersonateHandler(crawler, None)
        for scheme, label in (("https", "DE-1"), ("http", None)):
            sent = request(f"{scheme}://www.google.com/search?q=coffee+sandbox:reset", label, proxy=proxy_url)
            with pytest.raises(DownloadFailedError):
                await handler.download_request(sent)
    await proxy.stop()


async def test_a_slow_site_behind_a_proxy_is_a_timeout():
    """A delay after the connection to the proxy is not a TunnelError."""
    async with crawling(DEADLINE=0.5) as crawler, listening(b"") as (port, _):
        with pytest.raises(DownloadTimeoutError):
            await crawler.engine.download_async(request("http://site.example/", proxy=f"http://127.0.0.1:{port}"))


async def test_a_large_body_counts_for_its_caller_while_it_arrives():
    """A download that would exceed what its caller's key may hold ends at once with that error."""
    held = HeldBytes(most_of_one=3 * MEBIBYTE)
    share, other = CallShare("key_a", held), CallShare("key_a", held)
    other.hold(2 * MEBIBYTE)
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    async with crawling() as crawler, listening(head + bytes(8 * MEBIBYTE)) as (port, _):
        page, refused = request(f"http://127.0.0.1:{port}/"), request(f"http://127.0.0.1:{port}/")
        Fetch.of(refused).run.share = share
        with pytest.raises(RateLimitedError):
            await crawler.engine.download_async(refused)
        assert (held.of("key_a"), held.total) == (2 * MEBIBYTE, 2 * MEBIBYTE)
        other.release()
        Fetch.of(page).run.share = other_call = CallShare("key_a", held)
        assert len((await crawler.engine.download_async(page)).body) == other_call.bytes_held == 8 * MEBIBYTE


async def test_blanks_behind_the_sizes_of_chunks_are_read():
    """A chunked body whose sizes are padded is whole, as in plain downloads."""
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n000002  \r\nok\r\n2 \t;a=b\r\n!!\r\n0  \r\n\r\n"
    async with crawling() as crawler, listening(answer) as (port, _):
        response = await crawler.engine.download_async(request(f"http://127.0.0.1:{port}/"))
    assert response.body == b"ok!!"


async def test_a_body_that_is_cut_off_is_data_loss():
    """A body shorter than its Content-Length raises the same error as in plain downloads."""
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
async def test_curl_errors_become_the_errors_of_plain_downloads(error, kind):
    """Each error of curl_cffi is mapped to one exception of Scrapy."""
    assert type(_failure(error)) is kind
