"""The guard's proxy, over sockets."""

import asyncio
import ipaddress
import re
import socket
from base64 import b64encode
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from webdata.domain.errors import ConfigError, TargetError, UpstreamError, UpstreamTimeoutError
from webdata.fetching.egress import outbound, relay
from webdata.fetching.egress import proxy as egress_proxy
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.proxy import MAX_FAULTS, GuardProxy
from webdata.fetching.egress.rule import Rule, Target
from webdata.sandbox.names import sandbox_resolver
from webdata.sandbox.server import Sandbox

pytestmark = pytest.mark.task


@pytest.fixture
def proxied(ground):
    """Opens a proxy that may reach the tests' site: `async with proxied() as (proxy, listener, site)`."""

    @asynccontextmanager
    async def open_proxy(ports=(), resolver=sandbox_resolver, **options):
        async with ground() as (listener, site):
            rule = Rule(frozenset({80, 443, listener.port, site.port, *ports}), (ipaddress.ip_network("127.0.0.2/32"),))
            proxy = GuardProxy(Guard(rule, resolver), **options)
            proxy.port = urlsplit(await proxy.start()).port
            try:
                yield proxy, listener, site
            finally:
                await proxy.stop()

    return open_proxy


def authorization(proxy):
    return b"Proxy-Authorization: Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode())


