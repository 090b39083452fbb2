"""Cookies, without a request of our own to the internet."""

from typing import Self

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract

SHIPPED = TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
"""Knows the public suffixes (`co.uk`) from the list that tldextract ships."""


class ShippedSuffixesCookiesMiddleware(cookies.CookiesMiddleware):
    """Scrapy's cookies, which knows the public suffixes from the list that tldextract ships.

    Scrapy fetches that list from publicsuffix.org at the first cookie with a domain, past every proxy and with the
    reactor waiting for it; there is no setting against it.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        cookies._split_domain = SHIPPED  # noqa: SLF001  # see above
        return super().from_crawler(crawler)
