"""The HTTP server over real sockets."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from twisted.internet import reactor
from twisted.internet.task import Clock
from twisted.web.test.requesthelper import DummyChannel

from webdata.api import refusals
from webdata.config.config import Config
from webdata.server.connections import Connections, Phase
from webdata.server.plain_http import secured
from webdata.server.site import MAX_BODY, SLOWEST, BoundedRequest, Site, ascii_only
from webdata.server.tls import ServerTLS

pytestmark = pytest.mark.task

MOST = 4
"""Connections that may be open to the ports that use `clock`."""


@pytest.fixture
def port(api):
    listening = reactor.listenTCP(0, api.site(), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


@pytest.fixture
def clock():
    """The clock of the connections, which tests advance."""
    return Clock()


@pytest.fixture
def connections(clock):
    return Connections(MOST, clock)


@pytest.fixture
def timed(api, connections):
    """A port whose connections use `clock`."""
    listening = reactor.listenTCP(0, Site(api.resource(), connections, refusals), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


@pytest.fixture
def secure(api, connections, tmp_path):
    """The same by TLS, with the TLS context of a client."""
    tls = ServerTLS(Config(tls_folder=tmp_path))
    site = secured(Site(api.resource(), connections, refusals, 3600), tls)
    listening = reactor.listenTCP(0, site, interface="127.0.0.1")
    yield listening.getHost().port, ssl.create_default_context(cafile=str(tls.certificate.cert_file))
    listening.stopListening()


def advance(clock, seconds):
    """Advance the clock second by second."""
    clock.pump([1.0] * seconds)


async def until(condition):
    """Wait for a condition that the network makes true."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # nothing signals the state of the server's sockets
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


async def test_keep_alive(port, test_secret):
    """One connection carries many requests, HEAD among them."""
    async with connected(port) as (reader, writer):
        for method in ("GET", "HEAD", "GET", "HEAD", "GET"):
            writer.write(request(f"{method} /v1/search/q=coffee", test_secret))
            status, body = await answer(reader, body=method == "GET")
            assert (status, body[:1]) == (200, b"{" if method == "GET" else b"")


async def test_pipelined_requests(port, test_secret, calls):
    """Requests sent at once on one connection are answered in their order."""
    async with connected(port) as (reader, writer):
        writer.write(b"".join(request(f"GET /v1/search/q=a&num={number}", test_secret) for number in ("1", "x", "3")))
        assert [(await answer(reader))[0] for _ in range(3)] == [200, 422, 200]
    assert [call.query.num for call in calls.calls] == [1, 3]


@pytest.mark.parametrize("tls", [False, True])
async def test_pipelined_requests_of_a_client_that_does_not_read(timed, secure, test_secret, calls, tls):
    """They are answered as the client reads, so that answers do not pile up in memory."""
    calls.end = replace(calls.end, record={"page": "x" * 2_000_000})
    count, port, trust = 30, *(secure if tls else (timed, None))
    async with connected(port, trust) as (reader, writer):
        writer.write(
            b"".join(request(f"GET /v1/search/q=a&num={number}", test_secret) for number in range(1, count + 1))
        )
        await until(lambda: calls.calls)
        await asyncio.sleep(0.5)
        assert len(calls.calls) < count / 2
        assert [(await answer(reader))[0] for _ in range(count)] == [200] * count


async def test_an_unescaped_target(port, test_secret, calls):
    """A URL with characters that should have been escaped is read; curl sends such URLs."""
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
async def test_an_unreadable_request(port, sent):
    """What is not HTTP gets the error body of the API, and the connection is closed."""
    async with connected(port) as (reader, writer):
        writer.write(sent)
        status, body = await answer(reader)
        assert (status, b'"code":"bad_request"' in body) == (400, True)
        assert b"GET /v1/" in body
        assert await reader.read() == b""


async def test_a_body_that_is_too_large(port, test_secret):
    """It is read to its end, not stored, and refused."""
    async with connected(port) as (reader, writer):
        head = f"POST /v1/search HTTP/1.1\r\nX-Api-Key: {test_secret}\r\nContent-Length: {3 * MAX_BODY}\r\n\r\n"
        writer.write(head.encode() + b"x" * 3 * MAX_BODY)
        status, body = await answer(reader)
        assert (status, b'"code":"payload_too_large"' in body) == (413, True)


def test_bounded_request():
    """Bytes beyond MAX_BODY are dropped as they arrive."""
    bounded = BoundedRequest(DummyChannel())
    bounded.gotLength(None)
    for _ in range(3):
        bounded.handleContentChunk(b"x" * MAX_BODY)
    stored = bounded.content.seek(0, 2)
    bounded.content.close()

    assert stored == MAX_BODY + 1


async def test_drain(api, port, test_secret, calls):
    """A service that stops sends its last answers in full, then closes every connection."""
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
        assert not drained.done()  # the client has read nothing yet
        status, body = await answer(reader)
        assert (status, len(body)) == (200, 8_000_011)
        assert await reader.read() == b""
        assert await idle.read() == b""
        await asyncio.wait_for(drained, 1)


async def test_a_client_that_disconnects(api, port, test_secret, calls, caplog):
    """Its call continues to the end, and the access log has status 499."""
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


async def test_a_slow_head(timed, connections, clock):
    """A head that is incomplete 10 seconds after its first byte is a 408, even if bytes keep arriving."""
    async with connected(timed) as (reader, writer):
        for byte in b"GET / HTTP":
            writer.write(bytes([byte]))
            await asyncio.sleep(0.01)
            advance(clock, 1)
        assert len(connections) == 1
        advance(clock, 1)
        status, body = await answer(reader)
        assert (status, b'"code":"request_timeout"' in body, b"within 10 seconds" in body) == (408, True, True)
        assert await reader.read() == b""


