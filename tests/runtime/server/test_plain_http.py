"""Plain HTTP, over real sockets."""

import asyncio
import re
import socket
from contextlib import closing

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from twisted.internet import reactor
from twisted.internet.task import Clock

from webdata.config.config import Config
from webdata.faces.api.refusals import RefusalReplies
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.plain_http import TLS_HANDSHAKE, RedirectSite, secured
from webdata.runtime.server.site import Site
from webdata.runtime.server.tls import ServerTLS

pytestmark = pytest.mark.task

URL = "https://127.0.0.1:8443"
KEY = "wd_live_" + "a1B2" * 12 + "c"
SAFE_LOCATION = re.compile(r"https://(?:[A-Za-z0-9._-]+|\[[0-9a-f:.]+\])(?::8443)/[\x21-\x7e]*")


@pytest.fixture(scope="module")
def site():
    """Redirects to the host of the request, at port 8443."""
    return RedirectSite(URL, 8443, Connections(), RefusalReplies())


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def plain(clock):
    listening = reactor.listenTCP(
        0, RedirectSite(URL, 8443, Connections(clock=clock), RefusalReplies()), interface="127.0.0.1"
    )
    yield listening.getHost().port
    listening.stopListening()


async def exchange(port, sent, *, ends=True):
    """All data that is received until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        if ends:
            writer.write_eof()
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(
    ("sent", "location"),
    [
        ("GET /v1/search/q=caf%C3%A9&num=5?x=%2F%26 HTTP/1.1\r\nHost: data.example", "https://data.example:8443/v1/search/q=caf%C3%A9&num=5?x=%2F%26"),
        ("DELETE / HTTP/1.1\r\nHost: data.example:80", "https://data.example:8443/"),
        ("POST /v1/request HTTP/1.1\r\nHost: [::1]:8080\r\nContent-Length: 5000000", "https://[::1]:8443/v1/request"),
        ("GET /x HTTP/1.0", f"{URL}/x"),
        ("GET /x HTTP/1.1\r\nHost: user@evil.example", f"{URL}/x"),
        ("GET /x HTTP/1.1\r\nHost: evil.example/path", f"{URL}/x"),
        ("GET /x HTTP/1.1\r\nHost: [::zz]", f"{URL}/x"),
        ("GET /x HTTP/1.1\r\nHost: a..b", f"{URL}/x"),
        ("GET //evil.example/x HTTP/1.1\r\nHost: a.example", "https://a.example:8443//evil.example/x"),
        ("GET http://b.example:8080/x?y HTTP/1.1\r\nHost: a.example", "https://b.example:8443/x?y"),
        ("GET HTTP://b.example?y HTTP/1.1\r\nHost: a.example", "https://b.example:8443/?y"),
        ("OPTIONS * HTTP/1.1\r\nHost: a.example", "https://a.example:8443/"),
        ("GET /café HTTP/1.1\r\nHost: a.example", "https://a.example:8443/caf%C3%A9"),
        ("GET /x HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 5", "https://a.example:8443/x"),
    ],
)  # fmt: skip
async def test_every_request_is_redirected(plain, sent, location):
    """The answer is a 308 to the same address by HTTPS, sent before the body is read, and the connection is closed."""
    answer = await exchange(plain, f"{sent}\r\n\r\n".encode(), ends=False)
    head, _, body = answer.decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 308 Permanent Redirect\r\n")
    assert f"\nlocation: {location}\r\n" in f"{head}\r\n"
    assert "connection: close" in head
    assert "strict-transport-security" not in head
    problem = orjson.loads(body)
    assert (problem["error"]["code"], problem["status"]) == ("https_required", 308)
    assert "unencrypted" in problem["error"]["message"]


@pytest.mark.parametrize(
    "sent",
    [
        b"CONNECT data.example:443 HTTP/1.1\r\nHost: data.example:443\r\n\r\n",
        b"GET ftp://data.example/ HTTP/1.1\r\n\r\n",
        b"GET x HTTP/1.1\r\nHost: data.example\r\n\r\n",
        b"GET /x HTTP/1.1\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: a.example\r\n Host: b.example\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n",
    ],
)
async def test_what_cannot_be_redirected(plain, sent):
    """It gets the 400 of the API, and the connection is closed."""
    answer = await exchange(plain, sent)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b'"code":"bad_request"' in answer
    assert answer.count(b"HTTP/1.1 400") == 1


async def test_only_the_first_request_is_answered(plain):
    """A second request on the connection is dropped."""
    answer = await exchange(plain, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.count(b"HTTP/1.1 308") == 1


async def test_head_has_no_body(plain):
    """HEAD gets the headers alone."""
    answer = await exchange(plain, b"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n")
    assert answer.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize("header", ["X-Api-Key", "api-key", "x-apikey", "apikey"])
async def test_an_unencrypted_key(plain, header, caplog):
    """The answer asks to have the key replaced; the key is in no answer and no log."""
    caplog.set_level("INFO")
    with_key = await exchange(plain, f"GET /v1/search HTTP/1.1\r\nHost: a\r\n{header}: {KEY}\r\n\r\n".encode())
    in_target = await exchange(plain, f"GET /v1/search?apikey={KEY} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    without = await exchange(plain, b"GET /v1/search HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b"have it replaced" in with_key
    assert b"have it replaced" in in_target
    assert b"have it replaced" not in without
    assert KEY.encode() not in with_key + in_target
    assert b"/v1/search?apikey=wd_live_REMOVED\r\n" in in_target
    assert KEY not in caplog.text
    assert [record.args[4:] for record in caplog.records if record.name == "webdata.faces.api"][-2:] == [
        (", with a key",),
        ("",),
    ]


@pytest.fixture
def guarded():
    """A port that refuses keys, with its clock and the codes of requests with a key."""
    now, codes = [0.0], []
    site = RedirectSite(URL, 8443, Connections(), RefusalReplies(), True, codes.append, lambda: now[0])
    listening = reactor.listenTCP(0, site, interface="127.0.0.1")
    yield listening.getHost().port, now, codes
    listening.stopListening()


@pytest.mark.parametrize("sent", [f"GET /a HTTP/1.1\r\nHost: a\r\nX-Api-Key: {KEY}", f"GET /?key={KEY} HTTP/1.0"])
async def test_keys_may_be_refused(guarded, sent):
    """A request with a key gets a 403 without an address, one without a key is redirected; the former are counted."""
    port, _, codes = guarded
    answer = await exchange(port, f"{sent}\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert b"\nlocation:" not in head
    assert orjson.loads(body)["error"]["code"] == "insecure_key"
    assert b"have it replaced" in body
    assert (await exchange(port, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")).startswith(b"HTTP/1.1 308 ")
    assert codes == ["insecure_key"]


async def test_a_key_by_plain_http_is_warned_of_once_a_minute(guarded, caplog):
    """Each key has its own warning, with its prefix only; of a key in another form nothing is logged."""
    port, now, codes = guarded
    another = KEY.replace("a1B2", "zzzz")
    for at, key in [(0, KEY), (59, KEY), (59, another), (60, KEY), (60, "sk-9d8f7"), (61, "sk-other")]:
        now[0] = at
        await exchange(port, f"GET /a HTTP/1.1\r\nHost: a\r\napikey: {key}\r\n\r\n".encode())
    warned = [record.args[0] for record in caplog.records if record.levelname == "WARNING"]
    other = "in another form than that of this service's keys"
    assert warned == ["wd_live_a1B2…", "wd_live_zzzz…", "wd_live_a1B2…", other]
    assert codes == ["insecure_key"] * 6
    assert KEY not in caplog.text
    assert "9d8f7" not in caplog.text


async def test_a_large_body_loses_no_answer(plain):
    """A client that sends a large body before it reads gets the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", plain)
    writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n")
    for _ in range(80):
        writer.write(b"x" * 100_000)
        await writer.drain()
    async with asyncio.timeout(10):
        assert (await reader.read()).startswith(b"HTTP/1.1 308")
    writer.transport.abort()


