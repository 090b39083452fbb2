"""Scholarly works: the query and the record types."""

from typing import get_type_hints

import pytest

from webdata.domain.errors import QueryError
from webdata.resources import ENVELOPE, schema
from webdata.resources import scholar_search as scholar
from webdata.resources.scholar_search import ScholarQuery

TYPES = {
    "article": scholar.Article,
    "byline": scholar.ScholarByline,
    "document": scholar.ScholarDocument,
    "citations": scholar.ScholarCitations,
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_keys_of_its_schema(name):
    """A type's keys are its schema's properties, and its mandatory keys are required."""
    found = schema("scholar_search")["$defs"][name]
    assert set(get_type_hints(TYPES[name])) == set(found["properties"])
    assert TYPES[name].__required_keys__ == set(found["required"])


def test_identifiers_and_extras_have_the_keys_of_the_schema():
    """The nested objects of an article have the schema's properties."""
    article = schema("scholar_search")["$defs"]["article"]["properties"]
    assert set(get_type_hints(scholar.ScholarIds)) == set(article["ids"]["properties"])
    assert set(get_type_hints(scholar.ScholarExtras)) == set(article["extras"]["properties"])


def test_a_page_and_its_envelope_make_a_record():
    """The keys of both are exactly the schema's properties."""
    keys = set(get_type_hints(scholar.ScholarPage)) | set(ENVELOPE)
    assert keys == set(schema("scholar_search")["properties"])


def test_the_query_has_defaults():
    """By default a search has the first ten works."""
    query = ScholarQuery.check({"q": "mills"})
    assert (query.size, query.offset) == (10, 0)
    query = ScholarQuery.check({"q": "mills", "num": "200", "start": "9800"})
    assert (query.size, query.offset) == (200, 9800)


@pytest.mark.parametrize("wrong", [{"q": " "}, {"num": 0}, {"num": 201}, {"num": "x"}, {"start": -1}, {"gl": "de"}])
def test_wrong_values_are_refused(wrong):
    """Blank terms, counts out of bounds and unknown keys are errors."""
    with pytest.raises(QueryError):
        ScholarQuery.check({"q": "mills", **wrong})


def test_works_after_the_last_numbered_one_are_refused():
    """The message for works after the 10,000th has the largest possible start."""
    with pytest.raises(QueryError) as caught:
        ScholarQuery.check({"q": "mills", "num": "200", "start": "9900"})
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", "start"]
    assert "reach 10100" in problem["msg"]
    assert "9800 at most" in problem["msg"]


def test_region_and_device_have_no_effect():
    """Both are accepted, and listed as headers without effect."""
    query, _ = ScholarQuery.read([("q", "mills")], {"region": "DE", "device": "mobile"})
    assert (query.region, query.device) == ("DE", "mobile")
    assert set(query.without_effect) == set(query.header_names().values()) - {"X-Session", "X-Engine"}
