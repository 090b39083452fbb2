"""The `pb` parameter."""

import pytest

from tests.maps_pb import decode
from webdata.pages.google_maps import Viewport
from webdata.spiders._google_maps_pb import Choice, Single, encode, search

PORTO = Viewport(15555.434913792185, -8.61, 41.15)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({}, ""),
        ({10: True, 2: False}, "!10b1!2b0"),
        ({7: 20, 8: 0}, "!7i20!8i0"),
        ({34: Choice(1)}, "!34e1"),
        ({1: 2.5, 2: -8.0, 4: Single(13.1)}, "!1d2.5!2d-8!4f13.1"),
        ({1: 0.00001, 2: 20_000_000.0}, "!1d0.00001!2d20000000"),
        ({1: "a*b!c d"}, "!1sa*2Ab*21c d"),
        ({1: ""}, "!1s"),
        ({63: {}}, "!63m0"),
        ({19: {2: {1: 360, 2: 120, 4: 8}}}, "!19m4!2m3!1i360!2i120!4i8"),
        ({6: {1: [{1: 86, 2: 86}, {1: 408, 2: 240}]}}, "!6m6!1m2!1i86!2i86!1m2!1i408!2i240"),
    ],
)
def test_a_message_is_encoded(message, text):
    """Fields have numbers and types, and a message counts all its fields."""
    assert text == encode(message)


def test_a_search_has_the_parameters_of_the_map():
    """Terms, viewport, page size and details have the format of requests of the map."""
    text = search("cafes", PORTO, None)
    assert text.startswith("!1scafes!4m8!1m3!1d15555.4349138!2d-8.61!3d41.15!3m2!1i1024!2i768!4f13.1!7i20!10b1!12m")
    assert "!19m4!2m3!1i360!2i120!4i8!20m14!2m2!1i203!2i100!3m2!2i4!5b1!6m6!" in text


@pytest.mark.parametrize(("offset", "expected"), [(None, None), (0, 0), (40, 40)])
def test_a_page_has_its_offset(offset, expected):
    """An offset of None is left out."""
    fields = decode(search("cafés!", PORTO, offset))
    assert (fields[1], fields[7], fields.get(8)) == ("cafés!", 20, expected)


def test_every_message_counts_its_fields():
    """The sandbox decodes the parameter, which requires right counts."""
    fields = decode(search("cafes", Viewport(4_500_000, -97, 38.5), 20))
    assert fields[4] == {1: {1: 4_500_000.0, 2: -97.0, 3: 38.5}, 3: {1: 1024, 2: 768}, 4: 13.1}
    assert {10, 12, 19, 20, 24} <= fields.keys()
