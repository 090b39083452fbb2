"""HTTP as bytes."""

from contextlib import suppress
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.sandbox.exchange import Reply
from webdata.sandbox.wire import MAX_BODY, MAX_HEAD, RequestReader, WireError, head_bytes, reply_bytes

REQUEST = b"POST /save?a=1 HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\na=b"


def reader(data):
    made = RequestReader()
    made.feed(data)
    return made


def refusal(data):
    with pytest.raises(WireError) as caught:
        reader(data).next()
    return caught.value.status


def test_a_request_is_read_with_its_body():
    """The parts of a request come out, header names in lower case."""
    message = reader(REQUEST).next()
    assert (message.method, message.target, message.body) == ("POST", "/save?a=1", b"a=b")
    assert message.headers == {"host": "example.com", "content-length": "3"}
    assert message.keep_alive


@pytest.mark.parametrize("cut", range(len(REQUEST)))
def test_a_request_may_come_in_pieces(cut):
    """Wherever a request is cut, nothing comes out before its last byte, and then all of it."""
    made = reader(REQUEST[:cut])
    assert made.next() is None
    made.feed(REQUEST[cut:])
    assert made.next().body == b"a=b"


def test_requests_may_come_together():
    """Requests that came at once come out one after the other, and then no more."""
    made = reader(REQUEST + b"GET / HTTP/1.1\r\n\r\n")
    assert [made.next().method, made.next().method, made.next()] == ["POST", "GET", None]


def test_what_follows_a_request_can_be_taken_out():
    """The bytes after a request are there for whoever takes the connection over, once."""
    made = reader(b"CONNECT a:443 HTTP/1.1\r\n\r\n\x16\x03")
    made.next()
    assert (made.take_unread(), made.take_unread()) == (b"\x16\x03", b"")


def test_repeated_headers_are_joined():
    """Repeated headers are joined by a comma, cookies by a semicolon."""
    message = reader(b"GET / HTTP/1.1\r\nA: 1\r\na: 2\r\nCookie: x=1\r\nCookie: y=2\r\n\r\n").next()
    assert message.headers == {"a": "1, 2", "cookie": "x=1; y=2"}


@pytest.mark.parametrize(
    ("version", "headers", "kept"),
    [
        (b"1.1", b"", True),
        (b"1.1", b"Connection: close\r\n", False),
        (b"1.1", b"Proxy-Connection: Close\r\n", False),
        (b"1.0", b"", False),
        (b"1.0", b"Connection: keep-alive\r\n", True),
    ],
)
def test_connections_are_kept_as_the_client_says(version, headers, kept):
    """HTTP/1.1 keeps a connection unless told not to, HTTP/1.0 the other way round."""
    assert reader(b"GET / HTTP/" + version + b"\r\n" + headers + b"\r\n").next().keep_alive is kept


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
def test_what_is_no_request_is_refused(data, status):
    """Bytes that are no request raise an error with the status that says why."""
    assert refusal(data) == status


def test_no_more_is_kept_than_a_request_may_hold():
    """A client that sends without end is refused, whatever it sends."""
    made = RequestReader()
    with pytest.raises(WireError) as caught:
        made.feed(b"a" * (MAX_HEAD + MAX_BODY + 1))
    assert caught.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data):
    """Any bytes give requests, a wait for more, or a WireError."""
    made = reader(data)
    with suppress(WireError):
        assert all(message.method for message in iter(made.next, None))


def test_a_reply_is_written_with_its_length():
    """The head says how long the body is, in bytes."""
    reply = Reply(200, (("Content-Type", "text/plain"),), "é".encode())
    assert reply_bytes(reply) == b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n\xc3\xa9"


def test_a_head_has_no_body():
    """The answer to HEAD is that to GET without the body."""
    assert reply_bytes(Reply(200, (), b"body"), head_only=True) == b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


def test_a_cut_reply_promises_more_than_it_sends():
    """A reply that is to be cut has the length of the whole and a part of the bytes."""
    assert reply_bytes(Reply(200, (), b"body", cut=1), keep_alive=False) == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nb"
    )


def test_a_header_cannot_begin_another():
    """Line breaks in a header's value are left out."""
    assert b"\r\nSet-Cookie" not in reply_bytes(Reply(302, (("Location", "/a\r\nSet-Cookie: b=c"),)))


def test_headers_may_have_bytes_that_are_no_text():
    """An escaped byte goes out as it is, a letter in UTF-8, and what is neither as a question mark."""
    assert head_bytes(200, (("A", "\udce9"), ("B", "é"), ("C", "\ud800"))) == (
        b"HTTP/1.1 200 OK\r\nA: \xe9\r\nB: \xc3\xa9\r\nC: ?\r\n\r\n"
    )


def test_a_status_without_a_name_is_written():
    """A status that nobody registered has a phrase all the same."""
    assert reply_bytes(Reply(299)).startswith(b"HTTP/1.1 299 Unknown\r\n")
