"""Reading the query of a request."""

import contextlib
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.api.params import SHARED_HEADERS, packed_pairs, packed_query, path_query, segment_value
from webdata.domain.errors import QueryError
from webdata.domain.query import Region
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery
from webdata.resources.web_search import WEB_SEARCH

BARE = dataclasses.replace(WEB_SEARCH, bare_term=True)


def test_region_device_and_session_are_shared_headers():
    """Most endpoints accept them."""
    assert SHARED_HEADERS == ("X-Proxy-Location", "X-User-Agent", "X-Session")


def test_a_packed_segment_a_query_string_and_headers_are_one_query():
    """Unknown keys are ignored."""
    query, ignored = packed_query(WEB_SEARCH, "q=a+b", "num=5&x=1", {"X-Proxy-Location": "us"}.get)

    assert (query.q, query.num, query.region) == ("a b", 5, Region.US)
    assert ignored == ["x"]


@pytest.mark.parametrize(
    ("resource", "segment", "query", "pairs"),
    [
        (WEB_SEARCH, "", "", []),
        (WEB_SEARCH, "q=a/", "", [("q", "a")]),
        (WEB_SEARCH, "q=a%2F", "", [("q", "a/")]),
        (WEB_SEARCH, "num=5", "", [("num", "5")]),
        (WEB_SEARCH, "a", "q=b", [("a", ""), ("q", "b")]),
        (BARE, "a%26b+c&num=5", "x=1", [("q", "a&b c&num=5"), ("x", "1")]),
        (BARE, "num=5", "", [("num", "5")]),
        (BARE, "", "q=b", [("q", "b")]),
    ],
)
def test_a_packed_segment_is_split_into_pairs(resource, segment, query, pairs):
    """A segment without `q=` is the search term if the resource allows it."""
    assert pairs == packed_pairs(resource, segment, query)


@pytest.mark.parametrize(
    ("segment", "query", "q", "text", "ignored"),
    [
        ("q=origami+crane&num=5", "", "origami crane", "q=origami+crane&num=5", ["num"]),
        ("origami+crane", "", "origami crane", "origami+crane", []),
        ("origami+crane&num=5", "", "origami crane&num=5", "origami+crane&num=5", []),
        ("q=origami%20crane/", "", "origami crane", "q=origami%20crane", []),
        ("", "q=origami+crane&num=5", "origami crane", "q=origami+crane&num=5", ["num"]),
        ("origami+crane", "num=5", "origami crane", "origami+crane", ["num"]),
        ("q=%E6%8A%98%E3%82%8A%E7%B4%99", "", "折り紙", "q=%E6%8A%98%E3%82%8A%E7%B4%99", []),
        ("q=a&packed=b", "", "a", "q=a&packed=b", ["packed"]),
    ],
)
def test_an_image_search_has_no_parameter_but_its_terms(segment, query, q, text, ignored):
    """With `q=` other keys are ignored; after a bare term they are part of it."""
    parsed, dropped = packed_query(IMAGE_SEARCH, segment, query, {}.get)
    assert (parsed.q, parsed.as_text, dropped) == (q, text, ignored)


@pytest.mark.parametrize(("segment", "right"), [("a+b", "a+b"), ("AT%26T", "AT%26T"), ("%", "%25"), ("é", "%C3%A9")])
def test_a_bare_term_is_refused_where_it_is_not_allowed(segment, right):
    """The message has the right form of the same request."""
    with pytest.raises(QueryError, match=f"write /v1/search/q={right.replace('+', chr(92) + '+')}$"):
        packed_pairs(WEB_SEARCH, segment, "")


def test_named_segments_and_a_query_string_are_one_query():
    """Unknown keys are ignored, and so are headers without effect."""
    segments = {"query": "caf%C3%A9s+in+Porto&zoom=3/"}
    query, ignored = path_query(MAPS_SEARCH, segments, "num=40&x=1", {"X-Proxy-Location": "us"}.get)

    assert query == MapsQuery(q="cafés in Porto", num=40)
    assert ignored == ["zoom", "x", "X-Proxy-Location"]


@pytest.mark.parametrize(
    ("segment", "value"),
    [
        ("cafes", "cafes"),
        ("q=cafes", "cafes"),
        ("q%3Dcafes", "cafes"),
        ("q=q=cafes", "q=cafes"),
        ("x=cafes", "x=cafes"),
        ("cafes&num=5", "cafes"),
        ("a%26b%2Fc", "a&b/c"),
        ("100%", "100%"),
        ("&num=5", ""),
    ],
)
def test_the_value_of_a_segment_ends_at_an_ampersand(segment, value):
    """The name of the field may be before the value."""
    assert value == segment_value("q", segment)


@given(st.text(), st.text())
def test_any_path_is_read_or_refused(segment, query):
    """Any path and query string are a query with terms, or a QueryError."""
    with contextlib.suppress(QueryError):
        parsed, _ = path_query(MAPS_SEARCH, {"query": segment}, query, {}.get)
        assert parsed.q.strip()
