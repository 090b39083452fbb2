"""Product search: the query, the record types and the resource of `/v1/product/search`."""

from typing import Annotated, Any, TypedDict

from pydantic import Field

from webdata.domain.in_schema import InSchema
from webdata.domain.query import SearchQuery
from webdata.domain.shapes import Amount, Natural, NonEmpty, Position, SecureLink, WebLink
from webdata.resources import Resource, ResultFields, searches_for
from webdata.resources.groups import Group


class ProductQuery(SearchQuery):
    """A product search; the region selects the marketplace."""


@InSchema("product")
class Product(TypedDict):
    """A product of a shop's result list."""

    link: SecureLink
    """Its canonical page, never an ad's redirect."""
    asin: Annotated[str, Field(pattern="^[0-9A-Z]{10}$")]
    """The shop's product identifier."""
    title: NonEmpty
    price: Amount | None
    """The price before coupons; null if the page shows none."""
    price_text: str | None
    """The price as displayed."""
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None
    """ISO 4217."""
    original_price: Amount | None
    """The struck-through price, in the same currency."""
    position: Position
    """Rank from 1, separate for ads and other products."""
    real_position: Position
    """Rank among all products of the list, ads included, from 1."""
    img_url: WebLink | None
    rating_stars: str | None
    """As displayed, such as `4.3 out of 5 stars`."""
    review_count: Natural | None
    extras: list[NonEmpty]
    """Its other texts: delivery, stock, coupons, other offers, formats."""
    badges: list[NonEmpty]
    """Texts of its badges, such as `Limited time deal`."""
    bestseller: bool
    prime: bool
    """Whether it has the subscription's badge; an advertisement for the subscription does not count."""
    is_sponsor: bool


@InSchema(closed=True)
class ProductPage(TypedDict):
    """The products of a page."""

    products: list[Product]
    ads: Annotated[list[Any], Field(max_length=0)]
    """Always empty: ads are among the products, marked by `is_sponsor`."""


PRODUCT_SEARCH = Resource(
    name="product_search",
    path="/v1/product/search",
    summary="Products of an online shop",
    query=ProductQuery,
    record=ProductPage,
    group=Group.SHOPPING,
    canaries=searches_for(
        "portable charger", "coffee grinder", "running shoes", "desk lamp", "water bottle", "garden hose"
    ),
    content=("products",),
    rows="products",
    result_fields=ResultFields(text=("price_text",), thumbnail=("img_url",)),
)
