"""Map search: the query and the route."""

import pytest

from webdata.domain.errors import QueryError
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery


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
