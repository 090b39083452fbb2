"""Product search: the query, the record types and the resource of `/v1/product/search`."""

from typing import TypedDict

from webdata.domain.query import SearchQuery
from webdata.resources import Resource, ResultFields


class ProductQuery(SearchQuery):
    """A product search; the region selects the marketplace."""


class Product(TypedDict):
    """A product of a shop's result list."""

    link: str
    """Its canonical page, never an ad's redirect."""
    asin: str
    title: str
    price: float | None
    """The price before coupons; None if the page shows none."""
    price_text: str | None
    """The price as displayed."""
    currency: str | None
    """ISO 4217."""
    original_price: float | None
    """The struck-through price, in the same currency."""
    position: int
    """Rank from 1, separate for ads and other products."""
    real_position: int
    """Rank among all products of the list, ads included, from 1."""
    img_url: str | None
    rating_stars: str | None
    """As displayed, such as `4.3 out of 5 stars`."""
    review_count: int | None
    extras: list[str]
    """Its other texts: delivery, stock, coupons, other offers, formats."""
    badges: list[str]
    """Texts of its badges, such as `Limited time deal`."""
    bestseller: bool
    prime: bool
    """Whether it has the subscription's badge; an advertisement for the subscription does not count."""
    is_sponsor: bool


class ProductPage(TypedDict):
    """The record of a page of products; the envelope is added to it."""

    products: list[Product]
    ads: list[Product]
    """Always empty: ads are among the products, marked by `is_sponsor`."""


PRODUCT_SEARCH = Resource(
    name="product_search",
    path="/v1/product/search",
    summary="Products of an online shop",
    query=ProductQuery,
    content=("products",),
    rows="products",
    result_fields=ResultFields(text=("price_text",), thumbnail=("img_url",)),
)
