"""Bodies that are sent in pieces, over real sockets."""

import asyncio
import socket
import ssl
from time import monotonic

import pytest
from twisted.internet import reactor
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET

from webdata.config.config import Config
from webdata.faces.api.refusals import RefusalReplies
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.sending import PIECE, send
from webdata.runtime.server.site import Site
from webdata.runtime.server.tls import ServerTLS

pytestmark = pytest.mark.task

LARGE = bytes(range(256)) * 40_000
"""10 MB: more than the buffers of two sockets hold."""


class Bodies(Resource):
    """Answers with `body`, and records how each response ended."""

    isLeaf = True  # noqa: N815  # Twisted's name

    def __init__(self, body):
        super().__init__()
        self.body = body
        self.ends = asyncio.Queue()

    def render(self, request):
        request.setHeader(b"content-length", b"%d" % len(self.body))
        request.notifyFinish().addBoth(self.ends.put_nowait)
        send(request, self.body)
        return NOT_DONE_YET


def nobody(request):
    raise NotImplementedError("no request has a body here")


@pytest.fixture
def bodies():
    return Bodies(LARGE)


@pytest.fixture
def connections():
    return Connections()


@pytest.fixture
def port(bodies, connections):
    listening = reactor.listenTCP(0, Site(bodies, connections, RefusalReplies(), nobody), interface="127.0.0.1")
    yield listening.getHost().port
    listening.stopListening()


async def connected(port):
    """A client with a small buffer that has sent a request."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    client.setblocking(False)  # the standard library's signature
    await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
    await asyncio.get_running_loop().sock_sendall(client, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    return client


async def received(client):
    whole = b""
    while part := await asyncio.get_running_loop().sock_recv(client, 1_000_000):
        whole += part
    return whole.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, len(LARGE)])
async def test_bodies_arrive_whole(port, bodies, size):
    """A body of any size is received as it is."""
    bodies.body = LARGE[:size]
    with await connected(port) as client:
        assert await asyncio.wait_for(received(client), 10) == bodies.body


async def test_a_large_body_is_not_copied_for_a_client_that_does_not_read(port, bodies, connections):
    """While the client reads nothing, buffers hold a few pieces, and the response has not ended."""
    with await connected(port) as client:
        await asyncio.sleep(0.2)
        (connection,) = connections._open
        buffered = len(connection.transport.dataBuffer) + connection.transport._tempDataLen
        assert 0 < buffered <= 2 * PIECE
        assert connection.now_unsent()[0] > buffered
        assert bodies.ends.empty()
        assert await asyncio.wait_for(received(client), 10) == LARGE
        assert await asyncio.wait_for(bodies.ends.get(), 5) is None


@pytest.mark.timed
async def test_a_response_ends_when_its_client_leaves(port, bodies):
    """A client that leaves in the middle ends its response."""
    before = monotonic()
    (await connected(port)).close()
    assert await asyncio.wait_for(bodies.ends.get(), 5) is not None
    assert monotonic() - before < 5


@pytest.mark.parametrize("size", [1, PIECE, PIECE + 1])
async def test_views_of_bodies_arrive_by_tls(bodies, connections, tmp_path, size):
    """A view of a larger body, as of a cached one, is received as it is."""
    bodies.body = memoryview(LARGE)[7 : 7 + size]
    factory = TLSMemoryBIOFactory(
        ServerTLS(Config(tls_folder=tmp_path)), False, Site(bodies, connections, RefusalReplies(), nobody)
    )
    listening = reactor.listenTCP(0, factory, interface="127.0.0.1")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.getHost().port, ssl=trusting)
    writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    whole = await asyncio.wait_for(reader.read(), 10)
    listening.stopListening()
    assert whole.partition(b"\r\n\r\n")[2] == bodies.body