async def exchange(proxy, line, *headers, body=b"", authorized=True):
    """Send one request; return all bytes until the proxy closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    headers = [*headers, authorization(proxy)] if authorized else headers
    writer.write(b"\r\n".join([line, b"Host: any", *headers, b"", b""]) + body)
    try:
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


def status(answer):
    return int(answer.split(b" ", 2)[1])


def to(site):
    return f"127.0.0.2:{site.port}".encode()


async def test_plain_requests_are_forwarded(proxied):
    """The site receives a request for the path, and the client the complete response."""
    async with proxied() as (proxy, _, site):
        answer = await exchange(proxy, b"GET http://%s/a/../page?q=1 HTTP/1.1" % to(site), b"Accept: */*")
    assert answer.endswith(b"a page")
    [head] = site.requests
    assert head.startswith(b"GET /page?q=1 HTTP/1.1\r\nhost: %s\r\n" % to(site))
    assert b"accept: */*" in head


@pytest.mark.parametrize("path", [b"//two/slashes", b"/?", b"/a;b?c=//d"])
async def test_the_target_of_a_request_is_as_the_browser_has_it(proxied, path):
    """Nothing of a path or a query is read as something else, nor is an empty part of it left out."""
    async with proxied() as (proxy, _, site):
        await exchange(proxy, b"GET http://%s%s HTTP/1.1" % (to(site), path))
    assert site.requests[0].startswith(b"GET %s HTTP/1.1\r\n" % path)


async def test_bodies_are_forwarded(proxied):
    """The site receives a posted form."""
    async with proxied() as (proxy, _, site):
        line = b"POST http://%s/form HTTP/1.1" % to(site)
        assert status(await exchange(proxy, line, b"Content-Length: 3", body=b"a=b")) == 200
    assert site.requests[0].startswith(b"POST /form")
    assert b"content-length: 3" in site.requests[0]


async def test_hop_by_hop_headers_are_not_forwarded(proxied):
    """Proxy credentials, headers that `Connection` lists and other hop-by-hop headers are dropped."""
    hops = [
        b"Connection: X-Mine, close",
        b"X-Mine: 1",
        b"Keep-Alive: 5",
        b"TE: trailers",
        b"Upgrade: h2c",
        b"X-Else: 2",
    ]
    async with proxied() as (proxy, _, site):
        await exchange(proxy, b"GET http://%s/ HTTP/1.1" % to(site), *hops, b"Proxy-Connection: keep-alive")
    names = {line.split(b":")[0] for line in site.requests[0].split(b"\r\n")[1:] if line}
    assert names == {b"host", b"connection", b"x-else"}


async def test_tunnels_copy_bytes_in_both_directions(proxied):
    """After the 200 for a CONNECT all bytes are copied unchanged."""
    async with proxied() as (proxy, _, site):
        answer = await exchange(proxy, b"CONNECT %s HTTP/1.1" % to(site), body=b"GET /x HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 Fine")
    assert answer.endswith(b"a page")


async def test_a_large_body_reaches_a_slow_reader(proxied):
    """Nothing of a body is lost when the client reads slower than the site sends."""
    page = bytes(8 * 1024 * 1024)
    async with proxied() as (proxy, _, site):
        site.pages["/big"] = page
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1024)
        writer.write(b"GET http://%s/big HTTP/1.1\r\nHost: any\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        await asyncio.sleep(0.1)
        received = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    assert received.endswith(page)


@pytest.mark.parametrize(
    "target", ["127.0.0.1:P", "[::1]:P", "localhost:P", "10-0-0-1.trap.example:P", "0x7f.1:P", "a.example:22"]
)
async def test_forbidden_targets_are_refused(proxied, target):
    """A tunnel is refused with 403, a plain request without a response, and `fault` returns TargetError."""
    async with proxied() as (proxy, listener, _):
        target = target.replace("P", str(listener.port))
        answer = await exchange(proxy, b"CONNECT %s HTTP/1.1" % target.encode())
        assert status(answer) == 403
        assert answer.endswith(b"\r\n\r\nForbidden\n")
        assert await exchange(proxy, b"GET http://%s/ HTTP/1.1" % target.encode()) == b""
        for scheme in ("http", "https"):
            assert isinstance(proxy.fault(f"{scheme}://{target}/any"), TargetError)
    assert not listener.received


@pytest.mark.parametrize(
    ("target", "parent", "kind"),
    [
        ("nowhere.trap.example:80", None, "dns"),
        ("127.0.0.2:80", None, "refused"),
        ("www.example.com:443", "http://127.0.0.2:1", "proxy"),
    ],
)
async def test_the_reason_of_a_failed_connection_is_stored(proxied, target, parent, kind):
    """A name without addresses, a refused connection and an unreachable parent proxy have kinds of their own."""
    async with proxied(parent=parent) as (proxy, *_):
        assert proxy.fault(f"https://{target}/") is None
        assert status(await exchange(proxy, b"CONNECT %s HTTP/1.1" % target.encode())) == 502
        assert proxy.fault(f"https://{target}/").kind == kind
        assert await exchange(proxy, b"GET http://%s/ HTTP/1.1" % target.encode()) == b""
        assert proxy.fault(f"http://{target}/x").kind == kind


@pytest.mark.parametrize("error", [UpstreamTimeoutError("silent", "dns_timeout"), UpstreamError("down", "dns_failed")])
async def test_a_failure_of_the_name_servers_is_stored(proxied, error):
    """It is the fault of the connection, with the type and kind that the resolver raised."""

    async def resolve(name, caller):
        raise error

    async with proxied(resolver=resolve) as (proxy, *_):
        assert status(await exchange(proxy, b"CONNECT site.example:443 HTTP/1.1")) == 502
        fault = proxy.fault("https://site.example/")
    assert (type(fault), fault.kind) == (type(error), error.kind)


async def test_a_fault_is_deleted_after_a_successful_connection(proxied):
    """Faults are stored for the latest MAX_FAULTS hosts and ports."""
    async with proxied() as (proxy, _, site):
        url = f"http://127.0.0.2:{site.port}/"
        proxy._record_fault(url, UpstreamError("refused", "refused"))
        await exchange(proxy, b"GET %s HTTP/1.1" % url.encode())
        assert proxy.fault(url) is None
        for number in range(2 * MAX_FAULTS):
            proxy._record_fault(f"http://{number}.example/", UpstreamError("dns", "dns"))
        assert len(proxy._faults) == MAX_FAULTS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"CONNECT good@127.0.0.2:80 HTTP/1.1", 400),
        (b"CONNECT 127.0.0.2:80/x HTTP/1.1", 400),
        (b"CONNECT 127.0.0.2:x HTTP/1.1", 400),
        (b"CONNECT 127.0.0.2 HTTP/1.1", 400),
        (b"GET https://127.0.0.2/ HTTP/1.1", 400),
        (b"\x16\x03\x01", 400),
    ],
)
async def test_malformed_requests_are_answered_with_400(proxied, line, expected):
    """Invalid CONNECT targets, https in absolute form and anything but HTTP are refused with a status."""
    async with proxied() as (proxy, *_):
        assert status(await exchange(proxy, line)) == expected


@pytest.mark.parametrize("line", [b"GET /path HTTP/1.1", b"GET file:///etc/passwd HTTP/1.1", b"GET http://[/ HTTP/1.1"])
async def test_a_request_without_a_site_gets_no_response(proxied, line):
    """For a path, another scheme or an invalid URL the connection is closed without a response."""
    async with proxied() as (proxy, *_):
        assert await exchange(proxy, line) == b""


async def test_clients_without_the_password_get_a_407(proxied):
    """The status is the same for allowed and for forbidden targets."""
    async with proxied() as (proxy, _, site):
        for url in (b"http://%s/" % to(site), b"http://127.0.0.1/"):
            for headers in ((), (b"Proxy-Authorization: Basic d2ViZGF0YTo=",)):
                answer = await exchange(proxy, b"GET %s HTTP/1.1" % url, *headers, authorized=False)
                assert status(answer) == 407
                assert b'Proxy-Authenticate: Basic realm="webdata"' in answer
    assert not site.requests


async def test_hop_by_hop_headers_of_responses_are_dropped(proxied, monkeypatch):
    """Interim responses (1xx) and headers for the proxy are not forwarded."""
    monkeypatch.setattr(relay, "IDLE_SECONDS", 0.2)

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nProxy-Authenticate: Basic\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        )
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    async with proxied(ports=[port]) as (proxy, *_):
        answer = await exchange(proxy, b"GET http://127.0.0.2:%d/ HTTP/1.1" % port)
    server.close()
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (number, b"a" * 900) for number in range(60)),
        b"HTTP/1.1 200 OK\r\n" + b"a:b\r\n" * 1000 + b"\r\n",
        b"a" * 60_000,
    ],
    ids=["1xx", "headers", "short headers", "one line"],
)
async def test_endless_heads_are_not_read(proxied, answer):
    """A site that sends headers or interim responses without end gets its connection closed at once."""
    sent, left = 0, asyncio.Event()

    async def serve(reader, writer):
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        with suppress(OSError):
            while sent < 60_000_000:
                writer.write(answer)
                sent += len(answer)
                await writer.drain()
        left.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    async with proxied(ports=[port]) as (proxy, *_), asyncio.timeout(3):
        assert await exchange(proxy, b"GET http://127.0.0.2:%d/ HTTP/1.1" % port) == b""
        await left.wait()
        assert proxy.fault(f"http://127.0.0.2:{port}/").kind == "too_many_headers"
    server.close()
    assert sent < 10_000_000


async def test_idle_connections_are_closed(proxied, monkeypatch):
    """A tunnel without traffic is closed after the idle limit."""
    monkeypatch.setattr(relay, "IDLE_SECONDS", 0.1)
    async with proxied() as (proxy, _, site):
        answer = await exchange(proxy, b"CONNECT %s HTTP/1.1" % to(site))
    assert status(answer) == 200


async def test_connections_beyond_the_limit_are_closed(proxied, monkeypatch):
    """One more connection is closed at once, without a response."""
    monkeypatch.setattr(egress_proxy, "MAX_CONNECTIONS", 1)
    async with proxied() as (proxy, _, site):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT %s HTTP/1.1\r\nHost: any\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await other_reader.read() == b""
        writer.close()
        other_writer.close()


async def test_stopping_closes_everything(proxied):
    """Tunnels are closed with the proxy, and its port refuses connections."""
    async with proxied() as (proxy, _, site):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT %s HTTP/1.1\r\nHost: any\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        await reader.readuntil(b"\r\n\r\n")
        await proxy.stop()
        assert await asyncio.wait_for(reader.read(), 1) == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", proxy.port)
        assert not proxy._listener.open


async def test_a_parent_proxy_may_have_a_name(proxied, names):
    """It is the operator's, so the reactor resolves it: the guard's rule is for targets."""
    sandbox = Sandbox()
    port = urlsplit(await sandbox.start()).port
    names.table["proxy.example"] = [["127.0.0.1"]]
    async with proxied(parent=f"http://proxy.example:{port}") as (proxy, *_):
        assert status(await exchange(proxy, b"GET http://www.example.com/ HTTP/1.1")) == 200
    async with proxied(parent=f"http://nowhere.example:{port}") as (proxy, *_):
        assert await exchange(proxy, b"GET http://www.example.com/ HTTP/1.1") == b""
        assert proxy.fault("http://www.example.com/").kind == "proxy"
    await sandbox.stop()


async def test_a_parent_proxy_receives_checked_targets_only(proxied):
    """The target is checked first; then the parent proxy opens a tunnel to its name."""
    sandbox = Sandbox()
    url = await sandbox.start()
    async with proxied(parent=url) as (proxy, *_):
        assert await exchange(proxy, b"GET http://10-0-0-1.trap.example/ HTTP/1.1") == b""
        assert not sandbox.listener.open
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT www.google.com:443 HTTP/1.1\r\nHost: any\r\n%s\r\n\r\n" % authorization(proxy))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()
    await sandbox.stop()


@asynccontextmanager
async def parent_proxy(response):
    """A parent proxy that sends the same response to all: `async with parent_proxy(...) as (url, heads)`."""
    heads = []

    async def serve(reader, writer):
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(response)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://user:p%40ss@127.0.0.1:{server.sockets[0].getsockname()[1]}", heads
    server.close()


PASSWORD = b64encode(b"user:p@ss")


async def test_a_parent_proxy_receives_its_own_password(proxied):
    """The credentials of its URL are sent with the CONNECT, and no others."""
    async with parent_proxy(b"HTTP/1.1 407 No\r\n\r\n") as (url, heads), proxied(parent=url) as (proxy, *_):
        assert status(await exchange(proxy, b"CONNECT [2606:4700::1]:443 HTTP/1.1")) == 502
    assert heads[0].startswith(b"CONNECT [2606:4700::1]:443 HTTP/1.1\r\n")
    assert re.findall(rb"Proxy-Authorization: Basic (.*)\r\n", heads[0]) == [PASSWORD]


async def test_a_parent_proxy_receives_plain_requests_in_absolute_form(proxied):
    """Many proxies open tunnels to port 443 only; http is sent in absolute form, with the password."""
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with parent_proxy(ok) as (url, heads), proxied(parent=url) as (proxy, *_):
        answer = await exchange(proxy, b"GET http://www.example.com/a?b#c HTTP/1.1", b"Accept: */*")
    assert answer.endswith(b"\r\n\r\nok")
    assert heads[0].startswith(b"GET http://www.example.com/a?b HTTP/1.1\r\nhost: www.example.com\r\n")
    assert re.findall(rb"proxy-authorization: Basic (.*)\r\n", heads[0]) == [PASSWORD]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", b"nonsense", b""])
async def test_a_failing_parent_proxy_is_a_fault_of_kind_proxy(proxied, answer):
    """The fault is stored for a 407, for anything but HTTP, and for a closed connection."""
    async with parent_proxy(answer) as (url, _), proxied(parent=url) as (proxy, *_):
        assert await exchange(proxy, b"GET http://www.example.com/ HTTP/1.1") == b""
        assert proxy.fault("http://www.example.com/").kind == "proxy"


async def test_a_tunnel_that_nobody_waits_for_is_closed(proxied):
    """A parent proxy that is silent loses its connection when the browser's context is closed."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader, writer):
        began.set()
        await reader.read(-1)
        ended.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with proxied(parent=url) as (proxy, *_):
        asking = asyncio.create_task(exchange(proxy, b"CONNECT [2606:4700::1]:443 HTTP/1.1"))
        await began.wait()
    await asyncio.wait_for(ended.wait(), 20)
    with suppress(ConnectionResetError):
        await asking
    server.close()


