"""Plain downloads, over real sockets."""

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_twisted
import trustme
from scrapy import Request
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

from webdata.transports import http
from webdata.transports.http import IDLE, BoundedHandler, SharedContext

LARGE = 32 * 1024 * 1024
"""Bytes that the buffers of two sockets do not hold."""

pytestmark = pytest.mark.task


class Site:
    """Answers each connection with the head of a body of so many bytes, and then with the body."""

    def __init__(self, length):
        self.length = length
        self.asked = asyncio.Queue()
        """Of each connection: what has it go on with its body, and what tells that all of it is sent."""

    @asynccontextmanager
    async def running(self):
        """Its URL."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        finally:
            server.close()

    async def serve(self, reader, writer):
        go_on, sent = asyncio.Event(), asyncio.Event()
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.length)
            self.asked.put_nowait((go_on, sent))
            await go_on.wait()
            writer.write(bytes(self.length))
            await writer.drain()
            sent.set()
        writer.close()


@pytest_twisted.async_yield_fixture
async def handler(monkeypatch):
    """One that reads a single body at once."""
    monkeypatch.setattr(http, "BODIES", 1)
    running = BoundedHandler(get_crawler(settings_dict={"DOWNLOAD_WARNSIZE": 0}))
    yield running
    await deferred_from_coro(running.close())


def begun(handler, url, seconds=20):
    return asyncio.ensure_future(handler.download_request(Request(url, meta={"download_timeout": seconds})))


async def test_a_body_waits_where_it_is(handler):
    """Beyond the bound a body is not read, which holds up its sender, until another has been read."""
    site = Site(LARGE)
    async with site.running() as url:
        first = begun(handler, url)
        one_goes_on, _ = await asyncio.wait_for(site.asked.get(), 5)
        second = begun(handler, url)
        other_goes_on, other_sent = await asyncio.wait_for(site.asked.get(), 5)
        other_goes_on.set()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(other_sent.wait(), 0.5)
        one_goes_on.set()
        bodies = [len((await download).body) for download in (first, second)]
    assert bodies == [LARGE, LARGE]


async def test_a_slow_body_holds_nobody_up(handler, monkeypatch):
    """A body that takes long to come counts for a while only."""
    monkeypatch.setattr(http, "SLOW_BODY", 0.1)
    site = Site(1000)
    async with site.running() as url:
        slow = begun(handler, url)
        slow_goes_on, _ = await asyncio.wait_for(site.asked.get(), 5)
        other = begun(handler, url)
        other_goes_on, _ = await asyncio.wait_for(site.asked.get(), 5)
        other_goes_on.set()
        assert len((await asyncio.wait_for(other, 5)).body) == 1000
        assert not slow.done()
        slow_goes_on.set()
        assert len((await slow).body) == 1000


async def test_who_waits_in_vain_leaves_no_trace(handler):
    """A download whose time is over while its body waits ends in time, and others are read after it."""
    site = Site(1000)
    async with site.running() as url:
        first = begun(handler, url)
        one_goes_on, _ = await asyncio.wait_for(site.asked.get(), 5)
        hasty = begun(handler, url, seconds=0.3)
        await asyncio.wait_for(site.asked.get(), 5)
        with pytest.raises(DownloadTimeoutError):
            await asyncio.wait_for(hasty, 1.5)
        one_goes_on.set()
        assert len((await first).body) == 1000
        third = begun(handler, url)
        (await asyncio.wait_for(site.asked.get(), 5))[0].set()
        assert len((await third).body) == 1000


async def test_one_look_at_slow_bodies(monkeypatch):
    """However often bodies begin to wait, one timer looks for those that are slow."""
    later = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda seconds, look: later.append(look))
    monkeypatch.setattr(http, "BODIES", 1)
    bodies = http.Bodies()
    for _ in range(3):
        read, waiting = Deferred(), Deferred()
        bodies.admit(read, Paused())
        bodies.admit(waiting, Paused())
        read.callback(None)
        waiting.callback(None)
    assert len(later) == 1


class Paused:
    """A connection that may be held up."""

    def pauseProducing(self):  # noqa: N802  # Twisted's name
        """Nothing."""

    def resumeProducing(self):  # noqa: N802  # Twisted's name
        """Nothing."""


def test_few_idle_connections_are_kept():
    """However many requests a site may get at once, few of their connections stay."""
    crawler = get_crawler(settings_dict={"CONCURRENT_REQUESTS_PER_DOMAIN": 1024})
    assert BoundedHandler(crawler)._pool.maxPersistentPerHost == IDLE


class Greeted(Protocol):
    """Knows when the first byte has come: the handshake is over then."""

    def __init__(self):
        self.heard = Deferred()

    def dataReceived(self, data):  # noqa: N802  # Twisted's name
        if not self.heard.called:
            self.heard.callback(None)

    def connectionLost(self, reason):  # noqa: N802  # Twisted's name
        if not self.heard.called:
            self.heard.errback(reason)


async def test_one_context_checks_every_host():
    """Connections to all hosts share a context, and each is held to the name of its own host."""
    ca, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("one.example", "two.example").configure_cert(tls)
    trusted = trustRootFromCertificates([Certificate.loadPEM(ca.cert_pem.bytes())])
    policy, contexts = SharedContext(BrowserLikePolicyForHTTPS(trusted)), []

    async def greet(reader, writer):
        writer.write(b"hello")

    async def greeted(host, port):
        way = wrapClientTLS(policy.creatorForNetloc(host, port), HostnameEndpoint(reactor, "127.0.0.1", port))
        protocol = await maybe_deferred_to_future(connectProtocol(way, Greeted()))
        contexts.append(protocol.transport.getHandle().get_context())
        await maybe_deferred_to_future(protocol.heard)
        protocol.transport.abortConnection()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    try:
        await greeted(b"one.example", port)
        await greeted(b"two.example", port)
        with pytest.raises(VerificationError):
            await greeted(b"three.example", port)
    finally:
        server.close()
    assert len(contexts) == 3
    assert len(set(contexts)) == 1
