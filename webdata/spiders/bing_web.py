"""Bing's web results."""

from collections.abc import AsyncIterator
from dataclasses import replace
from time import time
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, accept_language, utf8
from webdata.domain.errors import BlockedError, FetchError, QueryError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Region
from webdata.domain.records import Record
from webdata.pages import bing_web
from webdata.pages._bing.web_search import MISSING, web_page
from webdata.pipelines.envelope import ParsedPage
from webdata.resources.bing_search import BING_SEARCH, BingPage, BingQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery

MARKETS = (
    "en-US", "en-GB", "en-AU", "en-CA", "en-IE", "en-IN", "en-NZ", "en-SG", "en-ZA", "en-PH", "en-MY", "en-ID",
    "de-DE", "de-AT", "de-CH", "fr-FR", "fr-BE", "fr-CA", "fr-CH", "es-ES", "es-MX", "es-AR", "es-CL", "es-US",
    "pt-BR", "pt-PT", "it-IT", "nl-NL", "nl-BE", "sv-SE", "da-DK", "fi-FI", "nb-NO", "pl-PL", "cs-CZ", "hu-HU",
    "ro-RO", "el-GR", "ru-RU", "uk-UA", "tr-TR", "ar-SA", "he-IL", "ja-JP", "ko-KR", "zh-CN", "zh-TW", "zh-HK",
    "th-TH", "vi-VN",
)  # fmt: skip
"""Bing's markets, the main one of a language or country first; Bing treats any other as the United States."""

EUROPE = "IE"
"""The country of the region EU: an English-speaking member."""

SAFETY = {"active": "strict", "high": "strict", "medium": "moderate", "off": "off"}
DAY = 86_400
AGES = {"qdr:d": 'ex1:"ez1"', "qdr:w": 'ex1:"ez2"', "qdr:m": 'ex1:"ez3"'}

Verified = tuple[BingPage, Response]
"""A page's record, and the response that it was read from."""


class BingWebSpider(EngineSpider):
    """Bing's web results, from the HTML results page: also the second engine of the web search.

    Bing answers suspected robots with pages that look right: no results, unrelated results, or the first page again.
    Each of these is verified by a second request, without cookies and in the market that the page names.
    """

    name = "bing_web"
    site = "Bing"
    page_module = bing_web
    resources = (BING_SEARCH, WEB_SEARCH)
    batch_resource = BING_SEARCH
    missing_parts: ClassVar = {WEB_SEARCH.name: MISSING}
    allowed_domains = ("bing.com",)
    rank = 1

    @classmethod
    def refused(cls, query: WebQuery) -> list[str]:
        try:
            bing_query(query)
        except QueryError as error:
            return [str(problem["loc"][-1]) for problem in error.problems]
        return []

    def request(self, query: WebQuery) -> Request:
        asked = bing_query(query)
        return request(asked, market(asked), country(asked))

    async def parsed(self, response: Response, query: Any) -> ParsedPage:
        """The response's record, whose outcome is that of the whole page, with at most as many results as wanted."""
        parsed = await super().parsed(response, query)
        return replace(parsed, page={**parsed.page, "results": parsed.page["results"][: bing_query(query).size]})

    async def parse(self, response: Response, query: WebQuery) -> AsyncIterator[Record]:
        page, shown = await self.verified(response, bing_query(query))
        yield cast(Record, page if isinstance(query, BingQuery) else web_page(page, utf8(shown)))

    async def verified(self, response: Response, query: BingQuery) -> Verified:
        """The record of the page, or of a second page where the first is doubtful; raises FetchError."""
        first = None
        try:
            first = bing_web.record(utf8(response), query), response
            if self.outcome(cast(Record, first[0]), query) is Outcome.OK or not self.online:
                return first
        except (BlockedError, UpstreamError):
            if not self.online:
                raise
        return await self.second_page(response, query, first)

    async def second_page(self, response: Response, query: BingQuery, doubtful: Verified | None) -> Verified:
        """The record of a second page, or the doubtful one where that alone has results; raises FetchError."""
        try:
            again = await self.fetch(second_request(query, response), after=response)
            second = bing_web.record(utf8(again), query), again
        except FetchError:
            if doubtful and doubtful[0]["results"]:
                return doubtful
            raise
        return doubtful if doubtful and doubtful[0]["results"] and not second[0]["results"] else second

    def outcome(self, page: Record, query: WebQuery) -> Outcome:
        if not bing_web.answers(page, query.q):
            return Outcome.DEGRADED
        return super().outcome(page, query)


