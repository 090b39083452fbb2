"""Bing's web results."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from time import time
from typing import Any, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import BlockedError, FetchError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Region
from webdata.domain.records import Record
from webdata.pages import bing_web
from webdata.pipelines.envelope import Found
from webdata.resources.bing_search import BING_SEARCH, BingQuery
from webdata.spiders.base import EngineSpider, accept_language, utf8

MARKETS = (
    "en-US", "en-GB", "en-AU", "en-CA", "en-IE", "en-IN", "en-NZ", "en-SG", "en-ZA", "en-PH", "en-MY", "en-ID",
    "de-DE", "de-AT", "de-CH", "fr-FR", "fr-BE", "fr-CA", "fr-CH", "es-ES", "es-MX", "es-AR", "es-CL", "es-US",
    "pt-BR", "pt-PT", "it-IT", "nl-NL", "nl-BE", "sv-SE", "da-DK", "fi-FI", "nb-NO", "pl-PL", "cs-CZ", "hu-HU",
    "ro-RO", "el-GR", "ru-RU", "uk-UA", "tr-TR", "ar-SA", "he-IL", "ja-JP", "ko-KR", "zh-CN", "zh-TW", "zh-HK",
    "th-TH", "vi-VN",
)  # fmt: skip
"""Markets that Bing has, the main one of a language or country first; it takes others for the United States."""

EUROPE = "IE"
"""The country that stands for the region EU, as an English-speaking one of it."""

SAFETY = {"active": "strict", "high": "strict", "medium": "moderate", "off": "off"}
DAY = 86_400
AGES = {"qdr:d": 'ex1:"ez1"', "qdr:w": 'ex1:"ez2"', "qdr:m": 'ex1:"ez3"'}


class BingWebSpider(EngineSpider):
    """Bing's web results, from the HTML results page.

    What Bing sends to clients that it takes for robots looks like an answer: that nothing was found, other results,
    or its first page again. None of these is believed before it was asked once more, as a stranger from the market
    that Bing believes its reader to be in.
    """

    name = "bing_web"
    resources = (BING_SEARCH,)

    def request(self, query: BingQuery) -> Request:
        return request(query, market(query), country(query))

    async def found(self, response: Response, query: Any) -> AsyncIterator[Found]:
        """What the response holds, judged as a whole and then cut to as many results as are asked for."""
        async for found in super().found(response, query):
            page = {**found.page, "results": found.page["results"][: query.size]}
            yield replace(found, page=page)

    async def parse(self, response: Response, query: BingQuery) -> AsyncIterator[Record]:
        yield await self.believed(response, query)

    async def believed(self, response: Response, query: BingQuery) -> Record:
        """The record of the page, or of a second one where the first is doubtful."""
        page = None
        try:
            page = record(response, query)
            if self.outcome(page, query) is Outcome.OK or not self.online:
                return page
        except (BlockedError, UpstreamError):
            if not self.online:
                raise
        return await self.asked_again(response, query, page)

    async def asked_again(self, response: Response, query: BingQuery, doubtful: Record | None) -> Record:
        """The record of a second page; where that holds no results, the doubtful one if it does."""
        try:
            second = record(await self.fetch(again(query, response), after=response), query)
        except FetchError:
            if doubtful and doubtful["results"]:
                return doubtful
            raise
        return doubtful if doubtful and doubtful["results"] and not second["results"] else second

    def outcome(self, page: Record, query: BingQuery) -> Outcome:
        if not bing_web.answers(page, query.q):
            return Outcome.DEGRADED
        return super().outcome(page, query)

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        q = bing_web.shown_query(body)
        return {"q": q} if q else {}


def record(response: Response, query: BingQuery) -> Record:
    """The record of a page; raises FetchError."""
    return cast(Record, bing_web.record(utf8(response), query))


def again(query: BingQuery, response: Response) -> Request:
    """The same search from the market that the page says its reader is in, without cookies.

    Where that is the market asked for, Bing is left to choose. What it compresses is asked for in the oldest way,
    which nothing on the way fails to undo.
    """
    matching = market_of(country=bing_web.seen_from(response.body))
    asked = request(query, matching if matching != market(query) else None, None)
    asked.headers["Accept-Encoding"] = "gzip, deflate"
    asked.meta["dont_merge_cookies"] = True
    return asked


def request(query: BingQuery, mkt: str | None, cc: str | None) -> Request:
    """The request for a page of results in a market, as for a reader in a country."""
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
    """The market to search in; None leaves it to Bing."""
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
    """The country to search in: one that is named, else the region's."""
    region = EUROPE if query.region is Region.EU else query.region
    named = query.cc or query.gl or region
    return "GB" if named in ("uk", "gb") else named and named.upper()


def terms(query: BingQuery) -> str:
    """The search terms, with languages and countries as Bing's operators."""
    languages = (query.lr or "").replace("lang_", "language:").split("|")
    countries = (query.cr or "").replace("country", "loc:").replace(".", "|").split("|")
    asked = (" OR ".join(filter(None, wanted)) for wanted in (languages, countries))
    limits = [f"({wanted})" for wanted in asked if wanted]
    return " ".join([query.q, *limits])


def last_year() -> str:
    """The filter for the last year: from day to day, counted from 1970."""
    today = int(time() // DAY)
    return f'ex1:"ez5_{today - 365}_{today}"'
