"""What the first bytes of TLS tell of a client."""

import ssl

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webdata.sandbox import client_hello


def sent(context):
    """The first bytes of a handshake."""
    out = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="www.google.com")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def made(ciphers, extensions):
    """A ClientHello of these values."""
    told = b"".join(value.to_bytes(2) for value in ciphers)
    kinds = b"".join(value.to_bytes(2) + b"\0\1x" for value in extensions)
    body = bytes(34) + b"\0" + len(told).to_bytes(2) + told + b"\1\0" + len(kinds).to_bytes(2) + kinds
    message = b"\1" + len(body).to_bytes(3) + body
    return b"\x16\3\1" + len(message).to_bytes(2) + message


OPENSSL = sent(ssl.create_default_context())


def test_openssl_is_no_browser():
    """The handshake of Python, curl and Twisted has no values that mean nothing."""
    assert client_hello.is_complete(OPENSSL)
    assert not client_hello.is_browser(OPENSSL)


@pytest.mark.parametrize(
    ("ciphers", "extensions", "is_one"),
    [
        ([0x3A3A, 0x1301], [0xDADA, 0], True),
        ([0x1301, 0x0A0A], [0, 0xFAFA], True),
        ([0x3A3A, 0x1301], [0, 10], False),
        ([0x1301], [0xDADA], False),
        ([0x3A4A, 0x1301], [0x4A3A], False),
        ([], [], False),
    ],
)
def test_browsers_send_values_that_mean_nothing(ciphers, extensions, is_one):
    """GREASE has to be among both the ciphers and the extensions."""
    assert client_hello.is_browser(made(ciphers, extensions)) is is_one


@given(st.integers(0, len(OPENSSL) - 1))
def test_a_part_is_not_whole(length):
    """As long as bytes are missing there is more to wait for."""
    assert not client_hello.is_complete(OPENSSL[:length])
    assert not client_hello.is_browser(OPENSSL[:length])


@given(st.binary(max_size=300))
@example(b"GET / HTTP/1.1\r\n\r\n")
@example(b"\x16\3\1\xff\xff")
def test_any_bytes_are_read(data):
    """Whatever comes instead of TLS breaks nothing, and is waited for no longer than a record is."""
    assert isinstance(client_hello.is_complete(data), bool)
    assert client_hello.is_browser(data) in (True, False)
    assert client_hello.is_complete(data.ljust(client_hello.MAX_RECORD, b"\0"))
