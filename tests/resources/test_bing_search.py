"""Search on Bing: the record types agree with the JSON Schema."""

import pytest

from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.bing_search import BingAd, BingPage, BingResult, BingShoppingAd

ELEMENTS = {"ad": BingAd, "shopping_ad": BingShoppingAd, "result": BingResult}


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_has_the_keys_of_its_schema(name):
    """A type's keys are its schema's properties."""
    assert set(ELEMENTS[name].__annotations__) == set(schema("bing_search")["$defs"][name]["properties"])


def test_a_page_and_its_envelope_make_a_record():
    """The keys of both are exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(BingPage.__annotations__)
    assert keys == set(schema("bing_search")["properties"])
