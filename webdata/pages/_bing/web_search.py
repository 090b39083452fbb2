"""A page of Bing's as the record of the web search."""

from webdata.domain.records import Ad, Result, ResultMetadata, ShoppingAd, WebPage
from webdata.pages._bing.questions import related_questions
from webdata.pages._bing.related import related_searches
from webdata.pages._elements import parsed
from webdata.pages._text import date, price
from webdata.resources.bing_search import BingAd, BingPage, BingResult, BingShoppingAd

MISSING = (
    "answers", "places", "local_businesses", "carousel", "image_results", "company", "knowledge_graph", "total",
)  # fmt: skip
"""The parts of the record that are not read from Bing's pages, and are empty."""


def web_page(page: BingPage, body: bytes) -> WebPage:
    """The record of a page of Bing's, with its related searches and questions."""
    root = parsed(body)
    return {
        "results": [_result(row, position) for position, row in enumerate(page["results"], 1)],
        "ads": [_ad(ad) for ad in page["ads"]],
        "ads_count": page["adsCount"],
        "answers": [],
        "shopping_ads": [_shopping_ad(ad, position) for position, ad in enumerate(page["shoppingAds"], 1)],
        "places": [],
        "local_businesses": [],
        "related_searches": related_searches(root),
        "related_questions": related_questions(root),
        "carousel": [],
        "carousel_count": 0,
        "image_results": [],
        "company": {},
        "knowledge_graph": "",
        "total": None,
    }


def _result(row: BingResult, position: int) -> Result:
    metadata: ResultMetadata = {}
    if row["displayUrl"]:
        metadata["display_url"] = row["displayUrl"]
    if day := date(row["date"]):
        metadata["date"] = day
    return {
        "title": row["title"],
        "description": row["description"],
        "position": position,
        "realPosition": row["realPosition"],
        "result_type": "organic",
        "metadata": metadata,
        "link": row["link"],
    }


def _ad(ad: BingAd) -> Ad:
    return {
        "position": ad["position"],
        "realPosition": ad["realPosition"],
        "area": ad["area"],
        "title": ad["title"],
        "description": ad["content"],
        "link": ad["targetUrl"],
        "display_url": ad["displayUrl"],
        "sitelinks": [],
        "metadata": {},
    }


def _shopping_ad(ad: BingShoppingAd, position: int) -> ShoppingAd:
    current = price(ad["price"])
    return {
        "position": position,
        "title": ad["title"],
        "price": ad["price"],
        "extracted_price": current.amount if current else None,
        "currency": current.currency if current else None,
        "original_price": ad["originalPrice"],
        "advertiser": ad["advertiser"],
        "link": ad["targetUrl"],
        "image": ad["image"],
        "rating": None,
        "reviews": None,
        "attributes": [],
    }
