"""Article pages, and the call for addresses."""

import json
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import LayoutError
from webdata.pages._news import articles
from webdata.pages._news.articles import Signed

ONE, TWO = Signed("CBMiONE", 1784000000, "AZsig&1"), Signed("CBMiTWO", 1784000001, "AZsig2")
PAGE = (
    '<c-wiz><div>menu</div><div jscontroller="a" data-n-a-sg="AZsig&amp;1" '
    'data-n-a-id="CBMiONE" data-n-a-ts="1784000000"></div></c-wiz>'
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["wrb.fr", "Fbv4je", "garturlres"]),
    lambda inner: st.lists(inner, max_size=4),
)


def frame(address: str | None, tag: str, call: str = "Fbv4je") -> list:
    result = None if address is None else json.dumps(["garturlres", address, 1])
    return ["wrb.fr", call, result, None, None, None, tag]


def answer(*frames: list) -> bytes:
    return (")]}'\n\n" + json.dumps([*frames, ["di", 12]])).encode()


def test_a_page_contains_a_signed_id():
    """Id, time and signature are attributes in any order, with entities decoded."""
    assert articles.signature_or_address(PAGE.encode()) == ONE


def test_an_older_page_contains_the_address():
    """Without a signature, the page may contain the address."""
    page = b'<c-wiz data-n-au="https://clay.example/a?b=1&amp;c=2"></c-wiz>'
    assert articles.signature_or_address(page) == "https://clay.example/a?b=1&c=2"


@pytest.mark.parametrize(
    "page",
    ["", "<html></html>", PAGE.replace("1784000000", "soon"), PAGE.replace("AZsig&amp;1", ""), '<p data-n-au="x">'],
)
def test_a_page_without_signature_and_address_is_refused(page):
    """A page without a complete signature is a LayoutError."""
    with pytest.raises(LayoutError, match="an article's signature"):
        articles.signature_or_address(page.encode())


def test_one_call_requests_all_ids():
    """Each id has an envelope with its number; placeholders describe the reader."""
    form = parse_qs(articles.call_body([ONE, TWO]).decode(), strict_parsing=True)
    (rows,) = json.loads(form["f.req"][0])
    assert [(row[0], row[2], row[3]) for row in rows] == [("Fbv4je", None, "1"), ("Fbv4je", None, "2")]
    arguments = [json.loads(row[1]) for row in rows]
    assert [(one[0], *one[2:]) for one in arguments] == [
        ("garturlreq", "CBMiONE", 1784000000, "AZsig&1"),
        ("garturlreq", "CBMiTWO", 1784000001, "AZsig2"),
    ]
    assert arguments[0][1][1:3] == ["X", "X"]


def test_addresses_belong_to_ids_by_their_numbers():
    """The order of the answer does not matter; an id without an answer has no address."""
    body = answer(frame("https://b.example/?x=1\u003d", "3"), frame("https://a.example/", "1"), frame(None, "2"))
    assert articles.addresses(body, 4) == ["https://a.example/", None, "https://b.example/?x=1=", None]


def test_an_answer_may_be_chunked():
    """Lengths between the arrays are skipped; a truncated chunk does not affect the others."""
    first, second = json.dumps([frame("https://a.example/", "1")]), json.dumps([frame("https://b.example/", "2")])
    whole = f')]}}\'\n\n{len(first)}\n{first}\n{len(second)}\n{second}\n25\n[["e",4]]'
    assert articles.addresses(whole.encode(), 2) == ["https://a.example/", "https://b.example/"]
    cut = whole[: whole.index("b.example")]
    assert articles.addresses(cut.encode(), 2) == ["https://a.example/", None]


@pytest.mark.parametrize("address", ["javascript:alert(1)", "", "clay.example", "https://a b/"])
def test_an_invalid_address_is_none(address):
    """Only a whole http address counts."""
    assert articles.addresses(answer(frame(address, "1")), 1) == [None]


@pytest.mark.parametrize("body", [b"", b"<html>sorry</html>", b")]}'\n\n", b')]}\'\n\n[["e",4]]', answer()])
def test_an_answer_of_another_shape_is_refused(body):
    """A body without a frame of the call is a LayoutError."""
    with pytest.raises(LayoutError, match="an answer to the call"):
        articles.addresses(body, 1)


@given(st.one_of(st.binary(max_size=300), st.lists(JSON, max_size=4).map(lambda value: json.dumps(value).encode())))
def test_any_body_is_accepted_as_an_answer(body):
    """Any bytes and any JSON give addresses or a LayoutError."""
    try:
        assert len(articles.addresses(body, 2)) == 2
    except LayoutError as error:
        assert error.reason  # noqa: PT017  # most are refused, some are not


@given(st.binary(max_size=300))
def test_any_body_is_accepted_as_a_page(body):
    """Any bytes give a signed id, an address or a LayoutError."""
    try:
        assert articles.signature_or_address(body)
    except LayoutError as error:
        assert error.reason  # noqa: PT017  # most are refused, some are not
