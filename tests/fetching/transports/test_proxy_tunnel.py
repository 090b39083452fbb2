"""Downloads through proxies, over sockets."""

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest
import pytest_twisted
import trustme
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.test import get_crawler

from tests.recording_sandbox import Recording
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports import proxy_tunnel
from webdata.fetching.transports.proxy_tunnel import ProxiedHandler
from webdata.sandbox.proxies import SERVED_BY, Behaviour, RegionProxy

PAGES = ["http://www.google.com/search?q=coffee", "https://www.google.com/search?q=coffee"]

pytestmark = pytest.mark.task


@asynccontextmanager
async def region_proxy(behaviour=None, **options):
    """A region proxy in front of a sandbox, and its URL."""
    proxy = RegionProxy(Recording(), "DE-1", behaviour, **options)
    try:
        yield proxy, await proxy.start()
    finally:
        await proxy.stop()


@asynccontextmanager
async def scripted(serve, tls=None):
    """A proxy whose connections are served by a coroutine function of reader and writer: yields its URL."""
    tasks = set()

    async def accept(reader, writer):
        tasks.add(asyncio.current_task())
        with suppress(OSError, asyncio.CancelledError):
            await serve(reader, writer)
        await close(writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def close(writer):
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@pytest_twisted.async_yield_fixture
async def handler():
    running = ProxiedHandler(get_crawler(settings_dict={"DOWNLOAD_VERIFY_CERTIFICATES": False}))
    yield running
    await deferred_from_coro(running.close())


async def fetch(handler, url, proxy, seconds=5.0):
    request = Request(url, meta={FETCH: Fetch(proxy="DE-1"), "proxy": proxy, "download_timeout": seconds})
    HttpProxyMiddleware().process_request(request)
    return await handler.download_request(request)


@pytest.mark.parametrize("page", PAGES)
async def test_pages_are_downloaded_through_a_proxy(handler, page):
    """Both schemes work with the proxy's user and password, which are not sent to the target."""
    async with region_proxy(user="me", password="secret") as (proxy, url):
        response = await fetch(handler, page, url)
        assert (response.status, response.headers[SERVED_BY]) == (200, b"DE-1")
        (received,) = proxy._sandbox.requests
        assert not any("secret" in text or name.startswith("proxy") for name, text in received.headers.items())


@pytest.mark.parametrize("page", PAGES)
async def test_connections_are_reused(handler, page):
    """The second page uses the connection or tunnel of the first."""
    async with region_proxy() as (proxy, url):
        await fetch(handler, page, url)
        connections = set(proxy.listener.open)
        assert (await fetch(handler, page, url)).status == 200
        assert proxy.listener.open == connections


async def test_without_a_proxy_a_request_goes_to_its_target(handler):
    """Scrapy's own handler downloads it."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    async with scripted(serve) as url:
        assert (await handler.download_request(Request(url))).body == b"hi"


async def relay(reader, writer):
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
    await close(writer)


@pytest.mark.parametrize("page", PAGES)
async def test_https_proxies_are_supported(handler, page):
    """http targets are downloaded over the proxy's TLS, https targets over TLS within TLS."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(tls)
    async with region_proxy(user="me", password="secret") as (_, plain):

        async def serve(reader, writer):
            upstream = await asyncio.open_connection(urlsplit(plain).hostname, urlsplit(plain).port)
            try:
                await asyncio.gather(relay(reader, upstream[1]), relay(upstream[0], writer))
            finally:
                await close(upstream[1])

        async with scripted(serve, tls) as url:
            through = url.replace("//", "//me:secret@")
            for _ in range(2):
                response = await fetch(handler, page, through)
                assert (response.status, response.headers[SERVED_BY]) == (200, b"DE-1")
                assert b"coffee" in response.body


async def test_the_certificate_of_an_https_proxy_is_verified():
    """With verification on, nothing is sent to a proxy whose certificate has no trusted authority."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(tls)
    received = []

    async def serve(reader, writer):
        received.append(await reader.read(100))

    verifying = ProxiedHandler(get_crawler(settings_dict={"DOWNLOAD_VERIFY_CERTIFICATES": True}))
    async with scripted(serve, tls) as url:
        with pytest.raises(TunnelError):
            await fetch(verifying, PAGES[1], url)
    assert received in ([], [b""])
    await verifying.close()


async def hang_up(reader, writer):
    await reader.readuntil(b"\r\n\r\n")


async def refuse(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")


async def babble(reader, writer):
    writer.write(b"SSH-2.0-x\r\n\r\n")
    await reader.read()


async def flood(reader, writer):
    writer.write(b"x" * 100_000)
    await reader.read()


async def break_at_the_handshake(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await reader.read(1)


@pytest.mark.parametrize("serve", [hang_up, refuse, babble, flood, break_at_the_handshake])
async def test_a_tunnel_that_is_not_opened_is_a_tunnel_error(handler, serve):
    """A failure before the target's first byte is reported at once, and the message contains no address."""
    async with scripted(serve) as url:
        async with asyncio.timeout(2):
            with pytest.raises(TunnelError) as error:
                await fetch(handler, PAGES[1], url.replace("//", "//me:secret@"))
    assert not any(word in str(error.value) for word in ("127.0.0.1", "secret", str(urlsplit(url).port)))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("behaviour", [Behaviour(dead=True), Behaviour(locked=True), Behaviour(flaky=1)])
async def test_a_failing_proxy_is_a_tunnel_error(handler, page, behaviour):
    """Refused connections, refused passwords and broken connections are TunnelErrors for http and https."""
    async with region_proxy(behaviour, user="me", password="secret") as (_, url):
        with pytest.raises(TunnelError) as error:
            await fetch(handler, page, url)
    assert not any(word in str(error.value) for word in ("127.0.0.1", "secret", str(urlsplit(url).port)))


async def test_a_silent_proxy_fails_before_the_download_timeout(handler, monkeypatch):
    """A proxy that does not answer is a TunnelError after READY_SECONDS."""
    monkeypatch.setattr(proxy_tunnel, "READY_SECONDS", 0.2)

    async def be_silent(reader, writer):
        await reader.read(100)
        await reader.read()

    async with scripted(be_silent) as url, asyncio.timeout(2):
        with pytest.raises(TunnelError, match="in time"):
            await fetch(handler, PAGES[1], url, seconds=20)


async def opened(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await reader.read()


async def opened_late(reader, writer):
    await asyncio.sleep(0.2)
    await opened(reader, writer)


@pytest.mark.parametrize("serve", [opened, opened_late])
async def test_a_silent_tunnel_fails_before_the_download_timeout(handler, monkeypatch, serve):
    """Without a byte of the target's handshake the connection to the proxy is closed after READY_SECONDS."""
    monkeypatch.setattr(proxy_tunnel, "READY_SECONDS", 0.4)
    closed = asyncio.Event()

    async def watched(reader, writer):
        with suppress(OSError):
            await serve(reader, writer)
            while await reader.read(1000):
                pass
        closed.set()

    begun = asyncio.get_running_loop().time()
    async with scripted(watched) as url, asyncio.timeout(2):
        with pytest.raises(TunnelError, match="nothing of the upstream"):
            await fetch(handler, PAGES[1], url, seconds=20)
        await closed.wait()
    assert asyncio.get_running_loop().time() - begun == pytest.approx(0.4, abs=0.15)


async def test_a_working_tunnel_may_be_slow(handler, monkeypatch):
    """READY_SECONDS does not limit a download after the target's first byte, nor the next one in the same tunnel."""
    monkeypatch.setattr(proxy_tunnel, "READY_SECONDS", 0.3)
    async with region_proxy(Behaviour(slow=0.5)) as (_, url):
        for _ in range(2):
            assert (await fetch(handler, PAGES[1], url)).status == 200


@pytest.mark.parametrize("page", PAGES)
async def test_failures_of_the_target_are_not_tunnel_errors(handler, page):
    """Errors, timeouts and resets of a target through a working tunnel are the same as without a proxy."""
    async with region_proxy() as (_, url):
        assert (await fetch(handler, f"{page}+sandbox:error", url)).status == 500
        with pytest.raises(DownloadTimeoutError):
            await fetch(handler, f"{page}+sandbox:slow", url, seconds=0.3)
    async with region_proxy() as (_, url):
        reset = DownloadFailedError if page.startswith("https") else TunnelError
        with pytest.raises(reset):
            await fetch(handler, f"{page}+sandbox:reset", url)


async def test_failures_of_a_proxy_without_a_label_count_as_the_targets(handler):
    """A connection that breaks at the sandbox's own proxy, which has no label, is a failed download."""
    async with region_proxy() as (_, url):
        request = Request(f"{PAGES[0]}+sandbox:reset", meta={"proxy": url, "download_timeout": 5})
        with pytest.raises(DownloadFailedError):
            await handler.download_request(request)


async def test_a_timeout_closes_the_connection_to_the_proxy(handler):
    """The connection is closed when the download times out before the tunnel is open."""
    closed = asyncio.Event()

    async def wait(reader, writer):
        with suppress(OSError):
            while await reader.read(100):
                pass
        closed.set()

    async with scripted(wait) as url:
        with pytest.raises((TunnelError, DownloadTimeoutError)):
            await fetch(handler, PAGES[1], url, seconds=0.2)
        async with asyncio.timeout(2):
            await closed.wait()
