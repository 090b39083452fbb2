"""Records what is downloaded in an archive."""

from typing import Self, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.recording import ExchangeRecorder, RecordedSpider, recorded_exchange


class RecordingMiddleware:
    """Records each exchange as it was on the wire, before anything follows a redirect or decompresses a page."""

    def __init__(self, recorder: ExchangeRecorder, crawler: Crawler):
        self.recorder = recorder
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        recorder = FetchResources.of(crawler).recorder
        if recorder is None:
            raise NotConfigured  # without a message: Scrapy would log it as a warning
        return cls(recorder, crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        spider = cast(RecordedSpider, self.crawler.spider)
        exchange = recorded_exchange(request, response, spider.kind or spider.name, spider.resources)
        if exchange:
            await self.recorder.record(exchange, spider.keys)
        return response
