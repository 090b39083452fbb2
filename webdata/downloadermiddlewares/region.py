"""Sends requests from the region of their query."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.proxy_pool import ProxyPool


class RegionMiddleware:
    """Sends each request through a proxy of its query's region, where there is one (`meta["proxy"]`).

    The fetch records the proxy's label, and whether the region is chosen by proxy or by parameters only. Engines whose
    requests are `direct` have none of it.
    """

    def __init__(self, proxies: ProxyPool, engine: str):
        self.proxies = proxies
        self.engine = engine

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if getattr(crawler.spidercls, "direct", False):
            raise NotConfigured  # without a message: Scrapy would log it as a warning
        return cls(FetchResources.of(crawler).proxies, crawler.spidercls.name)

    async def process_request(self, request: Request) -> None:
        fetch = Fetch.of(request)
        run = fetch.run
        if run.region:
            fetch.region_mode = self.proxies.region_mode(run.region)
        last = fetch.proxy or run.proxy
        proxy = self.proxies.choose(self.engine, run.region, run.session, fetch.avoided_proxies, last)
        fetch.proxy = proxy.label if proxy else None
        if proxy:
            request.meta["proxy"] = proxy.url
