"""A proxy on a port, with an upstream on another one.

What uses the installed reactor is imported late, since this file is imported before one is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.config.gateway_routes import GatewayRoute
from webdata.resources.web_search import WEB_SEARCH

Behaviour = Callable[["Connection"], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SECRET = "the secret of the gateway"


class Connection:
    """A connection to the upstream."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    async def head(self):
        """The request line, and the headers by their names in lower case."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.strip().split("\r\n")
        headers = {}
        for name, _, value in (one.partition(": ") for one in lines):
            headers.setdefault(name.lower(), []).append(value)
        return line, headers

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()


class Upstream:
    """A server whose connections all behave the same; what it has heard is in `heads`."""

    def __init__(self):
        self.behaviour = None
        self.heads = []
        self.connections = 0
        self.failures = []

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        self.connections += 1
        connection = Connection(reader, writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await (self.behaviour or self._ok)(connection)
        except AssertionError as error:
            self.failures.append(error)
        finally:
            writer.close()

    async def _ok(self, connection):
        while True:
            head = await connection.head()
            self.heads.append(head)
            await connection.reader.readexactly(int(head[1].get("content-length", ["0"])[0]))
            await connection.send(OK.removesuffix(b"ok" if head[0].startswith("HEAD") else b""))


@pytest_twisted.async_fixture
async def started_upstream(starts):
    one = Upstream()
    await deferred_from_coro(one.start())
    return one


@pytest.fixture
def upstream(started_upstream):
    yield started_upstream
    started_upstream.server.close()
    assert not started_upstream.failures


@pytest.fixture
def routes(upstream):
    base = f"http://127.0.0.1:{upstream.port}"
    return (
        GatewayRoute(prefix="billing", url=f"{base}/v2", timeout=0.5, headers={"Authorization": "Bearer of-the-route"}),
        GatewayRoute(prefix="files", url=base, timeout=0.5),
        GatewayRoute(prefix="whole", url=base, strip=False, timeout=0.5),
        GatewayRoute(prefix="paid", url=base, credit=True, timeout=0.5),
        GatewayRoute(prefix="gone", url="http://127.0.0.1:9", timeout=0.5),
    )


@pytest.fixture
def targets(routes):
    from webdata.faces.gateway.targets import Targets

    return Targets(routes, SECRET)


@pytest.fixture
def counted():
    """The prefix and the status of each request to a route."""
    return []


@pytest.fixture
def gateway(admission, targets, counted):
    from webdata.faces.api.app import Api
    from webdata.faces.gateway.proxy import GatewayProxy

    access = (admission.api_keys, admission.rate_limits, admission.credits)
    proxy = GatewayProxy(targets, *access, lambda *request: counted.append(request))
    yield Api([WEB_SEARCH], admission, proxy=proxy)
    pytest_twisted.blockon(deferred_from_coro(proxy.close()))


@pytest.fixture
def port(gateway, starts):
    from twisted.internet import reactor

    listening = reactor.listenTCP(0, gateway.site(), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


class Answer:
    """A response as a client gets it."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body


@pytest.fixture
def ask(port, test_secret):
    """Sends a request as it is, over a connection of its own, and returns the response."""

    async def send(target="/files/x", method="GET", headers=(), body=b"", key=test_secret):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = [f"{method} {target} HTTP/1.1", "Host: api.example", *headers]
        lines += [f"X-Api-Key: {key}"] if key else []
        lines += [f"Content-Length: {len(body)}"] if body else []
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        try:
            async with asyncio.timeout(5):
                return await read_answer(reader, method)
        finally:
            writer.close()

    return send


async def read_answer(reader, method="GET"):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(head.split()[1])
    headers = {}
    for line in head.strip().split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        headers.setdefault(name.lower(), []).append(value)
    length = headers.get("content-length")
    if method == "HEAD" or status in (204, 304):
        return Answer(status, headers, b"")
    if length:
        return Answer(status, headers, await reader.readexactly(int(length[0])))
    if headers.get("transfer-encoding") == ["chunked"]:
        return Answer(status, headers, await read_chunks(reader))
    return Answer(status, headers, await reader.read())


async def read_chunks(reader):
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body
