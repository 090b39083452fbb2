"""Refuses forbidden URLs before a download handler is chosen."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from webdata.egress.rule import Rule


class EgressMiddleware:
    """Where `EGRESS_GUARD` is on, a URL that may not be fetched is refused with TargetError.

    Every request passes it: redirects, refreshes and forms of consent pages, which stay on the spider's own sites
    (`Rule.of_spider`), and `file:`, `data:` and other schemes, which have handlers of their own. The handlers of the
    transports check the addresses, and the browser's handler the navigations of pages.
    """

    def __init__(self, rule: Rule):
        self.rule = rule

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("EGRESS_GUARD"):
            raise NotConfigured  # without a message: Scrapy would log it as a warning
        return cls(Rule.of_spider(crawler.settings, crawler.spidercls))

    async def process_request(self, request: Request) -> None:
        self.rule.check_url(request.url)
