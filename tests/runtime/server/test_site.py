"""The HTTP server over real sockets."""

import asyncio
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from twisted.internet import reactor
from twisted.internet.task import Clock

from tests.memory_stores import MemoryDatabase, MemoryKeys
from webdata.accounts.access.api_keys import new_key, new_secret
from webdata.config.config import Config
from webdata.faces.api.app import Api
from webdata.faces.api.refusals import RefusalReplies
from webdata.runtime.server.connections import Connections, Phase
from webdata.runtime.server.plain_http import secured
from webdata.runtime.server.site import MAX_BODY, SLOWEST, Site, ascii_only
from webdata.runtime.server.tls import ServerTLS
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, Caller

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
    listening = reactor.listenTCP(
        0, Site(api.resource(), connections, RefusalReplies(), api.sender_of), interface="127.0.0.1"
    )
    yield listening.getHost().port
    listening.stopListening()


@pytest.fixture
def secure(api, connections, tmp_path):
    """The same by TLS, with the TLS context of a client."""
    tls = ServerTLS(Config(tls_folder=tmp_path))
    site = secured(Site(api.resource(), connections, RefusalReplies(), api.sender_of, 3600), tls)
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
        async with asyncio.timeout(60):
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
        b"GET / HTTP/1.1\nHost: a\n\n",
        b"GET / HTTP/1.0\n",
        b"GET / HTTP/1.1\r\nHost: a\nX-B: 1\n\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n",
        b'GET / HTTP/1.1\r\nHost: a<b>"\r\n\r\n',
        b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: user@a\r\n\r\n",
        b"a" * 20_000,
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


LENGTH, CHUNKED = "Content-Length: 1000", "Transfer-Encoding: chunked"


def body_head(length: str, *headers: str) -> bytes:
    """The head of a request with a body."""
    return "\r\n".join(["POST /v1/search HTTP/1.1", "Host: a", length, *headers, "", ""]).encode()


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("length", [LENGTH, CHUNKED])
async def test_a_body_with_a_key(timed, secure, test_secret, length, tls):
    """It is read, wherever the pieces of the request are cut, and the connection goes on."""
    body = b"x" * 1000 if length == LENGTH else b"3e8\r\n" + b"x" * 1000 + b"\r\n0\r\n\r\n"
    sent = body_head(length, f"X-Api-Key: {test_secret}") + body
    port, trust = secure if tls else (timed, None)
    async with connected(port, trust) as (reader, writer):
        for cut in (0, 30, len(sent) - len(body), len(sent) - 10):
            writer.write(sent[:cut])
            await asyncio.sleep(0.01)
            writer.write(sent[cut:])
            assert (await answer(reader))[0] == 405
        writer.write(sent + sent + request("GET /v1/search/q=coffee", test_secret))
        assert [(await answer(reader))[0] for _ in range(3)] == [405, 405, 200]


