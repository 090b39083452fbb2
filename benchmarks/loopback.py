"""The measured engine, with an upstream on loopback."""

import os

from scrapy import Request

from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import GoogleWebSpider


class LoopbackSpider(GoogleWebSpider):
    """`google_web` with the upstream BENCHMARK_UPSTREAM."""

    def request(self, query: WebQuery) -> Request:
        """The engine's request to the upstream on loopback."""
        request = super().request(query)
        return request.replace(url=request.url.replace("https://www.google.com", os.environ["BENCHMARK_UPSTREAM"]))
