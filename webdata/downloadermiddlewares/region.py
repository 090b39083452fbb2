"""Requests go out from the region that their query asks for."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler

from webdata.fetching.proxy_pool import Proxies


class RegionMiddleware:
    """Sends each request through a proxy of its query's region, where there is one.

    Reads `meta["region"]`, `meta["session"]` (what is to keep to one proxy), `meta["avoid_proxies"]` (labels of those
    that were lost with) and `meta["proxy_label"]` of the query's fetch before. Sets `meta["proxy"]`, `["proxy_label"]`
    and `["region_mode"]`: `proxy`, or `parameters` where the region is told to the site by parameters only.
    """

    def __init__(self, proxies: Proxies, engine: str):
        self.proxies = proxies
        self.engine = engine

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["WAYS"].proxies, crawler.spidercls.name)

    async def process_request(self, request: Request) -> None:
        meta = request.meta
        region = meta.get("region")
        if region:
            meta["region_mode"] = self.proxies.region_mode(region)
        avoid, last = meta.get("avoid_proxies", ()), meta.pop("proxy_label", None)
        proxy = self.proxies.choose(self.engine, region, meta.get("session"), avoid, last)
        if proxy:
            meta.update(proxy=proxy.url, proxy_label=proxy.label)
