"""Marketplace search: the query, the record types and the resource of `/v1/marketplace/search`."""

from typing import Annotated, NotRequired, TypedDict

from pydantic import Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import SearchQuery
from webdata.domain.shapes import Natural, NonEmpty, Position, SecureLink, WebLink
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.groups import Group


class MarketplaceQuery(SearchQuery):
    """A search for listings; the region selects the marketplace."""


@InSchema("metadata")
class ListingMetadata(TypedDict):
    """The properties of a listing. All texts are as displayed."""

    item_id: Annotated[str, Field(pattern="^[0-9]+$")]
    price: str | None
    """A price or a range, such as `$8.49 to $8.89`."""
    was_price: NotRequired[str]
    """The struck-through price; only if the price is reduced."""
    condition: str | None
    """Such as Pre-Owned or Brand New."""
    image: WebLink | None
    seller: str | None
    """The user name."""
    seller_feedback: str | None
    """Such as 99.1% positive (5.1K)."""
    bids: NotRequired[Natural]
    """Only of auctions."""
    sold_date: NotRequired[str]
    """Only of sold items."""
    attributes: list[NonEmpty]
    """Purchase options, delivery, location, returns, stock."""


@InSchema("listing")
class Listing(TypedDict):
    """An offer of the result list."""

    title: NonEmpty
    link: SecureLink
    """The listing's page, without tracking."""
    position: Position
    """Rank in its array, from 1."""
    result_type: NonEmpty
    """Such as organic."""
    metadata: ListingMetadata


@InSchema(closed=True)
class MarketplacePage(TypedDict):
    """The listings of a page."""

    results: list[Listing]
    """The listings that match all terms."""
    loose_results: list[Listing]
    """The listings that match some terms only, which the site adds to fill the page."""
    total: float
    """Always 0; use the length of `results`."""


MARKETPLACE_SEARCH = Resource(
    name="marketplace_search",
    path="/v1/marketplace/search",
    summary="Listings of a marketplace",
    query=MarketplaceQuery,
    record=MarketplacePage,
    group=Group.SHOPPING,
    canaries=searches_for(
        "mechanical keyboard", "vintage camera", "lego castle", "running shoes", "pocket watch", "graphics card"
    ),
    content=("results",),
    rows="results",
    result_fields=ResultFields(text=("metadata.price",), source=("metadata.seller",), thumbnail=("metadata.image",)),
)
