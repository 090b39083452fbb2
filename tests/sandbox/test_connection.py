"""Connections of clients to the sandbox's proxy."""

import http.client
import socket
import ssl
import time

import pytest
from pytest_twisted import ensureDeferred
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from webdata.runtime.wire.exchange import SiteReply

PAGE = "http://www.google.com/search?q=coffee"


@ensureDeferred
async def test_one_tunnel_serves_many_requests(client):
    """A connection inside a tunnel stays open for any number of requests."""

    def many():
        connection = http.client.HTTPSConnection(*client.address, context=client.tls, timeout=10)
        connection.set_tunnel("www.google.com", 443)
        statuses = []
        for number in range(200):
            connection.request("GET", f"/search?q={number % 7}")
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        sockets = {connection.sock}
        connection.close()
        return statuses, sockets

    statuses, sockets = await deferToThread(many)
    assert statuses == [200] * 200
    assert None not in sockets


@ensureDeferred
async def test_pipelined_requests_are_answered_in_order(client):
    """Requests sent at once are answered one after the other, also where the first one is slow."""
    line = "GET http://www.google.com/search?q={} HTTP/1.1\r\nHost: www.google.com\r\n\r\n"
    sent = line.format("first+sandbox:slow=0.2") + line.format("second")
    answer = await client.raw(sent.encode() + b"GET http://www.google.com/ HTTP/1.0\r\n\r\n")
    titles = [part.partition("</title>")[0] for part in answer.decode().split("<title>")[1:]]
    assert titles == ["first sandbox:slow=0.2 - Google Search", "second - Google Search", "Google"]


@ensureDeferred
async def test_head_has_no_body(client):
    """HEAD gets the headers of GET, length included, and no body."""
    response, full = await client.request("HEAD", PAGE), await client.get(PAGE)
    assert (response.status, response.body) == (200, b"")
    assert int(response.headers["content-length"]) == len(full.body)


@pytest.mark.timed
@ensureDeferred
async def test_a_slow_page_delays_only_its_connection(client):
    """A slow page does not delay the pages of other connections."""
    start = time.monotonic()
    slow = client.get(f"{PAGE}+sandbox:slow=0.6")
    await client.get(PAGE)
    assert time.monotonic() - start < 0.5
    assert (await slow).status == 200
    assert time.monotonic() - start >= 0.6


@ensureDeferred
async def test_a_client_may_disconnect_while_it_waits(client):
    """The slow answer to a client that disconnected is dropped, its connection too."""

    def disconnect():
        connection = http.client.HTTPConnection(*client.address, timeout=0.2)
        connection.request("GET", f"{PAGE}+sandbox:slow=30")
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()

    await deferToThread(disconnect)
    await deferToThread(time.sleep, 0.1)
    assert not client.sandbox.listener.open


@ensureDeferred
async def test_a_reset_breaks_the_connection(client):
    """A reset ends the connection before the first byte, in a tunnel and outside."""
    for url in (PAGE, PAGE.replace("http:", "https:")):
        with pytest.raises(ConnectionResetError):
            await client.get(f"{url}+sandbox:reset")


@ensureDeferred
async def test_a_truncated_page_is_cut(client):
    """A truncated page is shorter than its Content-Length, in a tunnel and outside."""
    for url in (PAGE, PAGE.replace("http:", "https:")):
        with pytest.raises(http.client.IncompleteRead) as caught:
            await client.get(f"{url}+sandbox:truncated")
        assert abs(len(caught.value.partial) - caught.value.expected) <= 1


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40,
        b"\x00" * 1000,
        b"hello\r\n\r\n",
        b"GET http://www.google.com/ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /search?q=coffee HTTP/1.1\r\nHost: www.google.com\r\n\r\n",
        b"GET ftp://www.google.com/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://user:pass@www.google.com/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://\xff\xfe/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT www.google.com HTTP/1.1 extra\r\n\r\n",
        b"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT www.google.com:443/path HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT www.google.com:port HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT -a-.google.com:443 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST http://www.google.com/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
