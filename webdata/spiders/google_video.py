"""Google's video results."""

from collections.abc import AsyncIterator
from typing import cast

from scrapy import Request
from scrapy.http import Response

from webdata.crawling.engine import utf8
from webdata.domain.records import Record
from webdata.pages import google_video
from webdata.resources.video_search import VIDEO_SEARCH
from webdata.resources.web_search import GoogleQuery
from webdata.spiders.google_web import GoogleWebSpider


class GoogleVideoSpider(GoogleWebSpider):
    """Google's video results, from the HTML results page."""

    name = "google_video"
    site = "Google"
    resources = (VIDEO_SEARCH,)

    def request(self, query: GoogleQuery) -> Request:
        request = super().request(query)
        return request.replace(url=f"{request.url}&tbm=vid")

    async def parse(self, response: Response, query: GoogleQuery) -> AsyncIterator[Record]:
        yield cast(Record, google_video.record(utf8(response), query))
