"""The ids in the aggregator's links."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webdata.pages._news import ids

SITE = "https://news.google.com"
ADDRESS = "https://clay.example/kiln?a=1&b=2"
BYTES = st.binary(max_size=300)


def number(value: int) -> bytes:
    """A varint, encoded independently of the tested code."""
    return bytes([value]) if value < 0x80 else bytes([value % 0x80 + 0x80]) + number(value // 0x80)


def field(one: int, value: bytes) -> bytes:
    return number(one * 8 + 2) + number(len(value)) + value


def encoded_id(*fields: bytes) -> str:
    return urlsafe_b64encode(b"\x08\x13" + b"".join(fields)).decode().rstrip("=")


READABLE = encoded_id(field(4, ADDRESS.encode()), field(26, b""))
OPAQUE = encoded_id(field(4, b"AU_yqLabcdefgh"), field(26, b"AU_yqLhgfedcba"))


@pytest.mark.parametrize(
    "path",
    [f"/rss/articles/{READABLE}?oc=5", f"/articles/{READABLE}", f"/read/{READABLE}?hl=en", f"/x/articles/{READABLE}/"],
)
def test_an_article_link_contains_an_id(path):
    """The id is the part of the path after `articles` or `read`, in every form of link."""
    assert ids.id_in_link(SITE + path) == READABLE
    assert ids.address_in_link(SITE + path) == ADDRESS


@pytest.mark.parametrize(
    "link",
    [
        f"{SITE}/stories/{READABLE}",
        f"{SITE}/rss/articles/",
        f"{SITE}/rss/articles/a?b",
        f"{SITE}/",
        f"https://clay.example/articles/{READABLE}",
        f"https://news.google.com.evil.example/articles/{READABLE}",
        "https://[/articles/x",
        "",
    ],
)
def test_other_links_contain_no_id(link):
    """Clusters, front pages, publishers and invalid links have no id."""
    assert ids.id_in_link(link) is None
    assert ids.address_in_link(link) is None


def test_a_link_before_2018_has_the_address_as_a_parameter():
    """Only an http address in the parameter counts."""
    assert (
        ids.address_in_link("http://news.google.com/news/url?sa=t&url=http://clay.example/a") == "http://clay.example/a"
    )
    assert ids.address_in_link("http://news.google.com/news/url?sa=t&url=javascript:alert(1)") is None
    assert ids.address_in_link("http://news.google.com/news/url?sa=t") is None


def test_an_opaque_id_contains_no_address():
    """Ids since July 2024 have the same shape, but no address."""
    assert ids.id_in_link(f"{SITE}/rss/articles/{OPAQUE}") == OPAQUE
    assert ids.address_in_link(f"{SITE}/rss/articles/{OPAQUE}") is None


@pytest.mark.parametrize("length", [1, 100, 127 - 23, 128 - 23, 300, 2000])
def test_an_address_may_have_any_length(length):
    """An address is read whole, whether its length takes one byte or more."""
    address = f"https://clay.example/{'x' * length}"
    assert ids.address_in_id(encoded_id(field(4, address.encode()))) == address


def test_the_order_of_fields_does_not_matter():
    """Unknown fields of any type are skipped."""
    unknown = b"\x09" + b"8 bytes.."[:8] + b"\x15four" + field(26, b"https://amp.example/") + field(700, b"x")
    assert ids.address_in_id(encoded_id(unknown, field(4, ADDRESS.encode()))) == ADDRESS


@pytest.mark.parametrize(
    "value", [b"", b"clay.example", b"javascript:alert(1)", b"https://", b"https://a b/", b"\xff\xfe", b"https://[/"]
)
def test_an_invalid_address_is_none(value):
    """Only a whole http address counts."""
    assert ids.address_in_id(encoded_id(field(4, value))) is None


@given(st.text(max_size=400))
@example("CBMi")
@example("CBMi" + "A" * 9)
def test_any_text_is_accepted_as_an_id(text):
    """Any text gives an address or None."""
    assert ids.address_in_id(text) is None or ids.is_web_address(ids.address_in_id(text))
    ids.id_in_link(text)
    ids.address_in_link(f"{SITE}/rss/articles/{text}")
    ids.address_in_link(f"{SITE}/news/url?url={text}")


@given(BYTES)
def test_any_bytes_are_accepted_as_a_message(message):
    """Any bytes in base64url give an address or None; invalid protobuf raises only ValueError."""
    ids.address_in_id(urlsafe_b64encode(message).decode().rstrip("="))
    try:
        assert sum(len(value) for _, value in ids.fields(message) if isinstance(value, bytes)) <= len(message)
    except ValueError as error:
        assert str(error)  # noqa: PT017  # most bytes are no message, some are


@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), st.one_of(BYTES, st.integers(0, 2**64 - 1)))))
def test_a_written_message_is_read_back(fields):
    """Every field is returned with its number, in order."""
    written = (
        field(one, value) if isinstance(value, bytes) else number(one * 8) + number(value) for one, value in fields
    )
    assert list(ids.fields(b"".join(written))) == fields
