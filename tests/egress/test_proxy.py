"""The guard's proxy over real sockets."""

import asyncio
import ipaddress
import re
from base64 import b64encode
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from webdata.domain.errors import ConfigError, TargetError
from webdata.egress.guard import Guard, sandbox_resolver
from webdata.egress.proxy import MOST, GuardProxy
from webdata.egress.relay import RateLimits
from webdata.egress.rule import Rule
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


async def said(proxy, line, *headers, body=b"", known=True):
    """What a client gets back until the proxy closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    headers = [*headers, authorization(proxy)] if known else headers
    writer.write(b"\r\n".join([line, *headers, b"", b""]) + body)
    try:
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()


def status(answer):
    return int(answer.split(b" ", 2)[1])


def to(site):
    return f"127.0.0.2:{site.port}".encode()


async def test_plain_requests_are_forwarded(proxied):
    """The site is asked for its path; the answer comes back whole."""
    async with proxied() as (proxy, _, site):
        answer = await said(proxy, b"GET http://%s/a/../page?q=1 HTTP/1.1" % to(site), b"Accept: */*")
    assert answer.endswith(b"a page")
    [head] = site.asked
    assert head.startswith(b"GET /page?q=1 HTTP/1.1\r\nhost: %s\r\n" % to(site))
    assert b"accept: */*" in head


async def test_bodies_are_forwarded(proxied):
    """A posted form arrives."""
    async with proxied() as (proxy, _, site):
        line = b"POST http://%s/form HTTP/1.1" % to(site)
        assert status(await said(proxy, line, b"Content-Length: 3", body=b"a=b")) == 200
    assert site.asked[0].startswith(b"POST /form")
    assert b"content-length: 3" in site.asked[0]


async def test_headers_of_one_connection_stay_there(proxied):
    """The password, what `Connection` names and the other hop-by-hop headers are not passed on."""
    hops = [
        b"Connection: X-Mine, close",
        b"X-Mine: 1",
        b"Keep-Alive: 5",
        b"TE: trailers",
        b"Upgrade: h2c",
        b"X-Else: 2",
    ]
    async with proxied() as (proxy, _, site):
        await said(proxy, b"GET http://%s/ HTTP/1.1" % to(site), *hops, b"Proxy-Connection: keep-alive")
    names = {line.split(b":")[0] for line in site.asked[0].split(b"\r\n")[1:] if line}
    assert names == {b"host", b"connection", b"x-else"}


async def test_tunnels_carry_bytes_both_ways(proxied):
    """After the 200 of a CONNECT the proxy is only a wire."""
    async with proxied() as (proxy, _, site):
        answer = await said(proxy, b"CONNECT %s HTTP/1.1" % to(site), body=b"GET /x HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 Fine")
    assert answer.endswith(b"a page")


async def test_large_bodies_pass_a_slow_reader(proxied):
    """The proxy holds no more than it can hand on, and loses nothing."""
    page = bytes(8 * 1024 * 1024)
    async with proxied() as (proxy, _, site):
        site.pages["/big"] = page
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, limit=1024)
        writer.write(b"GET http://%s/big HTTP/1.1\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        await asyncio.sleep(0.1)
        got = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    assert got.endswith(page)


@pytest.mark.parametrize(
    "target", ["127.0.0.1:P", "[::1]:P", "localhost:P", "10-0-0-1.trap.example:P", "0x7f.1:P", "a.example:22"]
)
async def test_what_is_not_allowed_is_refused(proxied, target):
    """A tunnel with 403, a plain request with nothing that could be taken for the site's; who asks is told why."""
    async with proxied() as (proxy, listener, _):
        target = target.replace("P", str(listener.port))
        answer = await said(proxy, b"CONNECT %s HTTP/1.1" % target.encode())
        assert status(answer) == 403
        assert answer.endswith(b"\r\n\r\nForbidden\n")
        assert await said(proxy, b"GET http://%s/ HTTP/1.1" % target.encode()) == b""
        for scheme in ("http", "https"):
            assert isinstance(proxy.fault(f"{scheme}://{target}/any"), TargetError)
    assert not listener.seen


