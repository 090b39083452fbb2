"""Cookies, without Scrapy's own request for the list of public suffixes."""

from collections import defaultdict
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import cookies
from scrapy.http.cookies import CookieJar

from webdata.fetching.egress.names import SHIPPED
from webdata.fetching.fetch import OneQuery, SessionJar

MOST_JARS = 1_000


class Jars(defaultdict[Any, CookieJar]):
    """Cookie jars by key. The jar of a OneQuery lives as long as its key. Of the others, beyond MOST_JARS, the account
    with the most loses its least recently used one, so that no account's sessions cost those of another.
    """

    def __init__(self) -> None:
        super().__init__(CookieJar)
        self._of_queries: WeakKeyDictionary[OneQuery, CookieJar] = WeakKeyDictionary()
        self._of_accounts: dict[str, dict[Any, None]] = {}
        """The keys of each account; as the accounts, in the order of their last use."""

    def __getitem__(self, key: Any) -> CookieJar:
        if isinstance(key, OneQuery):
            return self._of_queries.setdefault(key, CookieJar())
        jar = super().__getitem__(key)
        account = key.account if isinstance(key, SessionJar) else ""
        own = self._of_accounts[account] = self._of_accounts.pop(account, {})
        own.pop(key, None)
        own[key] = None
        if len(self) > MOST_JARS:
            self._drop_one()
        return jar

    def _drop_one(self) -> None:
        account, own = max(self._of_accounts.items(), key=lambda one: len(one[1]))
        oldest = next(iter(own))
        del own[oldest], self[oldest]
        if not own:
            del self._of_accounts[account]


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
