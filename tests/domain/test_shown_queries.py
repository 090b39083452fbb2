"""Queries as they are stored and shown."""

import orjson

from webdata.domain.secrets import MASK
from webdata.domain.shown_queries import LONGEST_QUERY, shown_query
from webdata.resources.url_request import UrlQuery


def selectors(number):
    return [f"p.{chr(97 + number)}{place}{'x' * 280}" for place in range(20)]


def test_a_query_is_shown_without_its_defaults_and_secrets():
    """What was not given is not shown; of private fields only the names are."""
    query = UrlQuery(url="https://example.com/?token=abc", response_type="full", cookies={"a": "b"})
    shown = {"url": f"https://example.com/?token={MASK}", "response_type": "full", "cookies": MASK}
    assert shown_query(query) == shown


def test_the_longest_fields_of_a_long_query_are_left_out():
    """Each call stores its query, so that it has a size which no caller exceeds."""
    extract = {f"name{place}": {"css": "p." + "y" * 290} for place in range(30)}
    fields = {"include": selectors(0), "exclude": selectors(1), "extract": extract}
    shown = shown_query(UrlQuery(url="https://example.com/", timeout=5, **fields))
    assert len(orjson.dumps(shown)) < LONGEST_QUERY + 200
    assert (shown["url"], shown["timeout"], shown["extract"]) == ("https://example.com/", 5, MASK)


def test_a_query_of_some_selectors_is_whole():
    """What callers usually send is shown as it is."""
    shown = shown_query(UrlQuery(url="https://example.com/", response_type="markdown", include=["article", ".a > p"]))
    assert shown["include"] == ["article", ".a > p"]
