"""Map search: the query, the route and the record types."""

import pytest

from webdata.domain.errors import QueryError
from webdata.resources import schema
from webdata.resources.maps_search import MAPS_SEARCH, MapPlace, MapsMetadata, MapsQuery, MapsRecord


def test_a_place_has_the_keys_of_its_schema():
    """The types' keys are the schema's properties."""
    found = schema("maps_search")
    assert set(MapPlace.__annotations__) == set(found["$defs"]["place"]["properties"])
    assert set(MapsMetadata.__annotations__) == set(found["properties"]["metadata"]["properties"])


def test_a_record_and_its_envelope_have_the_keys_of_the_schema():
    """The keys of both are exactly the schema's properties."""
    assert set(MapsRecord.__annotations__) | set(MAPS_SEARCH.envelope) == set(schema("maps_search")["properties"])


def test_the_segment_of_the_route_holds_the_terms():
    """The segment `{query}` is the field `q`."""
    assert MAPS_SEARCH.route == "/v1/maps/search/{query}"
    assert MAPS_SEARCH.segments == {"query": "q"}


def test_the_query_has_defaults():
    """By default a search has twenty places, in English, from the United States."""
    query = MapsQuery.check({"q": "cafes"})
    assert (query.num, query.language, query.country) == (20, "en", "us")
    assert MapsQuery(q="cafes", hl=None, gl=None).language == "en"
    assert MapsQuery.check({"q": "cafes", "num": "200", "hl": "pt-BR", "gl": "BR"}) == MapsQuery(
        q="cafes", num=200, hl="pt-BR", gl="br"
    )


@pytest.mark.parametrize(
    "wrong",
    [{"q": " "}, {"num": 0}, {"num": 201}, {"num": "1.5"}, {"hl": "e"}, {"gl": "usa"}, {"gl": "u1"}, {"ll": "1,2"}],
)
def test_wrong_values_are_refused(wrong):
    """Blank terms, counts out of bounds and malformed codes are errors."""
    with pytest.raises(QueryError):
        MapsQuery.check({"q": "cafes", **wrong})
