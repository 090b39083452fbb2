"""Marketplace search: the query."""

import pytest

from webdata.domain.errors import QueryError
from webdata.resources.marketplace_search import MarketplaceQuery


def test_only_the_terms_are_required():
    """A region and a device are optional; blank terms are refused."""
    query = MarketplaceQuery.check({"q": "kettle", "region": "de", "device": "Mobile"})
    assert (query.region, query.device) == ("DE", "mobile")
    with pytest.raises(QueryError, match="q is blank"):
        MarketplaceQuery.check({"q": " "})