@pytest.mark.parametrize(
    ("target", "upstream", "kind"),
    [
        ("nowhere.trap.example:80", None, "dns"),
        ("127.0.0.2:80", None, "refused"),
        ("www.example.com:443", "http://127.0.0.2:1", "proxy"),
    ],
)
async def test_why_there_is_no_way_is_known(proxied, target, upstream, kind):
    """A name without addresses, a host that refuses and a proxy on the way that is not there are told apart."""
    async with proxied(upstream=upstream) as (proxy, *_):
        assert proxy.fault(f"https://{target}/") is None
        assert status(await said(proxy, b"CONNECT %s HTTP/1.1" % target.encode())) == 502
        assert proxy.fault(f"https://{target}/").kind == kind
        assert await said(proxy, b"GET http://%s/ HTTP/1.1" % target.encode()) == b""
        assert proxy.fault(f"http://{target}/x").kind == kind


async def test_a_fault_is_forgotten_when_there_is_a_way(proxied):
    """What was wrong once is not told of the next connection, and no more are remembered than there is room for."""
    async with proxied() as (proxy, _, site):
        url = f"http://127.0.0.2:{site.port}/"
        proxy._note(url, "refused")
        await said(proxy, b"GET %s HTTP/1.1" % url.encode())
        assert proxy.fault(url) is None
        for number in range(2 * MOST):
            proxy._note(f"http://{number}.example/", "dns")
        assert len(proxy._faults) == MOST


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
async def test_what_it_cannot_do_is_told(proxied, line, expected):
    """Requests of other forms have their status."""
    async with proxied() as (proxy, *_):
        assert status(await said(proxy, line)) == expected


@pytest.mark.parametrize("line", [b"GET /path HTTP/1.1", b"GET file:///etc/passwd HTTP/1.1", b"GET http://[/ HTTP/1.1"])
async def test_what_is_no_target_has_no_answer(proxied, line):
    """What is no URL of a site's is closed without a word."""
    async with proxied() as (proxy, *_):
        assert await said(proxy, line) == b""


async def test_strangers_are_not_served(proxied):
    """Without the password of this process there is a 407, whatever is asked for."""
    async with proxied() as (proxy, _, site):
        for url in (b"http://%s/" % to(site), b"http://127.0.0.1/"):
            for headers in ((), (b"Proxy-Authorization: Basic d2ViZGF0YTo=",)):
                answer = await said(proxy, b"GET %s HTTP/1.1" % url, *headers, known=False)
                assert status(answer) == 407
                assert b'Proxy-Authenticate: Basic realm="webdata"' in answer
    assert not site.asked


async def test_answers_lose_the_headers_of_their_connection(proxied):
    """Early answers (1xx) are left out, and so is what was meant for the proxy."""

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
    async with proxied(ports=[port], limits=RateLimits(idle=0.2)) as (proxy, *_):
        answer = await said(proxy, b"GET http://127.0.0.2:%d/ HTTP/1.1" % port)
    server.close()
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


async def test_idle_connections_are_closed(proxied):
    """A tunnel through which nothing moves ends."""
    async with proxied(limits=RateLimits(idle=0.1)) as (proxy, _, site):
        answer = await said(proxy, b"CONNECT %s HTTP/1.1" % to(site))
    assert status(answer) == 200


async def test_there_are_no_more_connections_than_allowed(proxied):
    """One more is closed at once, which nobody takes for an answer of the site's."""
    async with proxied(limits=RateLimits(connections=1)) as (proxy, _, site):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT %s HTTP/1.1\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        other, another = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await other.read() == b""
        writer.close()
        another.close()