def bing_query(query: WebQuery) -> BingQuery:
    """A web search as a search on Bing; raises QueryError for parameters that Bing cannot honour."""
    return query if isinstance(query, BingQuery) else BingQuery.check(query.model_dump(exclude_none=True))


def second_request(query: BingQuery, response: Response) -> Request:
    """The same search in the market of the page's visitor, without cookies.

    Where that market was in the first request, the second names none. It accepts gzip and deflate only, which every
    proxy can decompress.
    """
    matching = market_of(country=bing_web.seen_from(response.body))
    second = request(query, matching if matching != market(query) else None, None)
    second.headers["Accept-Encoding"] = "gzip, deflate"
    second.meta["dont_merge_cookies"] = True
    return second


def request(query: BingQuery, mkt: str | None, cc: str | None) -> Request:
    """The request for a page of results in a market (`mkt`) for a visitor in a country (`cc`)."""
    language = query.setlang or query.hl or (mkt.partition("-")[0] if mkt else "en")
    pairs: dict[str, Any] = {
        "q": terms(query),
        "count": query.size,
        "first": query.offset + 1 if query.offset else None,
        "mkt": mkt,
        "setlang": language,
        "cc": cc,
        "adlt": SAFETY.get(query.safe or ""),
        "filters": AGES.get(query.tbs or "") or (last_year() if query.tbs else None),
        "filter": query.filter,
    }
    host = "cn.bing.com" if query.domain == "cn.bing.com" else "www.bing.com"
    return Request(
        f"https://{host}/search?{urlencode({key: value for key, value in pairs.items() if value is not None})}",
        headers={"Accept-Language": accept_language(mkt if mkt and mkt.startswith(language) else language)},
    )


def market(query: BingQuery) -> str | None:
    """The market to search in; None where Bing chooses it."""
    return query.mkt or market_of(country=country(query), language=query.setlang or query.hl)


def market_of(country: str | None = None, language: str | None = None) -> str | None:
    """The market of a country, in the language if it has one there; without a country, the language's main market."""
    base = (language or "").partition("-")[0].lower()
    if language in MARKETS and not country:
        return language
    if f"{base}-{country}" in MARKETS:
        return f"{base}-{country}"
    if country:
        return next((name for name in MARKETS if name.endswith(f"-{country}")), None)
    return next((name for name in MARKETS if base and name.startswith(f"{base}-")), None)


def country(query: BingQuery) -> str | None:
    """The country to search in: the query's own, else the region's."""
    region = EUROPE if query.region is Region.EU else query.region
    named = query.cc or query.gl or region
    return "GB" if named in ("uk", "gb") else named and named.upper()


def terms(query: BingQuery) -> str:
    """The search terms, with languages and countries as Bing's operators; a `.` between countries is an AND."""
    languages = (query.lr or "").replace("lang_", "language:")
    countries = (query.cr or "").replace("country", "loc:").replace(".", " AND ")
    limits = [f"({values.replace('|', ' OR ')})" for values in (languages, countries) if values]
    return " ".join([query.q, *limits])


def last_year() -> str:
    """The filter for the last year, as days since 1970."""
    today = int(time() // DAY)
    return f'ex1:"ez5_{today - 365}_{today}"'
