"""Cookies, without Scrapy's own request for the list of public suffixes."""

from collections import defaultdict
from secrets import token_hex
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from scrapy.http.cookies import CookieJar

from webdata.egress.names import SHIPPED

MOST_JARS = 1_000


class OneQuery:
    """The value of `meta["cookiejar"]` for cookies of one query, which are dropped with it. Each has a unique name."""

    def __init__(self) -> None:
        self._name = f"query-{token_hex(8)}"

    def __str__(self) -> str:
        return self._name


class Jars(defaultdict[Any, CookieJar]):
    """Cookie jars by key. The jar of a OneQuery lives as long as its key; of the others, whose keys are callers'
    sessions, the least recently used one is dropped beyond MOST_JARS.
    """

    def __init__(self) -> None:
        super().__init__(CookieJar)
        self._of_queries: WeakKeyDictionary[OneQuery, CookieJar] = WeakKeyDictionary()

    def __getitem__(self, key: Any) -> CookieJar:
        if isinstance(key, OneQuery):
            return self._of_queries.setdefault(key, CookieJar())
        jar = super().__getitem__(key)
        self[key] = self.pop(key)  # last in order, as the most recently used
        if len(self) > MOST_JARS:
            del self[next(iter(self))]
        return jar


class ShippedSuffixesCookiesMiddleware(cookies.CookiesMiddleware):
    """Scrapy's CookiesMiddleware, with the public suffixes from the list that tldextract ships.

    Scrapy fetches that list from publicsuffix.org at the first cookie with a domain, without a proxy and blocking the
    reactor; no setting prevents it.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        cookies._split_domain = SHIPPED  # noqa: SLF001  # see above
        middleware = super().from_crawler(crawler)
        middleware.jars = Jars()
        return middleware
