"""The types of a page of listings and the schema for callers promise the same."""

import pytest

from webdata.domain.errors import QueryError
from webdata.domain.records import Envelope
from webdata.resources import schema
from webdata.resources.marketplace_search import Listing, ListingMetadata, MarketplacePage, MarketplaceQuery


@pytest.mark.parametrize(("name", "element"), [("listing", Listing), ("metadata", ListingMetadata)])
def test_an_element_has_the_keys_of_its_schema(name, element):
    """A type's keys are its schema's properties, and those that are always there are required."""
    found = schema("marketplace_search")["$defs"][name]
    assert set(element.__annotations__) == set(found["properties"])
    assert element.__required_keys__ == set(found["required"])


def test_a_page_and_its_envelope_make_a_record():
    """The envelope and what a page tells are together exactly the schema's properties."""
    keys = set(Envelope.__annotations__) | set(MarketplacePage.__annotations__)
    assert keys == set(schema("marketplace_search")["properties"])


def test_the_terms_are_all_that_is_needed():
    """A region and a device may be given; blank terms may not."""
    query = MarketplaceQuery.check({"q": "kettle", "region": "de", "device": "Mobile"})
    assert (query.region, query.device) == ("DE", "mobile")
    with pytest.raises(QueryError, match="q is blank"):
        MarketplaceQuery.check({"q": " "})
