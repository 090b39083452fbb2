"""Marketplace search: the record types agree with the JSON Schema."""

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.marketplace_search import Listing, ListingMetadata, MarketplacePage, MarketplaceQuery


@pytest.mark.parametrize(("name", "element"), [("listing", Listing), ("metadata", ListingMetadata)])
def test_an_element_has_the_keys_of_its_schema(name, element):
    """A type's keys are its schema's properties, and its mandatory keys are required."""
    found = schema("marketplace_search")["$defs"][name]
    assert set(element.__annotations__) == set(found["properties"])
    assert element.__required_keys__ == set(found["required"])


def test_a_page_and_its_envelope_make_a_record():
    """The keys of both are exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(MarketplacePage.__annotations__)
    assert keys == set(schema("marketplace_search")["properties"])


def test_only_the_terms_are_required():
    """A region and a device are optional; blank terms are refused."""
    query = MarketplaceQuery.check({"q": "kettle", "region": "de", "device": "Mobile"})
    assert (query.region, query.device) == ("DE", "mobile")
    with pytest.raises(QueryError, match="q is blank"):
        MarketplaceQuery.check({"q": " "})
