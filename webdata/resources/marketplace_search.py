"""Marketplace search: the query, the record types and the resource of `/v1/marketplace/search`."""

from typing import NotRequired, TypedDict

from webdata.domain.query import SearchQuery
from webdata.resources import Resource, ResultFields


class MarketplaceQuery(SearchQuery):
    """A search for listings; the region selects the marketplace."""


class ListingMetadata(TypedDict):
    """The properties of a listing. All texts are as displayed."""

    item_id: str
    price: str | None
    """A price or a range, such as `$8.49 to $8.89`."""
    was_price: NotRequired[str]
    """The struck-through price; only if the price is reduced."""
    condition: str | None
    image: str | None
    seller: str | None
    """The user name."""
    seller_feedback: str | None
    bids: NotRequired[int]
    """Only of auctions."""
    sold_date: NotRequired[str]
    """Only of sold items."""
    attributes: list[str]
    """Purchase options, delivery, location, returns, stock."""


class Listing(TypedDict):
    """An offer of the result list."""

    title: str
    link: str
    position: int
    """Rank in its array, from 1."""
    result_type: str
    metadata: ListingMetadata


class MarketplacePage(TypedDict):
    """The record of a page of listings; the envelope is added to it."""

    results: list[Listing]
    """The listings that match all terms."""
    loose_results: list[Listing]
    """The listings that match some terms only, which the site adds to fill the page."""
    total: int
    """Always 0; use the length of `results`."""


MARKETPLACE_SEARCH = Resource(
    name="marketplace_search",
    path="/v1/marketplace/search",
    summary="Listings of a marketplace",
    query=MarketplaceQuery,
    content=("results",),
    rows="results",
    result_fields=ResultFields(text=("metadata.price",), source=("metadata.seller",), thumbnail=("metadata.image",)),
)
