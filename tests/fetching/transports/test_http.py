"""Plain downloads, over sockets."""

import asyncio
import gc
import ssl
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_twisted
import trustme
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import _ResponseReader
from scrapy.exceptions import DownloadTimeoutError
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.test import get_crawler
from service_identity import VerificationError
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint, connectProtocol, wrapClientTLS
from twisted.internet.protocol import Protocol
from twisted.internet.ssl import Certificate, trustRootFromCertificates
from twisted.web.client import BrowserLikePolicyForHTTPS

from webdata.domain.errors import RateLimitedError
from webdata.fetching.connection_pool import MOST_OF_SITE
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.fetching.transports import http
from webdata.fetching.transports.http import BoundedHandler, SharedContext
from webdata.runtime.process.shares import SMALL, CallShare, HeldBytes

LARGE = 32 * 1024 * 1024
"""More bytes than the buffers of two sockets hold."""

pytestmark = pytest.mark.task


class Site:
    """Sends the head of a response to each connection, and its body of `length` bytes when a test continues it."""

    def __init__(self, length, *, declared=True):
        self.length = length
        self.head = (
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length if declared else b"HTTP/1.0 200 OK\r\n\r\n"
        )
        self.responses = asyncio.Queue()
        """Two events for each connection: the first starts the body, the second is set when it is sent."""

    @asynccontextmanager
    async def running(self):
        """Serve, and yield the URL."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        finally:
            server.close()

    async def serve(self, reader, writer):
        start, sent = asyncio.Event(), asyncio.Event()
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self.head)
            self.responses.put_nowait((start, sent))
            await start.wait()
            writer.write(bytes(self.length))
            await writer.drain()
            sent.set()
        writer.close()


@pytest_twisted.async_yield_fixture
async def handler(monkeypatch):
    """A handler that reads one body at once."""
    monkeypatch.setattr(http, "MAX_BODIES", 1)
    running = BoundedHandler(get_crawler(settings_dict={"DOWNLOAD_WARNSIZE": 0}))
    yield running
    await deferred_from_coro(running.close())


def start_download(handler, url, seconds=20):
    return asyncio.ensure_future(handler.download_request(Request(url, meta={"download_timeout": seconds})))


async def test_a_body_beyond_the_limit_is_not_read(handler):
    """Its sender is blocked until another body has been read."""
    site = Site(LARGE)
    async with site.running() as url:
        first = start_download(handler, url)
        start_first, _ = await asyncio.wait_for(site.responses.get(), 5)
        second = start_download(handler, url)
        start_second, second_sent = await asyncio.wait_for(site.responses.get(), 5)
        start_second.set()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(second_sent.wait(), 0.5)
        start_first.set()
        bodies = [len((await download).body) for download in (first, second)]
    assert bodies == [LARGE, LARGE]


async def test_a_slow_body_does_not_block_others(handler, monkeypatch):
    """A body counts towards the limit for SLOW_BODY_SECONDS only."""
    monkeypatch.setattr(http, "SLOW_BODY_SECONDS", 0.1)
    site = Site(1000)
    async with site.running() as url:
        slow = start_download(handler, url)
        start_slow, _ = await asyncio.wait_for(site.responses.get(), 5)
        other = start_download(handler, url)
        start_second, _ = await asyncio.wait_for(site.responses.get(), 5)
        start_second.set()
        assert len((await asyncio.wait_for(other, 5)).body) == 1000
        assert not slow.done()
        start_slow.set()
        assert len((await slow).body) == 1000


async def test_a_timeout_while_a_body_waits_frees_its_slot(handler):
    """The download ends within its own time limit, and later bodies are read."""
    site = Site(1000)
    async with site.running() as url:
        first = start_download(handler, url)
        start_first, _ = await asyncio.wait_for(site.responses.get(), 5)
        short = start_download(handler, url, seconds=0.3)
        await asyncio.wait_for(site.responses.get(), 5)
        with pytest.raises(DownloadTimeoutError):
            await asyncio.wait_for(short, 1.5)
        start_first.set()
        assert len((await first).body) == 1000
        third = start_download(handler, url)
        (await asyncio.wait_for(site.responses.get(), 5))[0].set()
        assert len((await third).body) == 1000


async def test_no_timer_outlives_its_body(monkeypatch):
    """Only bodies that are read have a timer, until they end; nothing holds a page for longer."""
    monkeypatch.setattr(http, "MAX_BODIES", 1)
    bodies = http.BodyLimit()
    read, waiting = Deferred(), Deferred()
    bodies.admit(read, Connection())
    bodies.admit(waiting, Connection())
    [timer] = bodies._counted.values()
    read.callback(None)
    assert timer.cancelled()
    [timer] = bodies._counted.values()
    waiting.callback(None)
    assert timer.cancelled()
    assert not bodies._counted


class Connection:
    """A connection whose reading can be paused."""

    def pauseProducing(self):  # noqa: N802  # Twisted's name
        """Do nothing."""

    def resumeProducing(self):  # noqa: N802  # Twisted's name
        """Do nothing."""


def test_few_idle_connections_stay_open():
    """The limit does not depend on CONCURRENT_REQUESTS_PER_DOMAIN."""
    crawler = get_crawler(settings_dict={"CONCURRENT_REQUESTS_PER_DOMAIN": 1024})
    assert BoundedHandler(crawler)._pool.maxPersistentPerHost == MOST_OF_SITE


class FirstByte(Protocol):
    """Fires `received` at the first byte, after the handshake."""

    def __init__(self):
        self.received = Deferred()

    def dataReceived(self, data):  # noqa: N802  # Twisted's name
        if not self.received.called:
            self.received.callback(None)

    def connectionLost(self, reason):  # noqa: N802  # Twisted's name
        if not self.received.called:
            self.received.errback(reason)


async def test_one_context_verifies_every_host():
    """Connections to all hosts share a context, and each verifies the name of its own host."""
    ca, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("one.example", "two.example").configure_cert(tls)
    trusted = trustRootFromCertificates([Certificate.loadPEM(ca.cert_pem.bytes())])
    policy, contexts = SharedContext(BrowserLikePolicyForHTTPS(trusted)), []

    async def greet(reader, writer):
        writer.write(b"hello")

    async def handshake(host, port):
        endpoint = wrapClientTLS(policy.creatorForNetloc(host, port), HostnameEndpoint(reactor, "127.0.0.1", port))
        protocol = await maybe_deferred_to_future(connectProtocol(endpoint, FirstByte()))
        contexts.append(protocol.transport.getHandle().get_context())
        await maybe_deferred_to_future(protocol.received)
        protocol.transport.abortConnection()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    try:
        await handshake(b"one.example", port)
        await handshake(b"two.example", port)
        with pytest.raises(VerificationError):
            await handshake(b"three.example", port)
    finally:
        server.close()
    assert len(contexts) == 3
    assert len(set(contexts)) == 1


@pytest.mark.parametrize("declared", [True, False])
async def test_a_large_body_counts_for_its_caller_while_it_arrives(handler, declared):
    """A download that would exceed what its caller's key may hold ends at once with that error."""
    held = HeldBytes(most=10 * LARGE, most_of_one=LARGE + SMALL)
    site = Site(LARGE, declared=declared)
    async with site.running() as url:
        shares = [CallShare("key_a", held), CallShare("key_a", held), CallShare("key_b", held)]
        downloads = [
            asyncio.ensure_future(handler.download_request(Request(url, meta={FETCH: Fetch(QueryRun(share=share))})))
            for share in shares
        ]
        for _ in downloads:
            (await asyncio.wait_for(site.responses.get(), 5))[0].set()
        first, second, other = await asyncio.gather(*downloads, return_exceptions=True)
    page, refusal = sorted((first, second), key=lambda result: isinstance(result, RateLimitedError))
    assert (len(page.body), len(other.body)) == (LARGE, LARGE)
    assert isinstance(refusal, RateLimitedError)
    assert held.of("key_b") == LARGE


