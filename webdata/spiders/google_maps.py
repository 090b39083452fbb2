"""Google Maps: places."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from math import ceil
from typing import cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.engine import EngineSpider, accept_language
from webdata.domain.google_domains import DOMAINS
from webdata.domain.records import Record
from webdata.fetching.fetch import Fetch
from webdata.pages import google_maps
from webdata.pages.google_maps import Viewport, maps_record
from webdata.resources.maps_search import MAPS_SEARCH, MapPlace, MapsQuery
from webdata.spiders._google_maps_pb import PAGE_SIZE, search

SITE = "https://www.google.com"

OFFSETS = range(PAGE_SIZE, 260, PAGE_SIZE)
"""The offsets of the pages after the first; a search has at most about 247 places."""
AHEAD = 3
"""The number of pages that are fetched concurrently."""

WORLD = Viewport(20_000_000, 0, 20)
COUNTRIES = {
    "au": Viewport(4_000_000, 134, -26),
    "br": Viewport(4_300_000, -53, -11),
    "ca": Viewport(4_500_000, -96, 57),
    "de": Viewport(900_000, 10.4, 51.1),
    "fr": Viewport(1_000_000, 2.4, 46.6),
    "gb": Viewport(1_200_000, -2.9, 54.5),
    "ie": Viewport(500_000, -8, 53.4),
    "in": Viewport(3_200_000, 79, 22.5),
    "jp": Viewport(2_200_000, 138, 37.5),
    "kr": Viewport(600_000, 127.8, 36.2),
    "se": Viewport(1_600_000, 16.5, 62.5),
    "sg": Viewport(50_000, 103.82, 1.35),
    "uk": Viewport(1_200_000, -2.9, 54.5),
    "us": Viewport(4_500_000, -97, 38.5),
}
"""The map of each country; a search without a place name covers the visible part of the map."""


class GoogleMapsSpider(EngineSpider):
    """Google Maps' places, from the search requests of its map, 20 places a page."""

    name = "google_maps"
    site = "Google Maps"
    page_module = google_maps
    resources = (MAPS_SEARCH,)
    allowed_domains = DOMAINS

    def request(self, query: MapsQuery) -> Request:
        return request(query, COUNTRIES.get(query.country, WORLD))

    async def parse(self, response: Response, query: MapsQuery) -> AsyncIterator[Record]:
        places = await self.places(response, query) if self.online else read(response, query)
        yield cast(Record, maps_record(places, query, Fetch.of(response).transport))

    async def places(self, response: Response, query: MapsQuery) -> list[MapPlace]:
        """The places of all pages, until there are enough or a page has no new one.

        Raises FetchError for any page that failed, rather than return a part of the places.
        """
        page = await self.first(response, query)
        by_id = {place["data_id"]: place for place in page}
        offsets = iter(OFFSETS)
        while ahead := list(islice(offsets, pages_ahead(len(by_id), len(page), query.num))):
            for fetched in await self.pages(ahead, response, query):
                if isinstance(fetched, BaseException):
                    raise fetched
                page = read(fetched, query)
                new = {place["data_id"]: place for place in page if place["data_id"] not in by_id}
                if not new:
                    return list(by_id.values())
                by_id |= new
        return list(by_id.values())

    async def first(self, response: Response, query: MapsQuery) -> list[MapPlace]:
        """The places of the first page; where it is empty, those of the same request with an explicit offset of 0."""
        places = read(response, query)
        if places:
            return places
        again = request(query, COUNTRIES.get(query.country, WORLD), 0)
        return read(await self.fetch(again, after=response), query)

    async def pages(self, offsets: Iterable[int], first: Response, query: MapsQuery) -> list[Response | BaseException]:
        """The pages at these offsets, fetched concurrently, in order; an exception in place of one that failed."""
        viewport = google_maps.viewport(first.body) or COUNTRIES.get(query.country, WORLD)
        fetches = (self.fetch(request(query, viewport, offset), after=first) for offset in offsets)
        return await asyncio.gather(*fetches, return_exceptions=True)


def read(response: Response, query: MapsQuery) -> list[MapPlace]:
    """The places of one page; raises FetchError."""
    return google_maps.record(response.body, query)["places"]


def pages_ahead(count: int, last: int, num: int) -> int:
    """The number of pages to fetch next, from the places so far, those of the last page, and the requested `num`.

    A page that is not full is usually the last one, so only one more is fetched to make sure.
    """
    missing = max(0, ceil((num - count) / PAGE_SIZE))
    if last == 0:
        return 0
    return min(missing, AHEAD if last >= PAGE_SIZE else 1)


def request(query: MapsQuery, viewport: Viewport, offset: int | None = None) -> Request:
    """The request for the page of places at an offset, within a viewport."""
    pairs = {
        "tbm": "map",
        "authuser": 0,
        "hl": query.language,
        "gl": query.country,
        "q": query.q,
        "pb": search(query.q, viewport, offset),
    }
    headers = {"Accept": "*/*", "Accept-Language": accept_language(query.language), "Referer": f"{SITE}/maps"}
    return Request(f"{SITE}/search?{urlencode(pairs)}", headers=headers, cookies={"SOCS": "CAI"})
