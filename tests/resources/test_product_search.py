"""Product search: the record types agree with the JSON Schema."""

from webdata.domain.records import Envelope
from webdata.resources.product_search import PRODUCT_SEARCH, Product, ProductPage, ProductQuery


def test_a_product_has_the_keys_of_its_schema():
    """A product's keys are its schema's properties, and all of them are required."""
    found = PRODUCT_SEARCH.schema["$defs"]["product"]
    assert set(Product.__annotations__) == set(found["properties"]) == set(found["required"])


def test_a_page_and_its_envelope_make_a_record():
    """The keys of both are exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(ProductPage.__annotations__)
    assert keys == set(PRODUCT_SEARCH.schema["properties"])


def test_the_terms_are_the_only_query_key():
    """All other parameters of a product search are headers."""
    assert ProductQuery.keys() == ["q"]
    assert set(ProductQuery.header_names().values()) == {"X-Proxy-Location", "X-User-Agent", "X-Session", "X-Engine"}
