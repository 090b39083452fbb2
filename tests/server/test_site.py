"""The service over real sockets."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_f_from_coro_f
from twisted.internet import reactor
from twisted.internet.task import Clock
from twisted.web.test.requesthelper import DummyChannel

from webdata.api import refusals
from webdata.config.config import Config
from webdata.server.connections import Connections, Phase
from webdata.server.plain_http import secured
from webdata.server.site import MAX_BODY, SLOWEST, BoundedRequest, Site, ascii_only
from webdata.server.tls import ServerTLS

MOST = 4
"""Connections that the site with a clock of its own has room for."""


@pytest.fixture
def port(api):
    listening = reactor.listenTCP(0, api.site(), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


@pytest.fixture
def clock():
    """The time of the connections, which stands still until a test moves it."""
    return Clock()


@pytest.fixture
def connections(clock):
    return Connections(MOST, clock)


@pytest.fixture
def timed(api, connections):
    """A port whose connections live by `clock`."""
    listening = reactor.listenTCP(0, Site(api.resource(), connections, refusals), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


@pytest.fixture
def secure(api, connections, tmp_path):
    """The same by TLS, and what a client trusts."""
    tls = ServerTLS(Config(tls_folder=tmp_path))
    site = secured(Site(api.resource(), connections, refusals, 3600), tls)
    listening = reactor.listenTCP(0, site, interface="127.0.0.1")
    yield listening.getHost().port, ssl.create_default_context(cafile=str(tls.certificate.cert_file))
    listening.stopListening()


def passes(clock, seconds):
    """Let the time of the connections go on."""
    clock.pump([1.0] * seconds)


async def until(condition):
    """Wait for something that the network brings about."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # sockets of the other end signal nothing
            await asyncio.sleep(0.001)


@asynccontextmanager
async def connected(
    port: int, trust: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    try:
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def request(line: str, secret: str) -> bytes:
    return f"{line} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {secret}\r\n\r\n".encode()


async def answer(reader: asyncio.StreamReader, body: bool = True) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = int(re.search(r"content-length: (\d+)", head, re.IGNORECASE)[1])
    return int(head.split()[1]), await reader.readexactly(length) if body else b""


@ensureDeferred
@deferred_f_from_coro_f
async def test_keep_alive(port, test_secret):
    """One connection carries many requests, HEAD among them."""
    async with connected(port) as (reader, writer):
        for method in ("GET", "HEAD", "GET", "HEAD", "GET"):
            writer.write(request(f"{method} /v1/search/q=coffee", test_secret))
            status, body = await answer(reader, body=method == "GET")
            assert (status, body[:1]) == (200, b"{" if method == "GET" else b"")


@ensureDeferred
@deferred_f_from_coro_f
async def test_pipelined(port, test_secret, calls):
    """Requests sent at once on one connection are answered in their order."""
    async with connected(port) as (reader, writer):
        writer.write(b"".join(request(f"GET /v1/search/q=a&num={number}", test_secret) for number in ("1", "x", "3")))
        assert [(await answer(reader))[0] for _ in range(3)] == [200, 422, 200]
    assert [call.query.num for call in calls.calls] == [1, 3]


@ensureDeferred
@deferred_f_from_coro_f
@pytest.mark.parametrize("tls", [False, True])
async def test_pipelined_and_not_read(timed, secure, test_secret, calls, tls):
    """Who asks at once for more than it reads is answered as it reads: answers do not pile up in memory."""
    calls.end = replace(calls.end, record={"page": "x" * 2_000_000})
    asked, port, trust = 30, *(secure if tls else (timed, None))
    async with connected(port, trust) as (reader, writer):
        writer.write(
            b"".join(request(f"GET /v1/search/q=a&num={number}", test_secret) for number in range(1, asked + 1))
        )
        await until(lambda: calls.calls)
        await asyncio.sleep(0.5)
        assert len(calls.calls) < asked / 2
        assert [(await answer(reader))[0] for _ in range(asked)] == [200] * asked


@ensureDeferred
@deferred_f_from_coro_f
async def test_unescaped(port, test_secret, calls):
    """A URL with characters that should have been escaped, as curl sends it, is understood."""
    async with connected(port) as (reader, writer):
        writer.write(request("GET /v1/search/q=café+東京", test_secret))
        assert (await answer(reader))[0] == 200
    assert calls.calls[0].query.q == "café 東京"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/9\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET /v1/search/q=two words HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 20_000 + b"\r\n\r\n",
    ],
)
@ensureDeferred
@deferred_f_from_coro_f
async def test_unreadable(port, sent):
    """What is not HTTP gets the one error body, and the connection is closed."""
    async with connected(port) as (reader, writer):
        writer.write(sent)
        status, body = await answer(reader)
        assert (status, b'"code":"bad_request"' in body) == (400, True)
        assert b"GET /v1/" in body
        assert await reader.read() == b""


