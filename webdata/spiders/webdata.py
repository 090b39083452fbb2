"""Another webdata."""

import re
from collections.abc import AsyncIterator
from typing import Any, ClassVar, cast
from urllib.parse import quote, urlencode

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.upstream import HARMLESS, UpstreamSpider, given
from webdata.domain.errors import LayoutError, RecordError
from webdata.domain.query import Query, of_answer
from webdata.domain.records import Record
from webdata.pages import webdata as answers
from webdata.pipelines.envelope import ParsedPage, envelope
from webdata.pipelines.validate import validate
from webdata.resources import Resource
from webdata.resources.image_search import IMAGE_SEARCH
from webdata.resources.job_search import JOB_SEARCH
from webdata.resources.maps_search import MAPS_SEARCH
from webdata.resources.news_search import NEWS_SEARCH
from webdata.resources.scholar_search import SCHOLAR_SEARCH
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import WEB_SEARCH

SEARCHES = (WEB_SEARCH, IMAGE_SEARCH, VIDEO_SEARCH, NEWS_SEARCH, MAPS_SEARCH, SCHOLAR_SEARCH, JOB_SEARCH)
PARTS = re.compile(r"[a-z_]{1,40}(?:, [a-z_]{1,40}){0,30}")
"""The form of the header `x-missing-parts`."""
NOT_PASSED_ON = {"engines", "packed"}
"""Fields that are this service's own."""


class WebdataSpider(UpstreamSpider):
    """The API of another webdata, which honours the same parameters."""

    name = "webdata"
    site = "another webdata"
    page_module = answers
    resources = SEARCHES
    allowed_domains = ("webdata.example",)
    rank = 106
    origin = "https://webdata.example"
    needs = ("url", "key")
    honours: ClassVar = {
        resource.name: tuple(
            name for name in resource.query.fields() if name not in {*HARMLESS, *of_answer(resource.query)}
        )
        for resource in SEARCHES
    }

    def request(self, query: Query) -> Request:
        resource = self.resource_of(query)
        names = type(query).header_names()
        own = {name: getattr(query, name) for name in given(query) if name not in NOT_PASSED_ON}
        values = {name: _text(value) for name, value in own.items() if value is not None}
        headers = {names[name]: value for name, value in values.items() if name in names}
        pairs = {name: value for name, value in values.items() if name not in names}
        headers["X-Api-Key"] = self.key
        if resource.packed:
            return self.api_request(f"{resource.path}/{urlencode(pairs, quote_via=quote, safe='')}", {}, headers)
        path = resource.path
        for segment, field in resource.segments.items():
            path = path.replace(f"{{{segment}}}", quote(pairs.pop(field), safe=""))
        return self.api_request(path, pairs, headers)

    def missing(self, response: Response, resource: Resource) -> tuple[str, ...]:
        """The parts that the other one's engine cannot know, as it says."""
        told = (response.headers.get("X-Missing-Parts") or b"").decode("latin-1")
        return tuple(told.split(", ")) if PARTS.fullmatch(told) else ()

    async def parse(self, response: Response, query: Any) -> AsyncIterator[Record]:
        """Yield the record of the answer; raises LayoutError for one that this version's schema refuses."""
        page, resource = answers.record(response.body, query), self.resource_of(query)
        try:
            validate(resource, envelope(ParsedPage(page, query, 0.0, envelope=resource.envelope)))
        except RecordError as error:
            raise LayoutError("a record of this version") from error
        yield cast(Record, page)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
