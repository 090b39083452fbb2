"""Amazon's product search."""

from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urlencode, urlsplit

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, accept_language, utf8
from webdata.domain.records import Record
from webdata.pages import amazon_products
from webdata.pages._amazon.marketplaces import DOMAINS, locale
from webdata.resources.product_search import PRODUCT_SEARCH, ProductQuery


class AmazonProductsSpider(EngineSpider):
    """Amazon's products, from the page of results of the region's marketplace."""

    name = "amazon_products"
    site = "Amazon"
    page_module = amazon_products
    resources = (PRODUCT_SEARCH,)
    allowed_domains = DOMAINS

    def request(self, query: ProductQuery) -> Request:
        (host, currency), language = locale(query.region)
        return Request(
            f"https://{host}/s?{urlencode({'k': query.q, 'language': language})}",
            headers={"Accept-Language": accept_language(language.replace("_", "-"))},
            cookies={"i18n-prefs": currency},
        )

    async def parse(self, response: Response, query: ProductQuery) -> AsyncIterator[Record]:
        yield cast(Record, amazon_products.record_at(utf8(response), query, known_host(response)))


def known_host(response: Response) -> str | None:
    """The host of a response whose URL differs from its request's; None where both are the same."""
    requested = response.request.url if response.request else None
    return urlsplit(response.url).hostname if response.url != requested else None
