"""Sends requests from the region of their query."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler

from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.proxy_pool import ProxyPool


class RegionMiddleware:
    """Sends each request through a proxy of its query's region, where there is one (`meta["proxy"]`).

    The fetch records the proxy's label, and whether the region is chosen by proxy or by parameters only. The requests
    of an engine that is `direct` go through none.
    """

    def __init__(self, proxies: ProxyPool, engine: str, *, direct: bool = False):
        self.proxies = proxies
        self.engine = engine
        self.direct = direct

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        direct = getattr(crawler.spidercls, "direct", False)
        return cls(FetchResources.of(crawler).proxies, crawler.spidercls.name, direct=direct)

    async def process_request(self, request: Request) -> None:
        fetch = Fetch.of(request)
        run = fetch.run
        if self.direct:
            fetch.region_mode = "parameters" if run.region else None
            return
        if run.region:
            fetch.region_mode = self.proxies.region_mode(run.region)
        last = fetch.proxy or run.proxy
        proxy = self.proxies.choose(self.engine, run.region, run.session, fetch.avoided_proxies, last)
        fetch.proxy = proxy.label if proxy else None
        if proxy:
            request.meta["proxy"] = proxy.url
