"""Forms that are made of query models."""

from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from webdata.crawling.warm_crawlers import load_spiders
from webdata.domain.errors import QueryError
from webdata.domain.query import Query
from webdata.faces.dashboard.playground.fields import form_fields, other_errors, sent_values
from webdata.faces.dashboard.playground.http_call import HttpCall, read_query
from webdata.faces.dashboard.playground.samples import samples
from webdata.resources import Resource
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.url_request import URL_REQUEST, UrlQuery
from webdata.resources.web_search import WEB_SEARCH

RESOURCES = sorted({one for spider in load_spiders() for one in spider.resources}, key=lambda one: one.name)


class NewQuery(Query):
    """The query of an engine that nobody has met."""

    without_effect: ClassVar = ()
    words: Annotated[list[str], Field(description="the words, one a line", examples=[["a", "b"]])]
    exact: Annotated[bool, Field(description="one of true, false")] = True
    depth: Annotated[int, Field(ge=2, le=7, description="a whole number from 2 to 7")] = 3


NEW = Resource("new", "/v1/new", "New things", NewQuery, dict, method="POST", packed=False)


def by_name(fields):
    return {field.name: field for field in fields}


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)
def test_each_resource_has_a_form_whose_first_view_can_be_sent(resource):
    """The fields are those of the query, and what they hold at first is a valid query."""
    fields = form_fields(resource)
    assert [field.name for field in fields] == resource.query.fields()
    assert all(
        (field.help.endswith(".") or field.kind in ("select", "checkbox")) and (field.value or not field.required)
        for field in fields
    )
    form = {field.sent_as: field.value for field in fields if field.kind != "checkbox" or field.checked}
    query, remarks = read_query(resource, sent_values(resource.query, form))
    assert isinstance(query, resource.query)
    assert remarks.adjusted == ()


def test_fields_are_as_the_model_has_them():
    """Types, bounds, defaults, choices, headers and help texts come from the model."""
    fields = by_name(form_fields(WEB_SEARCH))
    q, num, region, safe = (fields[name] for name in ("q", "num", "region", "safe"))
    assert (q.kind, q.required, q.value, q.help) == (
        "text",
        True,
        "coffee shops",
        "The search terms, such as q=coffee+shops.",
    )
    assert (num.kind, num.minimum, num.maximum, num.value) == ("number", 1, 100, "")
    assert (region.kind, region.header, region.choices[:3]) == ("select", "X-Proxy-Location", ("EU", "CA", "US"))
    assert safe.choices == ("active", "off", "medium", "high")
    assert by_name(form_fields(MAPS_SEARCH))["num"].attributes == {
        "inputmode": "numeric",
        "placeholder": "20",
        "min": "1",
        "max": "200",
    }
    assert region.options[:2] == [("", "default"), ("EU", "EU")]
    assert [field.name for field in fields.values() if field.is_first] == ["q", "region", "device"]
    assert not by_name(form_fields(SCHOLAR_SEARCH))["region"].has_effect


def test_a_form_of_an_unknown_model():
    """Lists, boxes that are checked by default and numbers of a new engine have their fields without an edit."""
    words, exact, depth = form_fields(NEW)
    assert (words.kind, words.value, exact.kind, exact.checked, depth.value) == ("lines", "a\nb", "checkbox", True, "")
    sent = sent_values(NewQuery, {"q.words": " a \n\nb c\n", "q.depth": "5"})
    assert sent == {"words": [" a ", "b c"], "exact": "false", "depth": "5"}
    assert HttpCall.of(NEW, sent).body == sent
    assert by_name(form_fields(NEW, {"q.exact": "true"}))["exact"].checked


def test_a_field_that_is_an_object_is_sent_as_one():
    """Its text is JSON; what is none is sent as it is, for the query to say what is wrong."""
    fields = by_name(form_fields(URL_REQUEST, {"q.extract": '{"a": "h1"}'}))
    assert (fields["extract"].kind, fields["extract"].value) == ("object", '{"a": "h1"}')
    assert sent_values(UrlQuery, {"q.extract": '{"a": {"css": "h1", "many": true}}'}) == {
        "extract": {"a": {"css": "h1", "many": True}}
    }
    for none in ("h1", '{"a":' * 300 + "1" + "}" * 300):
        assert sent_values(UrlQuery, {"q.extract": none}) == {"extract": none}
    codes = {
        one.name: one.text
        for one in samples(URL_REQUEST, {"extract": {"a": {"many": True}}}, "https://a.example", ["url"])
    }
    assert '"extract": {"a": {"many": True}}' in codes["Python httpx"]
    assert """-a 'extract={"a":{"many":true}}'""" in codes["scrapy crawl"]


def test_errors_stand_beside_their_fields():
    """Each wrong value is kept, with what would be right beside it, also of headers and of a field in the path."""
    form = {"q.q": " ", "q.num": "1000000", "q.region": "XX", "q.hl": "english please"}
    with pytest.raises(QueryError) as caught:
        read_query(NEWS_SEARCH, sent_values(NEWS_SEARCH.query, form))
    fields = by_name(form_fields(NEWS_SEARCH, form, caught.value.problems))
    assert fields["q"].error == "q is missing: give the search terms, such as q=coffee+shops"
    assert fields["region"].error.startswith("X-Proxy-Location cannot be 'XX': give one of EU, CA")
    assert (fields["region"].value, fields["device"].error) == ("XX", "")
    assert other_errors(list(fields.values()), caught.value.problems) == []


def test_what_is_empty_is_left_to_its_default():
    """Fields that are left empty, and boxes as they were, are no part of the call."""
    form = {"q.q": "coffee", "q.num": "", "q.gl": "  ", "key": "key_1"}
    assert sent_values(WEB_SEARCH.query, form) == {"q": "coffee"}


def test_the_parts_of_the_request():
    """Parameters go where HTTP callers put them: query string, headers, segments of the path, body."""
    web = HttpCall.of(WEB_SEARCH, {"q": "a&b", "region": "DE", "num": "3"})
    assert (web.method, web.path, web.query, web.headers) == (
        "GET",
        "/v1/search",
        "q=a%26b&num=3",
        {"X-Proxy-Location": "DE"},
    )
    maps = HttpCall.of(MAPS_SEARCH, {"q": "cafés/a", "num": "3"})
    assert (maps.path, maps.query) == ("/v1/maps/search/caf%C3%A9s%2Fa", "num=3")
    url = HttpCall.of(URL_REQUEST, {"url": "https://example.com/", "response_type": "full"})
    assert (url.method, url.query, url.body) == ("POST", "", {"url": "https://example.com/", "response_type": "full"})
