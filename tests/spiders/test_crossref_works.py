"""Requests for Crossref's works."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.domain.errors import BlockedError
from webdata.resources.scholar_search import ScholarQuery
from webdata.spiders.crossref_works import CrossrefWorksSpider
from webdata.spiders.openalex_works import OpenalexWorksSpider


def asked(request):
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def made(contact):
    return CrossrefWorksSpider.from_crawler(
        get_crawler(CrossrefWorksSpider, {"ON_DEMAND": True, "SAMPLES": "", "CONTACT": contact})
    )


def test_a_query():
    """Terms, number and offset are sent as they are, in one call, and by no browser's name."""
    request = CrossrefWorksSpider().request(ScholarQuery(q="mills & tides", num=200, start=15))
    assert asked(request) == {"query": "mills & tides", "rows": "200", "offset": "15"}
    assert request.headers["User-Agent"] == b"webdata"


def test_the_contact_is_told():
    """The mail address of the settings is sent, a blank one is not, and neither stands in logs."""
    request = made(" me@example.org ").request(ScholarQuery(q="mills"))
    assert asked(request)["mailto"] == "me@example.org"
    assert "example.org" not in repr(request)
    assert "mailto" not in asked(made(" ").request(ScholarQuery(q="mills")))


def test_it_is_asked_second():
    """It answers for the same resource as OpenAlex, after it."""
    assert CrossrefWorksSpider.resources == OpenalexWorksSpider.resources
    assert CrossrefWorksSpider.rank > OpenalexWorksSpider.rank


def test_it_wants_to_be_left_alone():
    """Too many requests are a block for as long as it says."""
    with pytest.raises(BlockedError) as caught:
        CrossrefWorksSpider().check(Response("https://api.crossref.org/works", 429, {"Retry-After": "7"}, b"<html>"))
    assert (caught.value.kind, caught.value.retry_after) == ("denied", 7)


def test_a_saved_page_tells_its_terms():
    """What was searched for is read from a saved page."""
    assert CrossrefWorksSpider().shown_query(b'{"message": {"query": {"search-terms": "mills"}}}') == {"q": "mills"}
    assert CrossrefWorksSpider().shown_query(b"") == {}
