"""The measured engine, with an upstream on loopback."""

import ipaddress
import os
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.settings import BaseSettings

from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import GoogleWebSpider


class LoopbackSpider(GoogleWebSpider):
    """`google_web` with the upstream BENCHMARK_UPSTREAM, which the egress guard allows."""

    allowed_domains = ("127.0.0.1",)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Allow the upstream's address and port."""
        super().update_settings(settings)
        port = urlsplit(os.environ["BENCHMARK_UPSTREAM"]).port
        settings.set("EGRESS_PORTS", [port], priority="spider")
        settings.set("EGRESS_ALLOW", [ipaddress.ip_network("127.0.0.1/32")], priority="spider")

    def request(self, query: WebQuery) -> Request:
        """The engine's request to the upstream on loopback."""
        request = super().request(query)
        return request.replace(url=request.url.replace("https://www.google.com", os.environ["BENCHMARK_UPSTREAM"]))
