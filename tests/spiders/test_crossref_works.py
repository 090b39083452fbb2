"""Requests for Crossref's works."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.domain.errors import BlockedError
from webdata.resources.scholar_search import ScholarQuery
from webdata.spiders.crossref_works import CrossrefWorksSpider
from webdata.spiders.openalex_works import OpenalexWorksSpider


def parameters(request):
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def made(contact):
    return CrossrefWorksSpider.from_crawler(
        get_crawler(CrossrefWorksSpider, {"ON_DEMAND": True, "SAMPLES": "", "CONTACT": contact})
    )


def test_the_operators_address_is_in_no_archive():
    """It is a key that the recording masks; without one there is none."""
    assert made(" me@example.com ").keys == ("me@example.com",)
    assert made("").keys == ()


def test_a_query_is_one_request():
    """Terms, number and offset are sent unchanged in one request, without a browser's user agent."""
    request = CrossrefWorksSpider().request(ScholarQuery(q="mills & tides", num=200, start=15))
    assert parameters(request) == {"query": "mills & tides", "rows": "200", "offset": "15"}
    assert request.headers["User-Agent"] == b"webdata"


def test_the_contact_is_sent():
    """The mail address of the settings is sent and not logged; a blank one is not sent."""
    request = made(" me@example.org ").request(ScholarQuery(q="mills"))
    assert parameters(request)["mailto"] == "me@example.org"
    assert "example.org" not in repr(request)
    assert "mailto" not in parameters(made(" ").request(ScholarQuery(q="mills")))


def test_it_ranks_after_openalex():
    """It serves the same resource as OpenAlex, with a higher rank."""
    assert CrossrefWorksSpider.resources == OpenalexWorksSpider.resources
    assert CrossrefWorksSpider.rank > OpenalexWorksSpider.rank


def test_a_rate_limit_has_its_seconds_to_wait():
    """A 429 is a block with the seconds of `Retry-After`."""
    with pytest.raises(BlockedError) as caught:
        CrossrefWorksSpider().check(Response("https://api.crossref.org/works", 429, {"Retry-After": "7"}, b"<html>"))
    assert (caught.value.kind, caught.value.retry_after) == ("denied", 7)


def test_terms_are_read_from_a_saved_page():
    """The terms of a saved page are read from its echoed query."""
    assert CrossrefWorksSpider().shown_query(b'{"message": {"query": {"search-terms": "mills"}}}') == {"q": "mills"}
    assert CrossrefWorksSpider().shown_query(b"") == {}