async def test_a_silent_connection(timed, connections, clock):
    """A connection without a request is closed after 10 seconds, without a response."""
    async with connected(timed) as (reader, _):
        await until(lambda: len(connections))
        advance(clock, 10)
        assert len(connections) == 1
        advance(clock, 1)
        assert await reader.read() == b""


async def test_an_idle_connection(timed, connections, clock):
    """Between two requests a connection stays open for the 60 seconds of its Keep-Alive header."""
    async with connected(timed) as (reader, writer):
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"Keep-Alive: timeout=60\r\n" in head
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
            advance(clock, 60)
        assert len(connections) == 1
        advance(clock, 1)
        assert await reader.read() == b""


async def test_a_slow_body(timed, clock):
    """A body has 30 seconds, and more while it arrives at the least speed; then it is a 408."""
    async with connected(timed) as (reader, writer):
        writer.write(b"POST /v1/request HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(20):
            writer.write(b"x" * SLOWEST)
            await asyncio.sleep(0.01)
            advance(clock, 1)
        advance(clock, 30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 0.05)
        advance(clock, 2)
        assert (await answer(reader))[0] == 408


async def test_an_endless_body(timed, connections, clock):
    """Bytes beyond MAX_BODY do not extend the time limit, however fast they arrive."""
    async with connected(timed) as (reader, writer):
        writer.write(b"POST /v1/request HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(20):
            writer.write(b"40000\r\n" + b"x" * 0x40000 + b"\r\n")
            await writer.drain()
        (connection,) = connections._open
        await until(lambda: connection.received > 2 * MAX_BODY)
        advance(clock, 30 + MAX_BODY // SLOWEST)
        assert connection.phase is Phase.BODY
        advance(clock, 1)
        assert (await answer(reader))[0] == 408


async def test_a_long_call(timed, test_secret, calls, clock):
    """A call may take any time without its connection being closed."""
    calls.gate = asyncio.Event()
    async with connected(timed) as (reader, writer):
        writer.write(request("GET /v1/search/q=coffee", test_secret))
        await calls.begun.wait()
        advance(clock, 600)
        calls.gate.set()
        assert (await answer(reader))[0] == 200


async def test_an_answer_that_is_not_read(timed, test_secret, calls, connections, clock):
    """A client may read slowly; one that reads nothing for 60 seconds is disconnected."""
    calls.end = replace(calls.end, record={"page": "x" * 40_000_000})
    async with connected(timed) as (reader, writer):
        writer.write(request("GET /v1/search/q=large", test_secret))
        await reader.readexactly(1000)
        for _ in range(4):
            advance(clock, 50)
            await reader.readexactly(4_000_000)
            await asyncio.sleep(0.05)
        assert len(connections) == 1
        advance(clock, 62)
        await until(lambda: not len(connections))
        with pytest.raises(ConnectionResetError):
            await reader.read()


async def test_a_client_that_does_not_close(secure, connections, clock):
    """A connection that the server alone has closed is aborted after 5 seconds, and no more of it is read."""
    port, trust = secure
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    writer.write(b"hello\r\n\r\n")
    assert b"\nstrict-transport-security: max-age=3600\r\n" in await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await asyncio.sleep(0.05)
    advance(clock, 6)
    await until(lambda: not len(connections))
    writer.transport.abort()


async def test_a_handshake_that_stops(secure, connections, clock):
    """The handshake has 10 seconds; then the first request has as many."""
    port, trust = secure
    async with connected(port) as (reader, writer):
        writer.write(b"\x16\x03\x01\x02")
        await until(lambda: len(connections))
        advance(clock, 10)
        assert len(connections) == 1
        advance(clock, 1)
        with pytest.raises(ConnectionResetError):
            await reader.read()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust)
    advance(clock, 9)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    assert b"\nStrict-Transport-Security: max-age=3600\r\n" in head
    writer.transport.abort()


async def test_too_many_connections(timed, test_secret, calls, connections, clock, caplog):
    """The one that waits longest for its client is closed, none that has a call; the new one if all others have."""
    calls.gate = asyncio.Event()
    opened = [await asyncio.open_connection("127.0.0.1", timed) for _ in range(MOST)]
    await until(lambda: len(connections) == MOST)
    opened[0][1].write(request("GET /v1/search/q=coffee", test_secret))
    await calls.begun.wait()
    advance(clock, 1)
    opened[1][1].write(b"GET / HTTP/1.1\r\n\r\n")
    await answer(opened[1][0])

    for oldest in (2, 3, 1):
        opened.append(await asyncio.open_connection("127.0.0.1", timed))
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(opened[oldest][0].read(), 5)
        assert len(connections) == MOST
        advance(clock, 1)
        opened[-1][1].write(request(f"GET /v1/search/q=coffee&num={oldest}", test_secret))
    await until(lambda: len(calls.calls) == MOST)
    late, late_writer = await asyncio.open_connection("127.0.0.1", timed)
    with pytest.raises(ConnectionResetError):
        await asyncio.wait_for(late.read(), 5)
    calls.gate.set()
    for reader, _ in (opened[0], *opened[-3:]):
        assert (await answer(reader))[0] == 200
    for _, writer in (*opened, (late, late_writer)):
        writer.transport.abort()
    assert [record.levelname for record in caplog.records if "WEBDATA_MAX_CONNECTIONS" in record.message] == ["WARNING"]


def test_ascii_only():
    """Only bytes that are not printable ASCII are escaped."""
    assert ascii_only("/a%20b?q=é\n~".encode()) == b"/a%20b?q=%C3%A9%0A~"