@ensureDeferred
@deferred_f_from_coro_f
async def test_large_bodies(port, test_secret):
    """A body that is too large is read to its end, not kept, and refused."""
    async with connected(port) as (reader, writer):
        head = f"POST /v1/search HTTP/1.1\r\nX-Api-Key: {test_secret}\r\nContent-Length: {3 * MAX_BODY}\r\n\r\n"
        writer.write(head.encode() + b"x" * 3 * MAX_BODY)
        status, body = await answer(reader)
        assert (status, b'"code":"payload_too_large"' in body) == (413, True)


def test_bounded_request():
    """What goes beyond the largest body is dropped as it comes."""
    bounded = BoundedRequest(DummyChannel())
    bounded.gotLength(None)
    for _ in range(3):
        bounded.handleContentChunk(b"x" * MAX_BODY)
    kept = bounded.content.seek(0, 2)
    bounded.content.close()

    assert kept == MAX_BODY + 1


@ensureDeferred
@deferred_f_from_coro_f
async def test_drain(api, port, test_secret, calls):
    """A service that stops writes out its last answers in full, then closes every connection."""
    calls.gate = asyncio.Event()
    calls.end = replace(calls.end, record={"page": "x" * 8_000_000})
    async with (
        connected(port) as (reader, writer),
        connected(port) as (idle, _),
        connected(port) as (late, late_writer),
    ):
        writer.write(request("GET /v1/search/q=large", test_secret))
        await calls.begun.wait()
        drained = asyncio.ensure_future(api.drain(60))
        late_writer.write(request("GET /v1/search/q=late", test_secret))
        assert (await answer(late))[0] == 503
        assert await late.read() == b""

        calls.gate.set()
        await asyncio.sleep(0.1)
        assert not drained.done()  # the caller has read nothing yet
        status, body = await answer(reader)
        assert (status, len(body)) == (200, 8_000_011)
        assert await reader.read() == b""
        assert await idle.read() == b""
        await asyncio.wait_for(drained, 1)


@ensureDeferred
@deferred_f_from_coro_f
async def test_hang_up(api, port, test_secret, calls, caplog):
    """The call of a caller who hangs up goes on to its end, and the log says that nobody waited."""
    caplog.set_level("INFO", "webdata.api")
    calls.gate = asyncio.Event()
    async with connected(port) as (_, writer):
        writer.write(request("GET /v1/search/q=coffee", test_secret))
        await calls.begun.wait()
    await asyncio.sleep(0.05)
    calls.gate.set()
    await asyncio.wait_for(api.drain(60), 2)
    await asyncio.sleep(0)

    assert calls.answered == 1
    assert [record.args[3] for record in caplog.records] == [499]


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_slow_head(timed, connections, clock):
    """Path and headers that are not whole 10 seconds after their first byte are a 408, whatever drips in."""
    async with connected(timed) as (reader, writer):
        for byte in b"GET / HTTP":
            writer.write(bytes([byte]))
            await asyncio.sleep(0.01)
            passes(clock, 1)
        assert len(connections) == 1
        passes(clock, 1)
        status, body = await answer(reader)
        assert (status, b'"code":"request_timeout"' in body, b"within 10 seconds" in body) == (408, True, True)
        assert await reader.read() == b""


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_silent_connection(timed, connections, clock):
    """A connection on which nothing is asked is closed without a word after 10 seconds."""
    async with connected(timed) as (reader, _):
        await until(lambda: len(connections))
        passes(clock, 10)
        assert len(connections) == 1
        passes(clock, 1)
        assert await reader.read() == b""