@ensureDeferred
async def test_nonsense_is_refused(client, data, caplog):
    """Bytes that are no proxy request get a 4xx, and nothing is logged."""
    answer = await client.raw(data + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 4")
    assert (await client.get(PAGE)).status == 200
    assert not caplog.records


@pytest.mark.parametrize(
    "target", [b"www.google.com:443", b"www.google.com:80", b"WWW.Google.COM.:443", b"www.google.com"]
)
@ensureDeferred
async def test_garbage_in_a_tunnel_ends_it(client, target, caplog):
    """Bytes that are no TLS end the tunnel, and nothing is logged."""
    answer = await client.raw(b"CONNECT " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n" + b"no TLS at all " * 100)
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert (await client.get(PAGE)).status == 200
    assert not caplog.records


@ensureDeferred
async def test_a_tunnel_in_a_tunnel_is_refused(client):
    """CONNECT inside a tunnel is refused."""
    response = await client.request("CONNECT", "https://www.google.com/")
    assert response.status == 400


@ensureDeferred
async def test_a_request_for_a_web_server_gets_the_usage(client):
    """A request without a host gets a description of how to use the proxy."""
    answer = await client.raw(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert b"This is a forward proxy" in answer


@ensureDeferred
async def test_a_tunnel_accepts_absolute_urls(client):
    """Inside a tunnel a request may have an absolute URL."""

    def fetch():
        connection = http.client.HTTPSConnection(*client.address, context=client.tls, timeout=10)
        connection.set_tunnel("www.google.com", 443)
        connection.request("GET", "https://www.google.com?q=1")
        status = connection.getresponse().status
        connection.close()
        return status

    assert await deferToThread(fetch) == 200


@ensureDeferred
async def test_early_bytes_belong_to_the_handshake(client):
    """A client that starts TLS before the tunnel is confirmed gets its handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client.tls.wrap_bio(incoming, outgoing, server_hostname="www.google.com")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    answer = await client.raw(
        b"CONNECT www.google.com:443 HTTP/1.1\r\nHost: a\r\n\r\n" + outgoing.read() + b"no TLS" * 100
    )
    head, _, hello = answer.partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 Connection established"
    assert hello[:2] == b"\x16\x03"


@ensureDeferred
async def test_many_clients_at_once(client):
    """Fifty clients at once all get their pages."""
    pages = [client.get(f"https://www.google.com/search?q={number}") for number in range(50)]
    assert [(await page).status for page in pages] == [200] * 50


@ensureDeferred
async def test_pieces_are_sent_unchanged(client, monkeypatch):
    """A reply in pieces is sent piece by piece, over http and https, and then the connection is closed."""
    pieces = [b"HTTP/1.1 200 OK\r\n", b"A: b\r\n\r\n", b"body"]
    monkeypatch.setattr(client.sandbox, "answer", lambda request: SiteReply(pieces=lambda: iter(pieces), pause=0.02))
    for scheme in ("http", "https"):
        response = await client.get(f"{scheme}://www.google.com/")
        assert (response.headers, response.body) == ({"a": "b"}, b"body")


@ensureDeferred
async def test_pieces_are_produced_as_fast_as_they_are_read(client, monkeypatch):
    """A client that does not read gets no more than the buffers hold; when it disconnects, the pieces end."""
    produced = []

    def pieces():
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for _ in range(2000):
            produced.append(1)
            yield bytes(65536)

    monkeypatch.setattr(client.sandbox, "answer", lambda request: SiteReply(pieces=pieces))
    with socket.create_connection(client.address) as sock:
        sock.sendall(b"GET http://www.google.com/ HTTP/1.1\r\nHost: a\r\n\r\n")
        await deferLater(reactor, 0.3)
        assert 0 < len(produced) < 1900
    while client.sandbox.listener.open:
        await deferLater(reactor, 0.01)
