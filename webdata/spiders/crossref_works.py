"""Crossref's scholarly works."""

from collections.abc import AsyncIterator, Mapping
from typing import cast
from urllib.parse import urlencode

from scrapy import Request
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
    key_setting = "CONTACT"

    def request(self, query: ScholarQuery) -> Request:
        parameters = {"query": query.q, "rows": query.size, "offset": query.offset}
        contact = {"mailto": self.key} if self.key else {}
        return api_request(f"{WORKS}?{urlencode({**parameters, **contact})}")

    async def parse(self, response: Response, query: ScholarQuery) -> AsyncIterator[Record]:
        yield cast(Record, crossref_works.record(response.body, query))

    def shown_query(self, body: bytes) -> Mapping[str, str]:
        terms = crossref_works.shown_terms(body)
        return {"q": terms} if terms else {}
