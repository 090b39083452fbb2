"""The catch-all: what is passed on, and what happens when an upstream or a client misbehaves."""

import asyncio
import logging

import orjson
import pytest

from tests.faces.gateway.conftest import OK, SECRET, read_answer
from webdata.accounts.access.api_keys import new_key
from webdata.runtime.server.connections import LIMITS, Phase
from webdata.stores.accounts.model import DEFAULT_ACCOUNT

pytestmark = pytest.mark.task


def error(answer):
    return orjson.loads(answer.body)["error"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
async def test_a_request_is_passed_on(ask, upstream, method):
    """Method, path, query and body of a request get to the upstream of its prefix, and the response comes back."""
    body = b"" if method in ("GET", "HEAD") else b'{"a": 1}'
    answer = await ask("/billing/a%2Fb//c;d?x=1&y=%20", method, body=body)
    assert (answer.status, answer.body) == (200, b"" if method == "HEAD" else b"ok")
    ((line, headers),) = upstream.heads
    assert line == f"{method} /v2/a%2Fb//c;d?x=1&y=%20 HTTP/1.1"
    assert headers.get("content-length", ["0"]) == [str(len(body))]


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        ("/whole/x?q", "/whole/x?q"),
        ("/whole", "/whole"),
        ("/files", "/"),
        ("/files?q=1", "/?q=1"),
        ("/files/", "/"),
        ("/billing", "/v2"),
        ("http://evil.example/files/x", "/x"),
        ("/files/http://evil.example/", "/http://evil.example/"),
        ("/files/@evil.example/", "/@evil.example/"),
        ("/files/:80@evil.example/?//evil.example", "/:80@evil.example/?//evil.example"),
        ("/files/%2F%2Fevil.example/a%5Cb", "/%2F%2Fevil.example/a%5Cb"),
        ("/files/a..b/...", "/a..b/..."),
    ],
)
async def test_a_path_never_changes_the_host(ask, upstream, target, asked):
    """The prefix alone decides about the host; the rest of the path is sent as it is."""
    assert (await ask(target)).status == 200
    ((line, headers),) = upstream.heads
    assert line == f"GET {asked} HTTP/1.1"
    assert headers["host"] == [f"127.0.0.1:{upstream.port}"]


@pytest.mark.parametrize(
    ("target", "right"),
    [
        ("/files//evil.example/x", "one slash"),
        ("/files/../admin", "path that it leads to"),
        ("/files/a/%2e%2E/b", "path that it leads to"),
        ("/files/a%2F..%2Fb", "path that it leads to"),
        ("/files/a%5c..%5cb", "path that it leads to"),
        ("/files/./b", "path that it leads to"),
        ("/files/..;/b", "path that it leads to"),
        ("/files/..;v=1/b", "path that it leads to"),
        ("/files/%2e%2E;/b", "path that it leads to"),
        ("/files/a/..%3Bx/b", "path that it leads to"),
        ("/files/.;/b", "path that it leads to"),
        ("/files/%252e%252e/b", "path that it leads to"),
        ("/files/..%252fb", "path that it leads to"),
        ("/files/..%20/b", "path that it leads to"),
        ("/files/..%3F/b", "path that it leads to"),
        ("/files/%EF%BC%8E%EF%BC%8E/b", "path that it leads to"),
        ("/files/..%EF%BC%8Fb", "path that it leads to"),
        ("/files/a\\b", "%5C"),
        ("/files/a#b", "%23"),
        ("/files/100%", "%25"),
        ("/files/<b>", "%3C"),
        ("/files/a?b#c", "%23"),
    ],
)
async def test_a_path_that_could_lead_elsewhere_is_refused(ask, upstream, target, right):
    """Dot segments, empty first segments and what should be encoded are a 422 that shows what would be right."""
    answer = await ask(target)
    (row,) = orjson.loads(answer.body)["detail"]
    assert (answer.status, row["loc"], right in row["msg"]) == (422, ["path", "path"], True)
    assert not upstream.connections


