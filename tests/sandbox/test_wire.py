"""HTTP/1.1 as bytes."""

from contextlib import suppress
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.sandbox.exchange import Reply
from webdata.sandbox.wire import MAX_BODY, MAX_HEAD, MAX_HEADERS, RequestReader, WireError, head_bytes, reply_bytes

REQUEST = b"POST /save?a=1 HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\na=b"


def reader(data):
    requests = RequestReader()
    requests.feed(data)
    return requests


def refusal(data):
    with pytest.raises(WireError) as caught:
        reader(data).next()
    return caught.value.status


def test_a_request_is_read_with_its_body():
    """A request has method, target, headers in lower case and a body."""
    message = reader(REQUEST).next()
    assert (message.method, message.target, message.body) == ("POST", "/save?a=1", b"a=b")
    assert message.headers == {"host": "example.com", "content-length": "3"}
    assert message.keep_alive


@pytest.mark.parametrize("cut", range(len(REQUEST)))
def test_a_request_may_arrive_in_pieces(cut):
    """A request is returned after its last byte, wherever it is cut."""
    requests = reader(REQUEST[:cut])
    assert requests.next() is None
    requests.feed(REQUEST[cut:])
    assert requests.next().body == b"a=b"


def test_requests_may_arrive_at_once():
    """Requests that arrive at once are returned one after the other."""
    requests = reader(REQUEST + b"GET / HTTP/1.1\r\n\r\n")
    assert [requests.next().method, requests.next().method, requests.next()] == ["POST", "GET", None]


def test_the_bytes_after_a_request_can_be_taken():
    """The bytes after a request are returned once."""
    requests = reader(b"CONNECT a:443 HTTP/1.1\r\n\r\n\x16\x03")
    requests.next()
    assert (requests.take_unread(), requests.take_unread()) == (b"\x16\x03", b"")


def test_repeated_headers_are_joined():
    """Repeated headers are joined by a comma, cookies by a semicolon."""
    message = reader(b"GET / HTTP/1.1\r\nA: 1\r\na: 2\r\nCookie: x=1\r\nCookie: y=2\r\n\r\n").next()
    assert message.headers == {"a": "1, 2", "cookie": "x=1; y=2"}


@pytest.mark.parametrize(
    ("version", "headers", "keep_alive"),
    [
        (b"1.1", b"", True),
        (b"1.1", b"Connection: close\r\n", False),
        (b"1.1", b"Proxy-Connection: Close\r\n", False),
        (b"1.0", b"", False),
        (b"1.0", b"Connection: keep-alive\r\n", True),
    ],
)
def test_the_client_decides_about_keep_alive(version, headers, keep_alive):
    """HTTP/1.1 keeps a connection alive by default, HTTP/1.0 closes it by default."""
    assert reader(b"GET / HTTP/" + version + b"\r\n" + headers + b"\r\n").next().keep_alive is keep_alive


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00", HTTPStatus.BAD_REQUEST),
        (b"hello there\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/2.0\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET a b HTTP/1.1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", HTTPStatus.BAD_REQUEST),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", HTTPStatus.LENGTH_REQUIRED),
        (b"POST / HTTP/1.1\r\nContent-Length: 9%s\r\n\r\n" % (b"9" * 5000), HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * MAX_HEAD, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE),
    ],
)
def test_invalid_requests_are_refused(data, status):
    """Bytes that are no request raise an error with the status of the reason."""
    assert refusal(data) == status


def test_the_headers_are_bounded():
    """As many headers are read as any client sends, and no more."""
    assert reader(b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * MAX_HEADERS + b"\r\n").next()
    assert refusal(b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * (MAX_HEADERS + 1) + b"\r\n") == 431


def test_the_buffer_is_bounded():
    """A client that sends more than the largest request is refused."""
    requests = RequestReader()
    with pytest.raises(WireError) as caught:
        requests.feed(b"a" * (MAX_HEAD + MAX_BODY + 1))
    assert caught.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data):
    """Any bytes are requests, an incomplete request, or a WireError."""
    requests = reader(data)
    with suppress(WireError):
        assert all(message.method for message in iter(requests.next, None))


def test_a_reply_has_its_length():
    """Content-Length is the length of the body in bytes."""
    reply = Reply(200, (("Content-Type", "text/plain"),), "é".encode())
    assert reply_bytes(reply) == b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n\xc3\xa9"


def test_the_reply_to_head_has_no_body():
    """The reply to HEAD is that to GET without the body."""
    assert reply_bytes(Reply(200, (), b"body"), head_only=True) == b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


def test_a_cut_reply_declares_the_whole_length():
    """A cut reply has the length of the whole body and a part of its bytes."""
    assert reply_bytes(Reply(200, (), b"body", cut=1), keep_alive=False) == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nb"
    )


def test_a_header_cannot_inject_another():
    """Line breaks in a header's value are removed."""
    assert b"\r\nSet-Cookie" not in reply_bytes(Reply(302, (("Location", "/a\r\nSet-Cookie: b=c"),)))


def test_headers_may_have_bytes_that_are_no_text():
    """An escaped byte is sent unchanged, a letter in UTF-8, a lone surrogate as a question mark."""
    assert head_bytes(200, (("A", "\udce9"), ("B", "é"), ("C", "\ud800"))) == (
        b"HTTP/1.1 200 OK\r\nA: \xe9\r\nB: \xc3\xa9\r\nC: ?\r\n\r\n"
    )


def test_an_unregistered_status_has_a_phrase():
    """The phrase of an unregistered status is `Unknown`."""
    assert reply_bytes(Reply(299)).startswith(b"HTTP/1.1 299 Unknown\r\n")
