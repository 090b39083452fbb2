"""Image search: the record types agree with the JSON Schema."""

from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.image_search import ImagePage, ImageResult


def test_a_page_and_its_envelope_make_a_record():
    """The keys of both are exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(ImagePage.__annotations__)
    assert keys == set(schema("image_search")["properties"])


def test_an_image_has_the_keys_of_its_schema():
    """An image and each of its parts have the schema's properties."""
    properties = schema("image_search")["$defs"]["image_result"]["properties"]
    assert set(ImageResult.__annotations__) == set(properties)
    for name, part in ImageResult.__annotations__.items():
        assert set(part.__annotations__) == set(properties[name]["properties"])
