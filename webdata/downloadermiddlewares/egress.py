"""Refuses what is no target at all, whichever handler its scheme has."""

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from webdata.egress.rule import Rule


class EgressMiddleware:
    """Where `EGRESS_GUARD` is on, a URL that may not be fetched is refused with TargetError.

    `TransportsHandler` checks again, with the addresses; this is for `file:`, `data:`, `ftp:` and the like, which
    never come to it.
    """

    def __init__(self, rule: Rule):
        self.rule = rule

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("EGRESS_GUARD"):
            raise NotConfigured  # without a word: this is no fault
        return cls(Rule.from_settings(crawler.settings))

    async def process_request(self, request: Request) -> None:
        self.rule.check_url(request.url)