@pytest.mark.parametrize(
    ("target", "right"),
    [
        ("/files/..%00/b", "control characters"),
        ("/files/..%09/b", "control characters"),
        ("/files/a%0D%0AX-Evil:%201", "control characters"),
        ("/files/a%2500", "control characters"),
        ("/files/%C0%AE%C0%AE/b", "shortest form"),
        ("/files/%E0%80%AE/b", "shortest form"),
        ("/files/%25C0%25AE/b", "shortest form"),
        ("/files/caf%E9", "caf%C3%A9"),
        ("/files/%25252525252e", "encode it once"),
    ],
)
async def test_a_path_that_no_strict_server_reads_is_refused(ask, upstream, target, right):
    """Control characters, other encodings than UTF-8 and many layers of percent-encoding are a 400 that says so."""
    answer = await ask(target)
    assert (answer.status, error(answer)["code"], right in error(answer)["message"]) == (400, "bad_request", True)
    assert not upstream.connections


@pytest.mark.parametrize("target", ["/files/100%25%20sure", "/files/caf%C3%A9;v=..", "/files/%252F", "/files/..a;b"])
async def test_a_path_that_stays_in_its_folder_is_passed_on_as_it_came(ask, upstream, target):
    """Escapes, parameters and names that only begin with dots are the upstream's own matter."""
    assert (await ask(target)).status == 200
    assert upstream.heads[0][0] == f"GET {target.removeprefix('/files')} HTTP/1.1"


async def test_the_key_and_hop_by_hop_headers_stay_here(ask, upstream, test_secret):
    """The key and the secret, and headers about one connection, are not passed on; who asked is."""
    sent = (
        f"api-key: {test_secret}",
        f"x-apikey: {test_secret}",
        f"apikey: {test_secret}",
        f"x-gateway-proxy-secret: {SECRET}",
        "Connection: keep-alive, x-private",
        "x-private: 1",
        "TE: trailers",
        "Proxy-Authorization: Basic abc",
        "Upgrade: h2c",
        "Authorization: of the caller",
        "X-Forwarded-For: 203.0.113.9",
        "X-Forwarded-Host: evil.example",
        "Cookie: a=b",
        "Accept-Encoding: br",
        "X-Many: 1",
        "X-Many: 2",
    )
    answer = await ask(headers=sent, target="/billing/x")
    ((_, headers),) = upstream.heads
    assert answer.status == 200
    assert headers == {
        "host": [f"127.0.0.1:{upstream.port}"],
        "cookie": ["a=b"],
        "accept-encoding": ["br"],
        "x-many": ["1", "2"],
        "x-forwarded-for": ["203.0.113.9, 127.0.0.1"],
        "forwarded": ['for=127.0.0.1;host="api.example";proto=http'],
        "via": ["1.1 webdata"],
        "x-forwarded-host": ["api.example"],
        "x-forwarded-proto": ["http"],
        "x-request-id": answer.headers["x-request-id"],
        "authorization": ["Bearer of-the-route"],
    }


async def test_a_response_comes_back(ask, upstream):
    """Status, headers and body of the upstream are those of the response, without headers about its connection."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(
            b"HTTP/1.1 418 Teapot\r\nContent-Type: text/x\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
            b"Connection: close, x-own\r\n"
            b"X-Own: 1\r\nKeep-Alive: timeout=9\r\nServer: theirs\r\nContent-Encoding: br\r\n"
            b"Access-Control-Allow-Origin: https://only.example\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n0\r\n\r\n"
        )

    upstream.behaviour = behaviour
    answer = await ask()
    assert (answer.status, answer.body) == (418, b"abc")
    headers = answer.headers
    assert (headers["set-cookie"], headers["content-encoding"]) == (["a=1", "b=2"], ["br"])
    assert (headers["server"], headers["via"], headers["content-type"]) == (["webdata"], ["1.1 webdata"], ["text/x"])
    assert not {"x-own", "access-control-allow-origin"} & set(headers)
    assert headers["x-ratelimit-requests-limit"] == ["1000000"]


@pytest.mark.parametrize("status", [204, 304])
async def test_a_response_without_a_body(ask, upstream, status):
    """It has none here either, and the connection is used on."""

    async def behaviour(connection):
        while True:
            await connection.head()
            await connection.send(f"HTTP/1.1 {status} X\r\nETag: 1\r\n\r\n".encode())

    upstream.behaviour = behaviour
    for _ in range(2):
        answer = await ask(method="HEAD")  # whose reader expects no body
        assert (answer.status, answer.headers["etag"]) == (status, ["1"])
    assert upstream.connections == 1


async def test_a_body_until_the_connection_ends(ask, upstream):
    """A response without a length ends with its connection."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(b"HTTP/1.0 200 OK\r\n\r\nall of it")

    upstream.behaviour = behaviour
    assert (await ask()).body == b"all of it"


