"""The engine that is measured, sent to an upstream on loopback instead of the internet."""

import os

from scrapy import Request

from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import GoogleWebSpider


class LoopbackSpider(GoogleWebSpider):
    """`google_web`, whose requests go to BENCHMARK_UPSTREAM; all else is as it is."""

    def request(self, query: WebQuery) -> Request:
        """The engine's own request with another address."""
        request = super().request(query)
        return request.replace(url=request.url.replace("https://www.google.com", os.environ["BENCHMARK_UPSTREAM"]))
