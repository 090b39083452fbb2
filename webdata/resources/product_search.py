"""Product search: what callers may ask, and the shape of the answers (spec.md, product listing response)."""

from typing import TypedDict

from webdata.domain.query import SearchQuery
from webdata.resources import Resource


class ProductQuery(SearchQuery):
    """A product search; the region chooses the marketplace (spec.md, packed query parameters)."""


class Product(TypedDict):
    """A product of an online shop's list of results."""

    link: str
    """Its canonical page, never an ad's redirect."""
    asin: str
    title: str
    price: float | None
    """What a buyer pays before coupons; None when the page shows no price."""
    price_text: str | None
    """The price as shown."""
    currency: str | None
    """ISO 4217."""
    original_price: float | None
    """What is struck through beside the price, in the same currency."""
    position: int
    """Rank among its own kind, from 1: ads among the ads, other products among the others."""
    real_position: int
    """Rank among all products of the list, ads included, from 1."""
    img_url: str | None
    rating_stars: str | None
    """As shown, such as `4.3 out of 5 stars`."""
    review_count: int | None
    extras: list[str]
    """What else it shows: delivery, stock, coupons, other offers, formats."""
    badges: list[str]
    """Texts of its badges, such as `Limited time deal`."""
    bestseller: bool
    prime: bool
    """Whether it carries the subscription's badge; advice to join is none."""
    is_sponsor: bool


class ProductPage(TypedDict):
    """What a page of products tells."""

    products: list[Product]
    ads: list[Product]
    """Always empty: ads stand among the products, marked by `is_sponsor`."""


PRODUCT_SEARCH = Resource(
    name="product_search",
    path="/v1/product/search",
    summary="Products of an online shop",
    query=ProductQuery,
    content=("products",),
    rows="products",
)