@pytest.mark.parametrize("header", ["X-Api-Key", "api-key", "x-apikey", "apikey"])
async def test_a_key_is_needed(ask, test_secret, header, upstream):
    """A key in any of the four headers opens; without one nothing is passed on."""
    assert (await ask(key=None)).status == 401
    assert not upstream.connections
    assert (await ask(key=None, headers=[f"{header}: {test_secret}"])).status == 200


@pytest.mark.parametrize(
    ("sent", "status"), [([SECRET], 200), ([], 200), (["wrong"], 401), ([SECRET, SECRET], 422), (["é"], 401)]
)
async def test_the_secret(ask, sent, status):
    """A secret that is sent has to be right, and there once."""
    answer = await ask(headers=[f"x-gateway-proxy-secret: {one}" for one in sent])
    assert answer.status == status
    if status == 422:
        assert orjson.loads(answer.body)["detail"][0]["loc"] == ["header", "x-gateway-proxy-secret"]


async def test_the_secret_may_be_demanded(ask, targets, upstream):
    """Where it is, requests without it are refused, also those to endpoints without their /v1."""
    targets._required = True
    for target in ("/files/x", "/search/q=coffee"):
        assert (await ask(target)).status == 401
        assert (await ask(target, headers=[f"x-gateway-proxy-secret: {SECRET}"])).status == 200


async def test_an_unknown_prefix(ask, keys):
    """It is a 404 that lists the prefixes that the key opens."""
    answer = await ask("/nothing/here")
    assert answer.status == 404
    assert "/v1, /billing, /files, /whole, /paid, /gone;" in error(answer)["message"]
    key, secret = new_key("narrow", test=True, scopes=["files"])
    await keys.add(key)
    answer = await ask("/nothing/here", key=secret)
    assert "/v1, /files;" in error(answer)["message"]


async def test_scopes_are_prefixes(ask, keys):
    """A key opens the prefixes among its scopes."""
    key, secret = new_key("narrow", test=True, scopes=["files"])
    await keys.add(key)
    assert (await ask("/files/x", key=secret)).status == 200
    assert (await ask("/billing/x", key=secret)).status == 401


async def test_endpoints_without_their_prefix(ask, calls):
    """What no route has is an endpoint of the data service, which answers in the same process."""
    answer = await ask("/search/q=coffee+%26+tea")
    assert (answer.status, calls.calls[0].query.q) == (200, "coffee & tea")
    assert (await ask("/search/q=a", "DELETE")).status == 405
    assert (await ask("/v1/search/q=a", "DELETE")).status == 405
    assert (await ask("/v1/nothing")).status == 404


async def test_a_call_may_cost_a_credit(ask, upstream, live_secret, ledger):
    """A response of a route with `credit` costs one, a failure none."""
    before, statuses = await ledger.balance(DEFAULT_ACCOUNT), iter((500, 404))

    async def behaviour(connection):
        await connection.head()
        await connection.send(f"HTTP/1.1 {next(statuses)} X\r\nContent-Length: 0\r\n\r\n".encode())

    upstream.behaviour = behaviour
    for status, cost in ((500, 0), (404, 1)):
        answer = await ask("/paid/x", key=live_secret)
        assert (answer.status, answer.headers["x-credits-cost"]) == (status, [str(cost)])
        assert await ledger.balance(DEFAULT_ACCOUNT) == before - cost


async def test_requests_are_counted(ask, counted, upstream):
    """Each counts by its prefix and the status that the caller gets; paths of no route do not count."""
    for target, key in (("/files/x", {}), ("/files/y", {"key": None}), ("/gone/x", {}), ("/nothing/here", {})):
        await ask(target, **key)
    assert counted == [("files", 200), ("files", 401), ("gone", 502)]


async def test_websockets_are_not_passed_on(ask, upstream):
    """A WebSocket gets a 501 that says so."""
    answer = await ask(headers=["Connection: Upgrade", "Upgrade: websocket"])
    assert (answer.status, error(answer)["code"], upstream.connections) == (501, "not_implemented", 0)