async def test_a_target_has_one_time_limit_for_all_of_its_addresses(monkeypatch):
    """A name may have a hundred addresses, none of which answers."""
    monkeypatch.setattr(outbound, "ALL_SECONDS", 0.5)
    with socket.create_server(("0.0.0.0", 0), backlog=0) as silent:
        port = silent.getsockname()[1]
        addresses = [ipaddress.ip_address(f"127.0.1.{number}") for number in range(1, 101)]
        waiting = [socket.create_connection(("127.0.0.1", port))]  # all that it accepts
        target = Target("http", "silent.example", port, f"http://silent.example:{port}/")
        with pytest.raises(UpstreamError, match="could not be reached"):
            await outbound.connect_to_target(target, addresses, None, tunnel=False)
        waiting[0].close()


async def test_a_site_that_closes_its_connection_is_not_a_fault(proxied):
    """The client's connection is closed without a response too."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    async with proxied(ports=[port]) as (proxy, *_):
        assert await exchange(proxy, b"GET http://127.0.0.2:%d/ HTTP/1.1" % port) == b""
        assert proxy.fault(f"http://127.0.0.2:{port}/") is None
    server.close()


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:1", "ftp://secret@proxy", "nonsense", "http://secret@proxy:x"])
async def test_an_unusable_proxy_url_is_refused(url):
    """The message shows a valid URL, and does not repeat the password."""
    with pytest.raises(ConfigError, match="such as http://user:password@host:3128") as caught:
        GuardProxy(Guard(Rule(frozenset({80})), sandbox_resolver), parent=url)
    assert "secret" not in str(caught.value)
