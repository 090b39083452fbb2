"""The service over real sockets."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pytest_twisted import ensureDeferred
from scrapy.utils.defer import deferred_f_from_coro_f
from twisted.internet import reactor
from twisted.web.test.requesthelper import DummyChannel

from webdata.api.site import MAX_BODY, BoundedRequest, ascii_only


@pytest.fixture
def port(api):
    listening = reactor.listenTCP(0, api.site(), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()
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


def test_ascii_only():
    """Only what is not printable ASCII is escaped."""
    assert ascii_only("/a%20b?q=é\n~".encode()) == b"/a%20b?q=%C3%A9%0A~"