@ensureDeferred
@deferred_f_from_coro_f
async def test_an_idle_connection(timed, connections, clock):
    """Between two requests a connection stays for 60 seconds, as its answers say, and is closed without a word."""
    async with connected(timed) as (reader, writer):
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"Keep-Alive: timeout=60\r\n" in head
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
            passes(clock, 60)
        assert len(connections) == 1
        passes(clock, 1)
        assert await reader.read() == b""


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_slow_body(timed, clock):
    """A body has 30 seconds, and more while it comes at the least speed; then it is a 408."""
    async with connected(timed) as (reader, writer):
        writer.write(b"POST /v1/request HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(20):
            writer.write(b"x" * SLOWEST)
            await asyncio.sleep(0.01)
            passes(clock, 1)
        passes(clock, 30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 0.05)
        passes(clock, 2)
        assert (await answer(reader))[0] == 408


@ensureDeferred
@deferred_f_from_coro_f
async def test_an_endless_body(timed, connections, clock):
    """What goes beyond the largest body earns no time, however fast it comes."""
    async with connected(timed) as (reader, writer):
        writer.write(b"POST /v1/request HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20):
            writer.write(b"40000\r\n" + b"x" * 0x40000 + b"\r\n")
            await writer.drain()
        (connection,) = connections._open
        await until(lambda: connection.received > 2 * MAX_BODY)
        passes(clock, 30 + MAX_BODY // SLOWEST)
        assert connection.phase is Phase.BODY
        passes(clock, 1)
        assert (await answer(reader))[0] == 408


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_long_call(timed, test_secret, calls, clock):
    """However long a call takes, its connection is left alone."""
    calls.gate = asyncio.Event()
    async with connected(timed) as (reader, writer):
        writer.write(request("GET /v1/search/q=coffee", test_secret))
        await calls.begun.wait()
        passes(clock, 600)
        calls.gate.set()
        assert (await answer(reader))[0] == 200


@ensureDeferred
@deferred_f_from_coro_f
async def test_an_answer_that_nobody_reads(timed, test_secret, calls, connections, clock):
    """A client may read as slowly as it likes; one that reads nothing for 60 seconds is cut off."""
    calls.end = replace(calls.end, record={"page": "x" * 40_000_000})
    async with connected(timed) as (reader, writer):
        writer.write(request("GET /v1/search/q=large", test_secret))
        await reader.readexactly(1000)
        for _ in range(4):
            passes(clock, 50)
            await reader.readexactly(4_000_000)
            await asyncio.sleep(0.05)
        assert len(connections) == 1
        passes(clock, 62)
        await until(lambda: not len(connections))
        with pytest.raises(ConnectionResetError):
            await reader.read()


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_client_that_does_not_close(secure, connections, clock):
    """A connection that was closed here, and there is not, is cut off after 5 seconds; nothing more of it is read."""
    port, trust = secure
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    writer.write(b"hello\r\n\r\n")
    assert b"\nstrict-transport-security: max-age=3600\r\n" in await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await asyncio.sleep(0.05)
    passes(clock, 6)
    await until(lambda: not len(connections))
    writer.transport.abort()


@ensureDeferred
@deferred_f_from_coro_f
async def test_a_handshake_that_stops(secure, connections, clock):
    """TLS has to be there within 10 seconds; then the first request has as many."""
    port, trust = secure
    async with connected(port) as (reader, writer):
        writer.write(b"\x16\x03\x01\x02")
        await until(lambda: len(connections))
        passes(clock, 10)
        assert len(connections) == 1
        passes(clock, 1)
        with pytest.raises(ConnectionResetError):
            await reader.read()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    passes(clock, 9)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    assert b"\nStrict-Transport-Security: max-age=3600\r\n" in head
    writer.transport.abort()


@ensureDeferred
@deferred_f_from_coro_f
async def test_more_connections_than_there_is_room_for(timed, test_secret, calls, connections, clock, caplog):
    """The connection that waits longest for its client makes room; one whose call runs stays; else none is let in."""
    calls.gate = asyncio.Event()
    all_of = [await asyncio.open_connection("127.0.0.1", timed) for _ in range(MOST)]
    await until(lambda: len(connections) == MOST)
    all_of[0][1].write(request("GET /v1/search/q=coffee", test_secret))
    await calls.begun.wait()
    passes(clock, 1)
    all_of[1][1].write(b"GET / HTTP/1.1\r\n\r\n")
    await answer(all_of[1][0])

    for oldest in (2, 3, 1):
        all_of.append(await asyncio.open_connection("127.0.0.1", timed))
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(all_of[oldest][0].read(), 5)
        assert len(connections) == MOST
        passes(clock, 1)
        all_of[-1][1].write(request(f"GET /v1/search/q=coffee&num={oldest}", test_secret))
    await until(lambda: len(calls.calls) == MOST)
    late, late_writer = await asyncio.open_connection("127.0.0.1", timed)
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(late.read(), 5)
    calls.gate.set()
    for reader, _ in (all_of[0], *all_of[-3:]):
        assert (await answer(reader))[0] == 200
    for _, writer in (*all_of, (late, late_writer)):
        writer.transport.abort()
    assert [record.levelname for record in caplog.records if "WEBDATA_MAX_CONNECTIONS" in record.message] == ["WARNING"]


def test_ascii_only():
    """Only what is not printable ASCII is escaped."""
    assert ascii_only("/a%20b?q=é\n~".encode()) == b"/a%20b?q=%C3%A9%0A~"
