"""The record types of the code and the JSON Schemas agree."""

from typing import is_typeddict

import pytest

from webdata.domain import records
from webdata.resources import schema

ELEMENTS = {
    "result": records.Result,
    "result_page": records.ResultPage,
    "ad": records.Ad,
    "answer": records.AnswerBox,
    "shopping_ad": records.ShoppingAd,
    "place": records.Place,
    "related_search": records.RelatedSearch,
    "related_question": records.RelatedQuestion,
    "carousel_item": records.CarouselItem,
    "carousel": records.Carousel,
    "named_link": records.NamedLink,
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_has_the_keys_of_its_schema(name):
    """A type has the keys of its schema's properties."""
    assert is_typeddict(ELEMENTS[name])
    assert set(ELEMENTS[name].__annotations__) == set(schema("envelope")["$defs"][name]["properties"])


@pytest.mark.parametrize("name", ["web_search", "video_search"])
def test_a_page_and_its_envelope_make_a_record(name):
    """The keys of the envelope and of the page are together exactly the schema's properties."""
    keys = set(records.Envelope.__annotations__) | set(records.WebPage.__annotations__)
    assert keys == set(schema(name)["properties"])
