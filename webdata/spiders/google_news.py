"""Google News, from its search feed."""

import asyncio
from collections.abc import AsyncIterator, Collection
from functools import partial
from typing import Any, Self, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.misc import load_object

from webdata.crawling.engine import EngineSpider
from webdata.domain.query import Region
from webdata.domain.records import Record
from webdata.fetching.fetch import Fetch
from webdata.pages import google_news
from webdata.pages._news import links
from webdata.resources.news_search import NEWS_SEARCH, NewsQuery
from webdata.spiders._news_links import LinkStore, Resolution

SITE = "https://news.google.com"

EDITIONS = {
    Region.EU: "IE:en",
    Region.CA: "CA:en",
    Region.US: "US:en",
    Region.IE: "IE:en",
    Region.GB: "GB:en",
    Region.FR: "FR:fr",
    Region.DE: "DE:de",
    Region.SE: "SE:sv",
    Region.IN: "IN:en",
    Region.JP: "JP:ja",
    Region.KR: "KR:ko",
    Region.SG: "SG:en",
    Region.AU: "AU:en",
    Region.BR: "BR:pt-419",
}
"""The edition of each region: its country and the language of its news."""
DEFAULT_EDITION = "US:en"
MARGIN = 1.0
"""Seconds between the end of link resolution and the deadline; a share of a short deadline."""
MARGIN_SHARE = 0.25
LATIN_AMERICAN = {"es-419": "es-419", "pt-419": "pt-BR"}
"""The interface languages of the Latin American editions."""


class GoogleNewsSpider(EngineSpider):
    """Google News, from the RSS feed of a search; links are resolved where the query asks for it."""

    name = "google_news"
    site = "Google News"
    page_module = google_news
    resources = (NEWS_SEARCH,)
    allowed_domains = ("google.com",)
    """An article's link may redirect to its publisher, whose site is never fetched."""

    store: LinkStore | None = None
    """The resolved addresses (settings `RESOLVED_LINKS`, `SANDBOX_RESOLVED_LINKS`); None for saved pages."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        name = "SANDBOX_RESOLVED_LINKS" if crawler.settings.getbool("SANDBOX") else "RESOLVED_LINKS"
        store, *arguments_of_store = crawler.settings[name]
        spider.store = load_object(store)(*arguments_of_store)
        return spider

    def closed(self, reason: str) -> None:
        """Close the store; Scrapy calls this when the spider is closed."""
        if self.store:
            self.store.close()

    def request(self, query: NewsQuery) -> Request:
        parameters = {"q": terms(query), **locale(query)}
        return Request(f"{SITE}/rss/search?{urlencode(parameters)}", cookies={"CONSENT": "YES+"})

    async def parse(self, response: Response, query: NewsQuery) -> AsyncIterator[Record]:
        page = google_news.record(response.body, query)
        if query.resolve_links:
            page = links.resolved(page, await self.addresses(links.unresolved(page), response, query))
        yield cast(Record, page)

    async def addresses(self, ids: Collection[str], after: Response, query: NewsQuery) -> dict[str, str]:
        """The publishers' addresses of opaque ids: those in the store, and those that can be resolved in time."""
        if self.store is None or not ids:
            return {}
        known = await asyncio.to_thread(self.store.find, ids)  # its database may be slow, or hang
        unknown = [one for one in ids if one not in known]
        fetch = partial(self.fetch, after=after)
        resolved = await Resolution(fetch, locale(query), self.ends(after)).addresses(unknown) if unknown else {}
        if resolved:
            await asyncio.to_thread(self.store.add, resolved)
        return known | resolved

    def ends(self, response: Response) -> float:
        """The latest end of the query's other fetches, by the monotonic clock; the record takes time after them."""
        run = Fetch.of(response).run
        return run.start() + run.deadline - min(MARGIN, run.deadline * MARGIN_SHARE)


def terms(query: NewsQuery) -> str:
    """The search terms, with the age of the articles as an operator of theirs: `qdr:w2` is `when:14d`."""
    if query.tbs is None:
        return query.q
    unit, number = query.tbs.removeprefix("qdr:")[0], int(query.tbs.removeprefix("qdr:")[1:] or 1)
    return f"{query.q} when:{7 * number}d" if unit == "w" else f"{query.q} when:{number}{unit}"


def locale(query: NewsQuery) -> dict[str, str]:
    """The parameters of the query's edition, else of its region's: `hl`, `gl` and `ceid` agree."""
    ceid = query.edition(EDITIONS[query.region] if query.region else DEFAULT_EDITION)
    country, _, language = ceid.partition(":")
    hl = LATIN_AMERICAN.get(language) or f"{language.partition('-')[0]}-{country}"
    return {"hl": hl, "gl": country, "ceid": ceid}