async def test_stopping_closes_everything(proxied):
    """Tunnels end with the proxy, and its port is free."""
    async with proxied() as (proxy, _, site):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT %s HTTP/1.1\r\n%s\r\n\r\n" % (to(site), authorization(proxy)))
        await reader.readuntil(b"\r\n\r\n")
        await proxy.stop()
        assert await asyncio.wait_for(reader.read(), 1) == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", proxy.port)
        assert not proxy._open


async def test_another_proxy_is_asked_after_the_check(proxied):
    """With an upstream proxy the target is checked here and tunnelled there, by its name."""
    sandbox = Sandbox()
    url = await sandbox.start()
    async with proxied(upstream=url) as (proxy, *_):
        assert await said(proxy, b"GET http://10-0-0-1.trap.example/ HTTP/1.1") == b""
        assert not sandbox.connections
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT www.google.com:443 HTTP/1.1\r\n%s\r\n\r\n" % authorization(proxy))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()
    await sandbox.stop()


@asynccontextmanager
async def another(answer):
    """A proxy on the way that gives everyone the same answer: `async with another(...) as (URL, heads)`."""
    heads = []

    async def serve(reader, writer):
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://user:p%40ss@127.0.0.1:{server.sockets[0].getsockname()[1]}", heads
    server.close()


PASSWORD = b64encode(b"user:p@ss")


async def test_the_password_of_another_proxy_is_told_to_it_alone(proxied):
    """It comes out of the URL, into the upstream's CONNECT."""
    async with another(b"HTTP/1.1 407 No\r\n\r\n") as (url, heads), proxied(upstream=url) as (proxy, *_):
        assert status(await said(proxy, b"CONNECT [2606:4700::1]:443 HTTP/1.1")) == 502
    assert heads[0].startswith(b"CONNECT [2606:4700::1]:443 HTTP/1.1\r\n")
    assert re.findall(rb"Proxy-Authorization: Basic (.*)\r\n", heads[0]) == [PASSWORD]


async def test_another_proxy_gets_plain_requests_as_such(proxied):
    """Proxies that open tunnels to port 443 alone are asked for http in absolute form, with their password."""
    fine = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with another(fine) as (url, heads), proxied(upstream=url) as (proxy, *_):
        answer = await said(proxy, b"GET http://www.example.com/a?b#c HTTP/1.1", b"Accept: */*")
    assert answer.endswith(b"\r\n\r\nok")
    assert heads[0].startswith(b"GET http://www.example.com/a?b HTTP/1.1\r\nhost: www.example.com\r\n")
    assert re.findall(rb"proxy-authorization: Basic (.*)\r\n", heads[0]) == [PASSWORD]


@pytest.mark.parametrize("answer", [b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", b"nonsense", b""])
async def test_a_proxy_on_the_way_that_does_not_do_its_part(proxied, answer):
    """One that wants another password, speaks no HTTP or says nothing is known as such."""
    async with another(answer) as (url, _), proxied(upstream=url) as (proxy, *_):
        assert await said(proxy, b"GET http://www.example.com/ HTTP/1.1") == b""
        assert proxy.fault("http://www.example.com/").kind == "proxy"


async def test_a_site_that_speaks_no_http_has_no_answer(proxied):
    """A site that closes without a word is told by closing without a word."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.2", 0)
    port = server.sockets[0].getsockname()[1]
    async with proxied(ports=[port]) as (proxy, *_):
        assert await said(proxy, b"GET http://127.0.0.2:%d/ HTTP/1.1" % port) == b""
        assert proxy.fault(f"http://127.0.0.2:{port}/") is None
    server.close()


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:1", "ftp://secret@proxy", "nonsense"])
async def test_another_kind_of_proxy_is_refused(url):
    """The message says what would be right, without repeating a password."""
    with pytest.raises(ConfigError, match="such as http://user:password@host:3128") as caught:
        GuardProxy(Guard(Rule(frozenset({80})), sandbox_resolver), upstream=url)
    assert "secret" not in str(caught.value)
