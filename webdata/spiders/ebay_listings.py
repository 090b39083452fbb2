"""eBay's listings."""

from urllib.parse import urlencode

from scrapy import Request

from webdata.crawling.engine import EngineSpider, accept_language
from webdata.pages import ebay_listings
from webdata.pages._ebay.sites import DOMAINS, site
from webdata.resources.marketplace_search import MARKETPLACE_SEARCH, MarketplaceQuery

LIST_VIEW = {"_from": "R40", "_sacat": "0", "_dmd": "1", "rt": "nc"}
"""All categories, as a list (the gallery has no sellers), and no redirect to a category's own page."""


class EbayListingsSpider(EngineSpider):
    """eBay's listings, from the HTML results page."""

    name = "ebay_listings"
    site = "eBay"
    page_module = ebay_listings
    resources = (MARKETPLACE_SEARCH,)
    allowed_domains = DOMAINS

    def request(self, query: MarketplaceQuery) -> Request:
        shop = site(query.region)
        return Request(
            f"https://{shop.host}/sch/i.html?{urlencode({'_nkw': query.q, **LIST_VIEW})}",
            headers={"Accept-Language": accept_language(shop.language)},
        )