async def test_an_upstream_that_is_down(ask, caplog):
    """It is a 502 that says nothing of its address; the log has the reason, with the id of the request."""
    answer = await ask("/gone/x")
    assert (answer.status, error(answer)["code"]) == (502, "upstream_failed")
    assert b"127.0.0.1" not in answer.body
    assert any(answer.headers["x-request-id"][0] in line and "Connect" in line for line in caplog.messages)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"rubbish\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
    ],
)
async def test_an_upstream_that_sends_no_response(ask, upstream, sent):
    """What is not the head of a response is a 502."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(sent)

    upstream.behaviour = behaviour
    answer = await ask()
    assert (answer.status, error(answer)["code"]) == (502, "upstream_failed")


async def test_an_upstream_that_does_not_answer(ask, upstream):
    """It is a 504 after the route's time."""

    async def behaviour(connection):
        await connection.head()
        await asyncio.sleep(3)

    upstream.behaviour = behaviour
    answer = await ask()
    assert (answer.status, error(answer)["code"]) == (504, "gateway_timeout")


@pytest.mark.parametrize("head", [b"Content-Length: 9\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"])
@pytest.mark.parametrize("stalls", [True, False])
async def test_an_upstream_that_breaks_off(ask, upstream, caplog, head, stalls):
    """One that ends or stalls in the middle of a response breaks off the caller's, and the log says so."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(b"HTTP/1.1 200 OK\r\n" + head)
        await asyncio.sleep(3 * stalls)

    upstream.behaviour = behaviour
    with pytest.raises(asyncio.IncompleteReadError):
        await ask()
    assert any("the response of /files/x broke off" in line for line in caplog.messages)


async def test_a_slow_upstream(ask, upstream):
    """Bytes are passed on as they come, so a response may take longer than the time without any."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
        for _ in range(6):
            await asyncio.sleep(0.15)
            await connection.send(b"x")

    upstream.behaviour = behaviour
    assert (await ask()).body == b"x" * 6


def upload(port, secret, *more, target="/files/x"):
    lines = [f"POST {target} HTTP/1.1", "Host: h", f"X-Api-Key: {secret}", *more, "", ""]
    return "\r\n".join(lines).encode()


@pytest.fixture
def connected(port):
    async def connect():
        return await asyncio.open_connection("127.0.0.1", port)

    return connect


async def test_bodies_are_passed_on_as_they_come(connected, port, upstream, test_secret):
    """The upstream has the beginning of a body while the client has not sent the rest."""
    begun = asyncio.Event()

    async def behaviour(connection):
        _, headers = await connection.head()
        assert headers["transfer-encoding"] == ["chunked"]
        assert await connection.reader.readuntil(b"first") == b"5\r\nfirst"
        begun.set()
        assert await connection.reader.readuntil(b"0\r\n\r\n") == b"\r\n4\r\nlast\r\n0\r\n\r\n"
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret, "Transfer-Encoding: chunked", "Expect: 100-continue"))
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    writer.write(b"5\r\nfirst\r\n")
    await asyncio.wait_for(begun.wait(), 3)
    writer.write(b"4\r\nlast\r\n0\r\n\r\n")
    assert (await asyncio.wait_for(read_answer(reader), 3)).body == b"ok"
    writer.write(b"GET /ping HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (await asyncio.wait_for(read_answer(reader), 3)).status == 200
    writer.close()


async def test_large_bodies_have_backpressure(connected, port, upstream, test_secret):
    """An upstream that does not read stops the client, and a client that does not read stops the upstream."""
    sent, size = 0, 64 * 1024 * 1024

    async def behaviour(connection):
        nonlocal sent
        await connection.head()
        await connection.send(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        while sent < size:
            await connection.send(bytes(1024 * 1024))
            sent += 1024 * 1024

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret).replace(b"POST", b"GET"))
    await asyncio.sleep(0.3)
    assert sent < size / 2
    assert len((await read_answer(reader)).body) == size
    writer.close()


async def test_an_upstream_that_does_not_take_a_body(connected, port, upstream, test_secret):
    """A client is stopped while the upstream does not read, and gets a 504 after the route's time."""

    async def behaviour(connection):
        await connection.head()
        await asyncio.sleep(3)

    upstream.behaviour = behaviour
    reader, writer = await connected()
    size = 512 * 1024 * 1024
    writer.write(upload(port, test_secret, f"Content-Length: {size}"))
    written = 0
    answer = asyncio.ensure_future(read_answer(reader))
    while not answer.done() and written < size:
        writer.write(bytes(1024 * 1024))
        written += 1024 * 1024
        await asyncio.wait([asyncio.ensure_future(writer.drain()), answer], return_when=asyncio.FIRST_COMPLETED)
    assert (await answer).status == 504
    assert written < 64 * 1024 * 1024
    writer.close()


