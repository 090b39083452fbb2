"""From URL and headers to a query."""

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


def test_shared_headers():
    """The shared headers are those of spec.md, and the session's."""
    assert SHARED_HEADERS == ("X-Proxy-Location", "X-User-Agent", "X-Session")


def test_packed_query():
    """Segment, query string and headers make one query."""
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
def test_packed_pairs(resource, segment, query, pairs):
    """A segment is pairs, unless it is a bare term where that is allowed."""
    assert pairs == packed_pairs(resource, segment, query)


@pytest.mark.parametrize(
    ("segment", "query", "q", "shown", "ignored"),
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
def test_an_image_search_by_the_rule(segment, query, q, shown, ignored):
    """With `q=` other keys are dropped; behind a bare term they are part of it (spec.md, rule 6)."""
    found, dropped = packed_query(IMAGE_SEARCH, segment, query, {}.get)
    assert (found.q, found.as_text, dropped) == (q, shown, ignored)


@pytest.mark.parametrize(("segment", "right"), [("a+b", "a+b"), ("AT%26T", "AT%26T"), ("%", "%25"), ("é", "%C3%A9")])
def test_bare_segments(segment, right):
    """Where a bare term is not allowed, the message shows the same request in its right form."""
    with pytest.raises(QueryError, match=f"write /v1/search/q={right.replace('+', chr(92) + '+')}$"):
        packed_pairs(WEB_SEARCH, segment, "")


def test_path_query():
    """Named segments, query string and headers make one query."""
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
def test_segment_value(segment, value):
    """A segment is its value, with or without its name before it, up to an ampersand."""
    assert value == segment_value("q", segment)


@given(st.text(), st.text())
def test_any_path_is_read_or_refused(segment, query):
    """Whatever stands in a path and behind it, it gives a query with terms, or a refusal."""
    with contextlib.suppress(QueryError):
        found, _ = path_query(MAPS_SEARCH, {"query": segment}, query, {}.get)
        assert found.q.strip()