async def test_a_client_that_does_not_close(plain, clock):
    """A client that still sends 5 seconds after its answer is disconnected."""
    with closing(socket.create_connection(("127.0.0.1", plain))) as client:
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(10):
            assert await loop.sock_recv(client, 65536)
            clock.pump([1.0] * 6)
            await asyncio.sleep(0.05)
            with pytest.raises(OSError, match=r"reset|pipe"):
                client.send(b"x")


def test_a_public_address(site):
    """With WEBDATA_PUBLIC_URL all clients are redirected there."""
    public = RedirectSite("https://data.example.com", None, Connections(), RefusalReplies())
    assert public.location("/a?b", ["evil.example"]) == "https://data.example.com/a?b"
    assert public.location("http://evil.example/a", []) == "https://data.example.com/a"


def test_the_usual_port():
    """Port 443 is not part of the address."""
    assert (
        RedirectSite("https://[::]", 443, Connections(), RefusalReplies()).location("/", ["a.example:80"])
        == "https://a.example/"
    )


hosts = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"[a-z0-9.-]{1,20}(:[0-9]{0,6})?", fullmatch=True),
    st.from_regex(r"\[[0-9a-f:.%]{0,20}\](:[0-9]*)?", fullmatch=True),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
)
targets = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    target=st.one_of(targets, targets.map("/{}".format), targets.map("http://{}".format)),
    given_hosts=st.lists(hosts, max_size=2),
)
@example(target="http://a.example@evil.example/", given_hosts=[])
@example(target="/", given_hosts=["a.example\r\nset-cookie: x"])
@example(target="http://", given_hosts=["a.example"])
def test_any_host_and_target(site, target, given_hosts):
    """The address is always one host at the port of HTTPS and the path, without further headers or user names."""
    location = site.location(target, given_hosts)
    assert location is None or SAFE_LOCATION.fullmatch(location)
    if target.startswith("/"):
        assert location.endswith(target)


async def test_plain_http_on_the_port_of_https(api, tmp_path):
    """A client that does not begin TLS gets a 400 at once; one whose first byte is of TLS gets no plain HTTP."""
    site = secured(
        Site(api.resource(), Connections(), RefusalReplies(), api.sender_of, 3600),
        ServerTLS(Config(tls_folder=tmp_path)),
    )
    listening = reactor.listenTCP(0, site, interface="127.0.0.1")
    port = listening.getHost().port
    for first in range(256):
        answer = await exchange(port, bytes([first]) + b"ET /v1/search HTTP/1.1\r\n\r\n", ends=False)
        if first == TLS_HANDSHAKE:
            assert b"HTTP" not in answer
        else:
            assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert b"https://" in answer
    assert (await exchange(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
    listening.stopListening()