async def test_an_early_response(connected, port, upstream, test_secret):
    """A response that comes before the body is sent gets to the client, such as a 413."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(b"HTTP/1.1 413 Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret, "Content-Length: 1000000000") + bytes(100_000))
    async with asyncio.timeout(3):
        answer = await read_answer(reader)
    assert (answer.status, answer.body, answer.headers["connection"]) == (413, b"big", ["close"])
    writer.close()


async def test_an_upstream_that_closes_in_the_middle_of_a_body(connected, port, upstream, test_secret):
    """It is a 502, which the client can read though it still sends."""

    async def behaviour(connection):
        await connection.head()
        await connection.reader.readexactly(1_000_000)

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret, "Content-Length: 1000000000"))
    answer = asyncio.ensure_future(read_answer(reader))
    while not answer.done():
        writer.write(bytes(100_000))
        await asyncio.wait([asyncio.ensure_future(writer.drain()), answer], return_when=asyncio.FIRST_COMPLETED)
    assert (await answer).status == 502
    writer.close()


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("PUT", 502)])
async def test_a_connection_that_was_closed_meanwhile(connected, port, upstream, test_secret, method, status):
    """A request goes out again where that is safe; one whose body has gone is a 502, and never sent without it."""

    async def behaviour(connection):
        upstream.heads.append(await connection.head())
        if len(upstream.heads) != 2:
            await connection.send(OK)
            upstream.heads.append(await connection.head())

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret).replace(b"POST", b"GET"))
    assert (await asyncio.wait_for(read_answer(reader), 3)).status == 200
    more = ["Transfer-Encoding: chunked"] if method == "PUT" else []
    writer.write(upload(port, test_secret, *more).replace(b"POST", method.encode()))
    if more:
        await asyncio.sleep(0.02)
        writer.write(b"3\r\nabc\r\n0\r\n\r\n")
    assert (await asyncio.wait_for(read_answer(reader), 3)).status == status
    assert len(upstream.heads) == (3 if method == "GET" else 2)
    writer.close()


async def test_odd_bytes_in_headers(port, upstream, connected, test_secret):
    """Values that are no UTF-8 break nothing, in either direction."""

    async def behaviour(connection):
        await connection.head()
        await connection.send(b"HTTP/1.1 200 Gr\xfc\xdfe\r\nX-Odd: \xe9\r\nContent-Length: 0\r\n\r\n")

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret)[:-2] + b"X-Odd: \xe9\r\nX-Gateway-Proxy-Secret: \xe9\r\n\r\n")
    assert (await asyncio.wait_for(read_answer(reader), 3)).status == 401
    writer.write(upload(port, test_secret)[:-2] + b"X-Odd: \xe9\r\nConnection: \xe9\r\nVia: \xe9\r\n\r\n")
    answer = await asyncio.wait_for(read_answer(reader), 3)
    assert (answer.status, answer.headers["x-odd"]) == (200, ["é"])
    writer.close()


@pytest.mark.parametrize("after", [b"", b"abc"])
async def test_a_client_that_hangs_up(connected, port, upstream, test_secret, counted, after):
    """Its request to the upstream ends, in the middle of the body or while it waits for the response: a 499."""
    begun, gone = asyncio.Event(), asyncio.Event()

    async def behaviour(connection):
        await connection.head()
        begun.set()
        await connection.reader.read()
        gone.set()

    upstream.behaviour = behaviour
    _, writer = await connected()
    more = ["Content-Length: 9"] if after else []
    writer.write(upload(port, test_secret, *more) + after)
    await asyncio.wait_for(begun.wait(), 3)
    writer.transport.abort()
    async with asyncio.timeout(3):
        await gone.wait()
    assert counted == [("files", 499)]


async def test_a_client_that_sends_slowly(connected, port, upstream, test_secret, monkeypatch):
    """A body that comes too slowly is a 408."""
    monkeypatch.setitem(LIMITS, Phase.STREAM, 0.2)

    async def behaviour(connection):
        await connection.head()
        await connection.reader.read()

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret, "Content-Length: 9") + b"x")
    answer = await asyncio.wait_for(read_answer(reader), 5)
    assert (answer.status, error(answer)["code"]) == (408, "request_timeout")
    writer.close()


async def test_a_body_that_breaks_its_coding(connected, port, upstream, test_secret):
    """Chunks without a size are a 400, and the upstream's connection is closed."""
    gone = asyncio.Event()

    async def behaviour(connection):
        await connection.head()
        await connection.reader.read()
        gone.set()

    upstream.behaviour = behaviour
    reader, writer = await connected()
    writer.write(upload(port, test_secret, "Transfer-Encoding: chunked") + b"3\r\nabc\r\n")
    await asyncio.sleep(0.05)
    writer.write(b"zz\r\n")
    answer = await asyncio.wait_for(read_answer(reader), 5)
    assert (answer.status, error(answer)["code"]) == (400, "bad_request")
    await asyncio.wait_for(gone.wait(), 3)
    writer.close()


