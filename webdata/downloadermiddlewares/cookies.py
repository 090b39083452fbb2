"""Cookies, without a request of our own to the internet."""

from collections import defaultdict
from secrets import token_hex
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from scrapy.http.cookies import CookieJar
from tldextract import TLDExtract

SHIPPED = TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
"""Knows the public suffixes (`co.uk`) from the list that tldextract ships."""

MOST_JARS = 1_000


class OneQuery:
    """As `meta["cookiejar"]`: cookies of one query, forgotten with it. No two have the same name."""

    def __init__(self) -> None:
        self._name = f"query-{token_hex(8)}"

    def __str__(self) -> str:
        return self._name


class Jars(defaultdict[Any, CookieJar]):
    """Cookie jars by key. That of a OneQuery lives as long as its key does; of the others, which callers name by their
    sessions, the one that was used least lately is forgotten.
    """

    def __init__(self) -> None:
        super().__init__(CookieJar)
        self._passing: WeakKeyDictionary[OneQuery, CookieJar] = WeakKeyDictionary()

    def __getitem__(self, key: Any) -> CookieJar:
        if isinstance(key, OneQuery):
            return self._passing.setdefault(key, CookieJar())
        jar = super().__getitem__(key)
        self[key] = self.pop(key)  # behind all that were used before
        if len(self) > MOST_JARS:
            del self[next(iter(self))]
        return jar


class ShippedSuffixesCookiesMiddleware(cookies.CookiesMiddleware):
    """Scrapy's cookies, which knows the public suffixes from the list that tldextract ships.

    Scrapy fetches that list from publicsuffix.org at the first cookie with a domain, past every proxy and with the
    reactor waiting for it; there is no setting against it.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        cookies._split_domain = SHIPPED  # noqa: SLF001  # see above
        middleware = super().from_crawler(crawler)
        middleware.jars = Jars()
        return middleware
