"""Crossref's scholarly works."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Self, cast
from urllib.parse import urlencode

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from webdata.domain.records import Record
from webdata.pages import crossref_works
from webdata.resources.scholar_search import ScholarQuery
from webdata.spiders._scholar_api import WorksSpider, api_request

WORKS = "https://api.crossref.org/works"


class CrossrefWorksSpider(WorksSpider):
    """Crossref's works, from its API: the second engine, for calls that OpenAlex cannot answer."""

    name = "crossref_works"
    site = "Crossref"
    allowed_domains = ("crossref.org",)
    rank = 1

    contact: str | None = None
    """The mail address that Crossref gets as `mailto` (setting `CONTACT`)."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: str) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider.contact = (crawler.settings["CONTACT"] or "").strip() or None
        return spider

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.contact,) if self.contact else ()

    def request(self, query: ScholarQuery) -> Request:
        parameters = {"query": query.q, "rows": query.size, "offset": query.offset}
        contact = {"mailto": self.contact} if self.contact else {}
        return api_request(f"{WORKS}?{urlencode({**parameters, **contact})}")

    async def parse(self, response: Response, query: ScholarQuery) -> AsyncIterator[Record]:
        yield cast(Record, crossref_works.record(response.body, query))

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        terms = crossref_works.shown_terms(body)
        return {"q": terms} if terms else {}