async def test_a_body_without_a_key_is_not_read(connected, port, upstream):
    """The refusal comes before the body, and nothing gets to the upstream."""
    reader, writer = await connected()
    writer.write(upload(port, "wd_live_wrong", "Content-Length: 1000000000"))
    answer = await asyncio.wait_for(read_answer(reader), 3)
    assert (answer.status, upstream.connections) == (401, 0)
    writer.close()


async def test_other_routes_have_bounded_bodies(connected, port, test_secret):
    """The body of an endpoint has its bound with and without /v1."""
    for target in ("/v1/search", "/search", "/nothing"):
        reader, writer = await connected()
        writer.write(upload(port, test_secret, "Content-Length: 1000000000", target=target))
        assert (await asyncio.wait_for(read_answer(reader), 3)).status == 413
        writer.close()


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD"])
async def test_ping(ask, connected, gateway, method):
    """It answers without a key, whatever body comes, also while the service stops."""
    answer = await ask("/ping", method, key=None)
    assert answer.status == 200
    if method != "HEAD":
        body = orjson.loads(answer.body)
        assert body["request_id"] == answer.headers["x-request-id"][0]
        assert body["time"].endswith("Z")
        assert list(body) == ["status", "service", "version", "time", "request_id"]
        assert (body["status"], body["service"], body["version"]) == ("ok", "API Proxy Server", "0.1.0")
    reader, writer = await connected()
    writer.write(f"{method} /ping HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n".encode())
    await asyncio.sleep(0.01)
    writer.write(b"body")
    assert (await asyncio.wait_for(read_answer(reader, method), 3)).status == 200
    gateway.resource().stop()
    answer = await ask("/ping", key=None)
    assert (answer.status, orjson.loads(answer.body)["status"]) == (200, "stopping")
    assert (await ask()).status == 503
    writer.close()


async def test_everything_is_logged(ask, caplog):
    """The access log has a line for each request, with its id."""
    with caplog.at_level(logging.INFO, "webdata.faces.api"):
        answer = await ask("/files/x?q=1")
        await asyncio.sleep(0.01)
    assert any(f"{answer.headers['x-request-id'][0]} GET /files/x?q=1 200" in line for line in caplog.messages)


@pytest.mark.parametrize("method", ["OPTIONS", "BREW"])
@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/v1/search/q=a", "GET, HEAD, OPTIONS"),
        ("/search/q=a", "GET, HEAD, OPTIONS"),
        ("/api/v1/account", "GET, HEAD, OPTIONS"),
        ("/billing/x", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
        ("/ping", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
    ],
)
async def test_the_methods_of_a_path_are_its_own(ask, upstream, method, target, allowed):
    """`Allow` has those of the endpoint, or of the gateway's prefix, never those of the catch-all beside them."""
    answer = await ask(target, method)
    assert answer.status == (204 if method == "OPTIONS" else 405)
    assert answer.headers["allow"] == [allowed]
    assert not upstream.connections


async def test_a_path_of_nothing_has_no_methods(ask):
    """OPTIONS of what is neither an endpoint nor a prefix is a 404."""
    assert (await ask("/nothing/here", "OPTIONS")).status == 404
    assert (await ask("/v1/nothing", "OPTIONS")).status == 404


async def test_a_key_in_the_url_is_not_passed_on(ask, upstream, test_secret):
    """It is refused, as elsewhere; a token of the upstream's own is passed on."""
    answer = await ask(f"/billing/x?token={test_secret}")
    assert (answer.status, "belong" in error(answer)["message"]) == (401, True)
    assert not upstream.connections
    assert (await ask("/billing/x?token=of-the-upstream")).status == 200
