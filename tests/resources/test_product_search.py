"""The types of product search and its schema promise the same."""

from webdata.domain.records import Envelope
from webdata.resources.product_search import PRODUCT_SEARCH, Product, ProductPage, ProductQuery


def test_a_product_has_the_keys_of_its_schema():
    """A product's keys are its schema's properties, and all of them are required."""
    promised = PRODUCT_SEARCH.schema["$defs"]["product"]
    assert set(Product.__annotations__) == set(promised["properties"]) == set(promised["required"])


def test_a_page_and_its_envelope_make_a_record():
    """The envelope and what a page tells are together exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(ProductPage.__annotations__)
    assert keys == set(PRODUCT_SEARCH.schema["properties"])


def test_only_terms_are_asked_for():
    """A product search has no key but its terms (spec.md, packed query parameters)."""
    assert ProductQuery.keys() == ["q"]
    assert set(ProductQuery.headers().values()) == {"X-Proxy-Location", "X-User-Agent", "X-Session"}