async def test_a_client_that_asks_before_it_sends_a_body(port, test_secret):
    """It is told to go on once its key is known, and not without one."""
    expects = "Expect: 100-continue"
    async with connected(port) as (reader, writer):
        writer.write(body_head(LENGTH, expects, f"X-Api-Key: {test_secret}"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        writer.write(b"x" * 1000)
        assert (await answer(reader))[0] == 405
    async with connected(port) as (reader, writer):
        writer.write(body_head(LENGTH, expects))
        assert (await answer(reader))[0] == 401


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("length", [LENGTH, CHUNKED])
@pytest.mark.parametrize("secret", [None, "wd_live_x", new_secret(test=True)], ids=["none", "malformed", "unknown"])
async def test_a_body_without_a_key(timed, secure, connections, caplog, secret, length, tls):
    """It is refused as soon as its head is there, and the connection is closed without reading on."""
    caplog.set_level("INFO", "webdata.faces.api")
    port, trust = secure if tls else (timed, None)
    async with connected(port, trust) as (reader, writer):
        writer.write(body_head(length, *([f"X-Api-Key: {secret}"] if secret else [])))
        status, body = await answer(reader)
        assert (status, b'"code":"unauthorized"' in body) == (401, True)
        writer.write(b"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await reader.read() == b""
    await until(lambda: not len(connections))
    [line] = [record.getMessage() for record in caplog.records if record.name == "webdata.faces.api"]
    assert line.split(" ", 1)[1] == "POST /v1/search 401 - without its body"


class GatedKeys(MemoryKeys):
    """Looks up keys when the gate is open."""

    def __init__(self, database: MemoryDatabase) -> None:
        super().__init__(database)
        self.gate = asyncio.Event()

    async def find(self, digest: str) -> Caller | None:
        await self.gate.wait()
        return await super().find(digest)


async def test_bodies_whose_keys_are_being_looked_up(timed, api, database, connections, test_secret, monkeypatch):
    """Nothing of them is read meanwhile, there are few of them, and those who hang up are forgotten."""
    monkeypatch.setattr("webdata.runtime.server.bodies.MOST_SOUGHT", 2)
    monkeypatch.setattr(api._admission.api_keys, "_keys", keys := GatedKeys(database))
    head = body_head(f"Content-Length: {MAX_BODY}", f"X-Api-Key: {test_secret}")
    async with connected(timed) as (reader, writer):
        async with connected(timed) as (_, gone):
            gone.write(head)
            writer.write(head + b"x" * MAX_BODY)
            await until(lambda: sum(connection.paused for connection in connections._open) == 2)
            async with connected(timed) as (third, third_writer):
                third_writer.write(head)
                status, body = await answer(third)
                assert (status, b"try again in 1 second" in body) == (503, True)
        await asyncio.sleep(0.05)
        assert {connection.received for connection in connections._open} == {0}
        keys.gate.set()
        assert (await answer(reader))[0] == 405


async def test_a_key_that_is_looked_up_for_too_long(timed, api, database, connections, clock, test_secret, monkeypatch):
    """The time limit of a body includes it."""
    monkeypatch.setattr(api._admission.api_keys, "_keys", keys := GatedKeys(database))
    async with connected(timed) as (reader, writer):
        writer.write(body_head(CHUNKED, f"X-Api-Key: {test_secret}"))
        await until(lambda: any(connection.paused for connection in connections._open))
        advance(clock, 31)
        assert (await answer(reader))[0] == 408
        keys.gate.set()
        assert await reader.read() == b""


@pytest.fixture
def little_memory(monkeypatch):
    """Less of it for the bodies of an account, before a site is made."""
    monkeypatch.setattr("webdata.runtime.server.bodies.MEMORY_OF_SENDER", 100_000)


@pytest.mark.usefixtures("little_memory")
async def test_the_memory_for_the_bodies_of_an_account(timed, test_secret, live_secret, database, keys):
    """Those that are arriving by all keys of an account have a share, which one that ends gives back."""
    database.add(replace(database.accounts[DEFAULT_ACCOUNT], id="acc_other", name="other"))
    key, other_secret = new_key("of another account", test=True)
    await keys.add(replace(key, account_id="acc_other"))

    async def begun(secret: str, length: int, sent: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", timed)
        writer.write(body_head(f"Content-Length: {length}", f"X-Api-Key: {secret}"))
        await asyncio.sleep(0.02)
        writer.write(b"x" * sent)
        return reader, writer

    opened = [first := await begun(test_secret, 70_001, 70_000)]
    opened += [second := await begun(live_secret, 50_000, 50_000), other := await begun(other_secret, 50_000, 50_000)]
    status, body = await answer(second[0])
    assert (status, b"this account" in body) == (429, True)
    assert (await answer(other[0]))[0] == 405
    first[1].write(b"x")
    assert (await answer(first[0]))[0] == 405
    opened += [again := await begun(test_secret, 100_000, 99_999)]
    again[1].transport.abort()
    await asyncio.sleep(0.05)
    opened += [last := await begun(test_secret, 100_000, 100_000)]
    assert (await answer(last[0]))[0] == 405
    for _, writer in opened:
        writer.transport.abort()


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("size", [MAX_BODY + 1, 10**30])
async def test_a_body_that_says_that_it_is_too_large(timed, secure, test_secret, size, tls):
    """It is refused before any of it is sent."""
    port, trust = secure if tls else (timed, None)
    async with connected(port, trust) as (reader, writer):
        writer.write(body_head(f"Content-Length: {size}", f"X-Api-Key: {test_secret}"))
        status, body = await answer(reader)
        assert (status, b'"code":"payload_too_large"' in body) == (413, True)
        assert await reader.read() == b""


async def test_a_body_that_proves_too_large(timed, connections, test_secret):
    """It is refused at the first byte too many, and the answer reaches a client that still sends."""
    chunks = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    async with connected(timed) as (reader, writer):
        writer.write(body_head(CHUNKED, f"X-Api-Key: {test_secret}") + chunks * (MAX_BODY // 0x4000))
        await until(lambda: any(connection._stored == MAX_BODY for connection in connections._open))
        writer.write(b"1\r\nx\r\n" + chunks * 10)
        status, body = await answer(reader)
        assert (status, b'"code":"payload_too_large"' in body) == (413, True)
        writer.write(chunks)
        assert await reader.read() == b""


@pytest.mark.parametrize(
    ("chunks", "status"),
    [
        (b"2\n{}\n0\n\n", 400),
        (b"2\r{}\r0\r\r", 400),
        (b"2;a=b\n{}", 400),
        (b"2\r\n{}\r\n0\n\n", 400),
        (b"2\r\n{}\r\n0\r\n\n", 400),
        (b"2\r\n{}\r\n0\r\nX-Trailer: a\n\n", 400),
        (b"2\r\n{}\n0\r\n\r\n", 400),
        (b"f" * 18 + b"\r\n{}", 400),
        (b"%x\r\n{}" % (MAX_BODY + 1), 413),
        (b"2\r\n{}\r\n%x\r\n{}" % MAX_BODY, 413),
    ],
)
@pytest.mark.parametrize("pieces", [1, 1000])
async def test_chunks_that_are_wrong_are_refused_at_once(timed, test_secret, chunks, status, pieces):
    """Their client waits for the answer, and sends nothing more that would show the fault."""
    async with connected(timed) as (reader, writer):
        writer.write(body_head(CHUNKED, f"X-Api-Key: {test_secret}"))
        for at in range(0, len(chunks), size := -(-len(chunks) // pieces)):
            writer.write(chunks[at : at + size])
            await writer.drain()
            await asyncio.sleep(0)
        assert (await answer(reader))[0] == status
        assert await reader.read() == b""


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "headers",
    [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity\r\nContent-Length: 0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\nX-Last: 1",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding:",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nX-Last: 1",
        "Content-Length: 0\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -1",
        "Content-Length: 0x5",
        "Content-Length:",
        "Content-Length: " + "9" * 5000,
        "Content-Length : 5",
        "X-First: 1\r\n Content-Length: 5",
        "X-First: 1\r\n\tTransfer-Encoding: chunked",
        "Host: b",
        "Host: a",
        "host:",
    ],
)
async def test_a_request_that_others_could_cut_differently(timed, secure, test_secret, headers, tls):
    """It is a 400, nothing after it is read, and the connection is closed."""
    port, trust = secure if tls else (timed, None)
    async with connected(port, trust) as (reader, writer):
        head = f"POST /v1/search HTTP/1.1\r\nHost: a\r\nX-Api-Key: {test_secret}\r\n{headers}\r\n\r\n"
        writer.write(head.encode() + b"0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        status, body = await answer(reader)
        assert (status, b'"code":"bad_request"' in body) == (400, True)
        assert await reader.read() == b""


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET /" + b"a" * 16_384, 414),
        (b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 20_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X-Long: " + b"a" * 16_400, 431),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nX-Long: " + b"a" * 9_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 501 + b"\r\n", 431),
    ],
)
async def test_what_is_too_long_is_said(port, sent, status):
    """A URL that is too long is a 414, headers that are too many or too long a 431; the connection is closed."""
    async with connected(port) as (reader, writer):
        writer.write(sent)
        got, body = await answer(reader)
        assert (got, b"16 KB" in body) == (status, True)
        assert await reader.read() == b""


@pytest.mark.parametrize("method", ["get", "Get", "options"])
async def test_a_method_in_small_letters_is_none(port, test_secret, method):
    """Methods are case-sensitive: it is a 501 that says so, and the connection goes on."""
    async with connected(port) as (reader, writer):
        writer.write(request(f"{method} /", test_secret) + request("GET /", test_secret))
        status, body = await answer(reader)
        assert (status, b"capitals" in body) == (501, True)
        assert (await answer(reader))[0] == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET / HTTP/1.1", 400),
        ("GET http://a/ HTTP/1.1", 400),
        ("GET / HTTP/1.1\r\nHost:", 200),
        ("GET / HTTP/1.1\r\nHost: [::1]:8080", 200),
        ("GET / HTTP/1.1\r\nHost: a_b.example:8080", 200),
        ("GET / HTTP/1.0", 200),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b", 400),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked", 400),
    ],
)
async def test_the_host_of_a_request(timed, head, status):
    """HTTP/1.1 has one Host header, HTTP/1.0 at most one and no chunks (RFC 9112 3.2, 6.1)."""
    async with connected(timed) as (reader, writer):
        writer.write(f"{head}\r\n\r\n".encode())
        assert (await answer(reader))[0] == status


def test_the_connections_of_the_process(admission):
    """A site counts its connections among those that it is given, also while there are none."""
    connections = Connections(MOST)
    assert Api([], admission, connections=connections).site().connections is connections


FEW_FILES = 300
SMALL_SERVER = f"""
import resource
from types import SimpleNamespace
resource.setrlimit(resource.RLIMIT_NOFILE, ({FEW_FILES}, {FEW_FILES}))
from twisted.internet import asyncioreactor
asyncioreactor.install()
from twisted.internet import reactor
from webdata.faces.api.app import Api
from webdata.faces.api.open_pages import OpenPage
from webdata.runtime.server.replies import Reply
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.listening import room_for

class Keys:
    async def authenticate(self, header):
        return SimpleNamespace(key=SimpleNamespace(id="any"))

page = OpenPage("/health/live", "", lambda _: Reply(200, open("/dev/null", "rb").read()))
api = Api([], SimpleNamespace(api_keys=Keys()), [page], connections=Connections(room_for(10_000)))

def start():
    print(reactor.listenTCP(0, api.site(), 1024, "127.0.0.1").getHost().port, flush=True)

reactor.callWhenRunning(start)
reactor.run()
"""
"""A server that may open few files. Its page opens one, as calls do."""


async def test_clients_that_open_more_connections_than_there_are_files():
    """Whatever phase they stop in, others are answered, and files can be opened for them."""
    root = Path(__file__).parents[3]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SMALL_SERVER, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        port = int(await asyncio.wait_for(server.stdout.readline(), 20))
        key = f"X-Api-Key: {new_secret(test=True)}"
        chunk = b"5\r\nhello\r\n"
        large = body_head("Content-Length: 1000000", key) + b"x" * 50_000
        for sent in (body_head(CHUNKED) + chunk, body_head(CHUNKED, key) + chunk, large, b"GET /", b"", b"no HTTP\r\n"):
            with ExitStack() as opened:
                for number in range(FEW_FILES * 2 // 3):
                    await asyncio.sleep(0 if number % 40 else 0.02)  # those of a burst are closed after it
                    client = opened.enter_context(socket.create_connection(("127.0.0.1", port)))
                    with suppress(ConnectionError):
                        client.sendall(sent)
                async with connected(port) as (reader, writer):
                    writer.write(b"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
                    assert (await answer(reader))[0] == 200
    finally:
        server.terminate()
        _, errors = await server.communicate()
    assert b"Too many open files" not in errors


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
    caplog.set_level("INFO", "webdata.faces.api")
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


async def test_a_client_that_disconnects_before_its_fetch(api, port, test_secret, calls):
    """A call that waits for its fetch ends without one."""
    calls.queue = asyncio.Event()
    async with connected(port) as (_, writer):
        writer.write(request("GET /v1/search/q=coffee", test_secret))
        await calls.begun.wait()
    await asyncio.sleep(0.05)
    calls.queue.set()
    await asyncio.wait_for(api.drain(60), 2)
    await asyncio.sleep(0)

    assert (len(calls.calls), calls.answered) == (1, 0)


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
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"Keep-Alive: timeout=60\r\n" in head
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
            advance(clock, 60)
        assert len(connections) == 1
        advance(clock, 1)
        assert await reader.read() == b""


async def test_a_slow_body(timed, test_secret, clock):
    """A body has 30 seconds, and more while it arrives at the least speed; then it is a 408."""
    async with connected(timed) as (reader, writer):
        writer.write(body_head("Content-Length: 1000000", f"X-Api-Key: {test_secret}"))
        for _ in range(20):
            writer.write(b"x" * SLOWEST)
            await asyncio.sleep(0.01)
            advance(clock, 1)
        advance(clock, 30)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 0.05)
        advance(clock, 2)
        assert (await answer(reader))[0] == 408


async def test_an_endless_body(timed, test_secret, connections, clock):
    """What is around the bytes of a body extends its time limit no further than the largest body would."""
    padded = b"1;" + b"x" * 1000 + b"\r\nx\r\n"
    async with connected(timed) as (reader, writer):
        writer.write(body_head(CHUNKED, f"X-Api-Key: {test_secret}"))
        for _ in range(20):
            writer.write(padded * 100)
            await writer.drain()
        (connection,) = connections._open
        await until(lambda: connection.received > MAX_BODY)
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
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
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
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
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
    opened[1][1].write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
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


async def test_a_resource_that_fails(api, port, test_secret, monkeypatch, caplog):
    """A request that the resource fails to take gets a problem with the headers of all other answers."""

    def render(request):
        raise ZeroDivisionError("/srv/webdata")

    monkeypatch.setattr(api.resource(), "render", render)
    async with connected(port) as (reader, writer):
        writer.write(request("GET /v1/search/q=coffee", test_secret))
        response = (await reader.read()).decode()
    head, _, body = response.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 500 ")
    assert {"x-content-type-options: nosniff", "connection: close"} <= set(head.lower().split("\r\n"))
    assert "content-security-policy: default-src 'none'" in head.lower()
    assert '"code":"internal"' in body
    assert "srv" not in response
    assert any(record.exc_info and record.exc_info[0] is ZeroDivisionError for record in caplog.records)
