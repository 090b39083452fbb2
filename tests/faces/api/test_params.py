"""Reading the query of a request."""

import contextlib
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import QueryError
from webdata.domain.query import Region, Remarks
from webdata.faces.api.params import SHARED_HEADERS, packed_pairs, packed_query, path_query, segment_value
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

BARE = dataclasses.replace(WEB_SEARCH, bare_term=True)


def test_region_device_and_session_are_shared_headers():
    """Most endpoints accept them."""
    assert SHARED_HEADERS == ("X-Proxy-Location", "X-User-Agent", "X-Session", "X-Engine")


def test_a_packed_segment_a_query_string_and_headers_are_one_query():
    """Unknown keys are ignored."""
    query, remarks = packed_query(WEB_SEARCH, "q=a+b", "num=5&x=1", {"X-Proxy-Location": "us"}.get)

    assert (query.q, query.num, query.region) == ("a b", 5, Region.US)
    assert remarks == Remarks(ignored=("x",))


@pytest.mark.parametrize(
    ("resource", "segment", "query", "pairs"),
    [
        (WEB_SEARCH, "", "", []),
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
        ("q%3Dtesla", "", "tesla", "q=tesla", []),
        ("q%3Dtesla%2Bcar%26num%3D5/", "", "tesla car", "q=tesla+car&num=5", ["num"]),
        ("num%3D5%26q%3Dtesla", "", "num=5&q=tesla", "num%3D5%26q%3Dtesla", []),
    ],
)
def test_an_image_search_has_no_parameter_but_its_terms(segment, query, q, text, ignored):
    """With `q=` other keys are ignored; after a bare term they are part of it."""
    parsed, remarks = packed_query(IMAGE_SEARCH, segment, query, {}.get)
    assert (parsed.q, parsed.as_text, list(remarks.ignored)) == (q, text, ignored)


@pytest.mark.parametrize(
    ("segment", "q", "num"),
    [
        ("q=a/", "a", None),
        ("q%3Dsearch%2Bapi%26num%3D5", "search api", 5),
        ("q%3Dsearch%20api%26num%3D5/", "search api", 5),
        ("num%3D5%26q%3Dcaf%C3%A9", "café", 5),
        ("q%3Da%252Fb%2526c%2525", "a/b&c%", None),
        ("q%3da%2F", "a/", None),
        ("q%3D100%25%20sure", "100% sure", None),
        ("q%3D%26num%3D5%26q%3D", None, None),
    ],
)
def test_a_packed_segment_may_be_encoded_as_a_whole(segment, q, num):
    """Where it has no literal `=` and begins, once decoded, with a known key, it is decoded once before it is split."""
    if q is None:
        with pytest.raises(QueryError, match="q is blank"):
            packed_query(WEB_SEARCH, segment, "", {}.get)
        return
    query, _ = packed_query(WEB_SEARCH, segment, "", {}.get)
    assert (query.q, query.num) == (q, num)


@pytest.mark.parametrize("segment", ["x%3D1%26q%3Da", "coffee%3Dblack", "q%253Da"])
def test_an_encoded_segment_that_begins_with_no_known_key_is_a_bare_term(segment):
    """It is refused where a bare term is not allowed."""
    with pytest.raises(QueryError, match="q is missing"):
        packed_query(WEB_SEARCH, segment, "", {}.get)


@pytest.mark.parametrize(
    ("value", "path"), [("vid", "/v1/video"), ("isch", "/v1/image"), ("nws", "/v1/news"), (" NWS", "/v1/news")]
)
def test_a_vertical_of_the_engine_is_another_endpoint(value, path):
    """`tbm` on the web search names the endpoint that does it; other values are ignored."""
    with pytest.raises(QueryError, match=f"call {path}, without tbm") as caught:
        packed_query(WEB_SEARCH, "q=a", f"tbm={value}", {}.get)
    assert caught.value.problems[0]["loc"] == ["query", "tbm"]
    assert packed_query(WEB_SEARCH, "q=a&tbm=shop", "", {}.get)[1].ignored == ("tbm",)
    assert packed_query(VIDEO_SEARCH, "q=a", f"tbm={value}", {}.get)[1].ignored == ("tbm",)


def test_the_named_endpoints_exist():
    """Each path that a resource names for other purposes is that of a resource."""
    resources = {resource for spider in load_spiders() for resource in spider.resources}
    paths = {resource.path for resource in resources}
    assert {path for resource in resources for path in resource.elsewhere.values()} <= paths


@pytest.mark.parametrize(("segment", "right"), [("a+b", "a+b"), ("AT%26T", "AT%26T"), ("%", "%25"), ("é", "%C3%A9")])
def test_a_bare_term_is_refused_where_it_is_not_allowed(segment, right):
    """The message has the right form of the same request."""
    with pytest.raises(QueryError, match=f"write /v1/search/q={right.replace('+', chr(92) + '+')}$"):
        packed_pairs(WEB_SEARCH, segment, "")


def test_named_segments_and_a_query_string_are_one_query():
    """Unknown keys are ignored, and so are headers without effect."""
    segments = {"query": "caf%C3%A9s+in+Porto&zoom=3/"}
    query, remarks = path_query(MAPS_SEARCH, segments, "num=40&x=1", {"X-Proxy-Location": "us"}.get)

    assert query == MapsQuery(q="cafés in Porto", num=40)
    assert remarks == Remarks(ignored=("zoom", "x", "X-Proxy-Location"))


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