async def test_a_large_body_counts_from_its_head_on(handler):
    """A download whose declared length would exceed what its caller's key may hold ends before its body arrives."""
    held = HeldBytes(most_of_one=LARGE)
    CallShare("key_a", held).hold(2 * SMALL)
    share = CallShare("key_a", held)
    site = Site(LARGE)
    async with site.running() as url:
        download = handler.download_request(Request(url, meta={FETCH: Fetch(QueryRun(share=share))}))
        with pytest.raises(RateLimitedError):
            await asyncio.wait_for(download, 5)
        (await site.responses.get())[0].set()  # or its connection would stay open
    assert (held.of("key_a"), held.total) == (2 * SMALL, 2 * SMALL)


async def test_a_large_body_that_was_read_is_freed_without_the_garbage_collector(handler):
    """What has counted the bytes of a download does not keep them."""
    share = CallShare("key_a", HeldBytes())
    site = Site(LARGE)
    gc.collect()
    gc.disable()
    try:
        async with site.running() as url:
            download = asyncio.ensure_future(
                handler.download_request(Request(url, meta={FETCH: Fetch(QueryRun(share=share))}))
            )
            (await asyncio.wait_for(site.responses.get(), 5))[0].set()
            assert len((await download).body) == LARGE
        assert not [one for one in gc.get_objects() if isinstance(one, _ResponseReader)]
    finally:
        gc.enable()
