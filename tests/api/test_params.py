"""From URL and headers to a query."""

import dataclasses

import pytest

from webdata.api.params import SHARED_HEADERS, packed_pairs, packed_query
from webdata.errors import QueryError
from webdata.query import Region
from webdata.resources import WEB_SEARCH

BARE = dataclasses.replace(WEB_SEARCH, bare_term=True)


def test_shared_headers():
    """The shared headers are those of spec.md."""
    assert SHARED_HEADERS == ("X-Proxy-Location", "X-User-Agent")


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


@pytest.mark.parametrize(("segment", "right"), [("a+b", "a+b"), ("AT%26T", "AT%26T"), ("%", "%25"), ("é", "%C3%A9")])
def test_bare_segments(segment, right):
    """Where a bare term is not allowed, the message shows the same request in its right form."""
    with pytest.raises(QueryError, match=f"write /v1/search/q={right.replace('+', chr(92) + '+')}$"):
        packed_pairs(WEB_SEARCH, segment, "")
