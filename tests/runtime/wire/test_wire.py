"""HTTP/1.1 as bytes."""

from contextlib import suppress

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.runtime.wire.exchange import SiteReply
from webdata.runtime.wire.wire import MAX_BODY, MAX_HEAD, MAX_HEADERS, Requests, head_bytes, reply_bytes, request_bytes

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
REQUEST = b"POST /save?a=1 HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\na=b"


def reader(*pieces):
    """The requests of a client that sends these pieces and leaves."""
    left = iter((*pieces, b""))

    async def read():
        return next(left)

    return Requests(read)


def following(requests):
    """The next request, without an event loop: nothing above waits."""
    try:
        requests.next().send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


def refusal(data):
    with pytest.raises(h11.RemoteProtocolError) as caught:
        following(reader(data))
    return caught.value.error_status_hint


def test_a_request_is_read_with_its_body():
    """A request has method, target, headers in lower case and a body."""
    message = following(reader(REQUEST))
    assert (message.method, message.target, message.body) == ("POST", "/save?a=1", b"a=b")
    assert message.headers == {"host": "example.com", "content-length": "3"}
    assert message.keep_alive


@pytest.mark.parametrize("cut", range(1, len(REQUEST)))
def test_a_request_may_arrive_in_pieces(cut):
    """A request is returned after its last byte, wherever it is cut."""
    assert following(reader(REQUEST[:cut])) is None
    assert following(reader(REQUEST[:cut], REQUEST[cut:])).body == b"a=b"


def test_requests_may_arrive_at_once():
    """Requests that arrive at once are returned one after the other."""
    requests = reader(REQUEST + HEAD + b"\r\n")
    assert [following(requests).method, following(requests).method, following(requests)] == ["POST", "GET", None]


def test_the_bytes_after_a_request_can_be_read():
    """What follows a request for a tunnel belongs to the tunnel."""
    requests = reader(b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n\x16\x03")
    following(requests)
    assert requests.unread == b"\x16\x03"


def test_repeated_headers_are_joined():
    """Repeated headers are joined by a comma, cookies by a semicolon."""
    message = following(reader(HEAD + b"A: 1\r\na: 2\r\nCookie: x=1\r\nCookie: y=2\r\n\r\n"))
    assert message.headers == {"host": "a", "a": "1, 2", "cookie": "x=1; y=2"}


@pytest.mark.parametrize(
    ("version", "headers", "keep_alive"),
    [(b"1.1", b"", True), (b"1.1", b"Connection: close\r\n", False), (b"1.0", b"", False)],
)
def test_the_client_decides_about_keep_alive(version, headers, keep_alive):
    """HTTP/1.1 keeps a connection alive by default, HTTP/1.0 does not."""
    request = b"GET / HTTP/" + version + b"\r\nHost: a\r\n" + headers + b"\r\n"
    assert following(reader(request)).keep_alive is keep_alive


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00", 400),
        (b"hello there\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (HEAD + b"Host: b\r\n\r\n", 400),
        (HEAD + b"no colon\r\n\r\n", 400),
        (HEAD + b"A : 1\r\n\r\n", 400),
        (HEAD + b"Content-Length: -1\r\n\r\n", 400),
        (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", 411),
        (HEAD + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), 413),
        (HEAD + b"Content-Length: 9%s\r\n\r\n" % (b"9" * 5000), 400),
        (HEAD + b"A: " + b"a" * MAX_HEAD, 431),
    ],
)
def test_invalid_requests_are_refused(data, status):
    """Bytes that are no request raise an error with the status of the reason."""
    assert refusal(data) == status


def test_the_headers_are_bounded():
    """As many headers are read as any client sends, and no more."""
    assert following(reader(HEAD + b"X: a\r\n" * (MAX_HEADERS - 1) + b"\r\n"))
    assert refusal(HEAD + b"X: a\r\n" * MAX_HEADERS + b"\r\n") == 431


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data):
    """Any bytes are requests, an incomplete request, or a RemoteProtocolError."""
    requests = reader(data)
    with suppress(h11.RemoteProtocolError):
        while message := following(requests):
            assert message.method


def test_a_request_is_written_with_its_body():
    """What is written is read as the same request."""
    headers = (("host", "a"), ("x-name", "é"), ("content-length", "3"))
    message = following(reader(request_bytes("POST", "/save", headers, b"a=b")))
    assert (message.method, message.target, message.body) == ("POST", "/save", b"a=b")
    assert message.headers == dict(headers)


def test_a_reply_has_its_length():
    """Content-Length is the length of the body in bytes."""
    reply = SiteReply(200, (("Content-Type", "text/plain"),), "é".encode())
    assert reply_bytes(reply) == b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n\xc3\xa9"


def test_the_reply_to_head_has_no_body():
    """The reply to HEAD is that to GET without the body."""
    assert reply_bytes(SiteReply(200, (), b"body"), head_only=True) == b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


def test_a_cut_reply_declares_the_whole_length():
    """A cut reply has the length of the whole body and a part of its bytes."""
    assert reply_bytes(SiteReply(200, (), b"body", cut=1), keep_alive=False) == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nb"
    )


def test_a_header_cannot_inject_another():
    """Line breaks in a header's value are removed."""
    assert b"\r\nSet-Cookie" not in reply_bytes(SiteReply(302, (("Location", "/a\r\nSet-Cookie: b=c"),)))


def test_headers_may_have_bytes_that_are_no_text():
    """An escaped byte is sent unchanged, a letter in UTF-8."""
    assert head_bytes(200, (("A", "\udce9"), ("B", "é"))) == (b"HTTP/1.1 200 OK\r\nA: \xe9\r\nB: \xc3\xa9\r\n\r\n")


def test_an_unregistered_status_has_a_phrase():
    """The phrase of an unregistered status is `Unknown`."""
    assert reply_bytes(SiteReply(299)).startswith(b"HTTP/1.1 299 Unknown\r\n")
