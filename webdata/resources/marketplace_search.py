"""Marketplace search: what callers may ask, and the shape of the answers (spec.md, marketplace listing response)."""

from typing import NotRequired, TypedDict

from webdata.domain.query import SearchQuery
from webdata.resources import Resource


class MarketplaceQuery(SearchQuery):
    """A search for listings; the region chooses the marketplace (spec.md, packed query parameters)."""


class ListingMetadata(TypedDict):
    """What a listing shows besides its title. All texts are as shown."""

    item_id: str
    price: str | None
    """A range holds the word between: `$8.49 to $8.89`."""
    was_price: NotRequired[str]
    """The struck-through price, only where a markdown is shown."""
    condition: str | None
    image: str | None
    seller: str | None
    """The user name."""
    seller_feedback: str | None
    bids: NotRequired[int]
    """Only on auctions."""
    sold_date: NotRequired[str]
    """Only on what is sold."""
    attributes: list[str]
    """Ways to buy, delivery, location, returns, what is left."""


class Listing(TypedDict):
    """An offer of the list of results."""

    title: str
    link: str
    position: int
    """Rank in its array, from 1."""
    result_type: str
    metadata: ListingMetadata


class MarketplacePage(TypedDict):
    """What a page of listings tells."""

    results: list[Listing]
    """Those that match the terms."""
    loose_results: list[Listing]
    """Those that match only some of the terms, which the site adds for itself (contract.md 5)."""
    total: int
    """Always 0 (spec.md); the length of `results` counts."""


MARKETPLACE_SEARCH = Resource(
    name="marketplace_search",
    path="/v1/marketplace/search",
    summary="Listings of a marketplace",
    query=MarketplaceQuery,
    content=("results",),
    rows="results",
)
