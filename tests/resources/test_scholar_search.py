"""What a search for scholarly works promises."""

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
    """The types' keys are the schema's properties, and what may be missing is what it does not require."""
    found = schema("scholar_search")["$defs"][name]
    assert set(get_type_hints(TYPES[name])) == set(found["properties"])
    assert TYPES[name].__required_keys__ == set(found["required"])


def test_identifiers_and_extras_have_the_keys_of_the_schema():
    """So do the objects within an article."""
    article = schema("scholar_search")["$defs"]["article"]["properties"]
    assert set(get_type_hints(scholar.ScholarIds)) == set(article["ids"]["properties"])
    assert set(get_type_hints(scholar.ScholarExtras)) == set(article["extras"]["properties"])


def test_a_page_and_its_envelope_make_a_record():
    """What the engine tells and what the envelope adds are together exactly the schema's properties."""
    keys = set(get_type_hints(scholar.ScholarPage)) | set(ENVELOPE)
    assert keys == set(schema("scholar_search")["properties"])


def test_what_is_not_asked_for():
    """Ten works from the first on, unless the query says otherwise."""
    query = ScholarQuery.check({"q": "mills"})
    assert (query.size, query.offset) == (10, 0)
    query = ScholarQuery.check({"q": "mills", "num": "200", "start": "9800"})
    assert (query.size, query.offset) == (200, 9800)


@pytest.mark.parametrize("wrong", [{"q": " "}, {"num": 0}, {"num": 201}, {"num": "x"}, {"start": -1}, {"gl": "de"}])
def test_what_cannot_be_asked(wrong):
    """Blank terms, counts out of bounds and unknown keys are refused."""
    with pytest.raises(QueryError):
        ScholarQuery.check({"q": "mills", **wrong})


def test_beyond_the_last_work():
    """A query behind the 10,000th work is refused with what would be right."""
    with pytest.raises(QueryError) as caught:
        ScholarQuery.check({"q": "mills", "num": "200", "start": "9900"})
    (problem,) = caught.value.problems
    assert problem["loc"] == ["query", "start"]
    assert "reach 10100" in problem["msg"]
    assert "9800 at most" in problem["msg"]


def test_region_and_device_have_no_effect():
    """They are accepted, and named as what means nothing here."""
    query, _ = ScholarQuery.read([("q", "mills")], {"region": "DE", "device": "mobile"})
    assert (query.region, query.device) == ("DE", "mobile")
    assert set(query.without_effect) == set(query.headers().values()) - {"X-Session"}
