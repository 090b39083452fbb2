"""No fetch outlives the query it is for."""

from time import monotonic
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError


class DeadlineMiddleware:
    """Gives each download the time that its query has left.

    `meta["started_at"]` is when the first fetch of the query set out (monotonic clock; set here),
    `meta["deadline"]` how many seconds all of its fetches may take together.
    """

    def __init__(self, deadline: float):
        self.deadline = deadline

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getfloat("DEADLINE"))

    async def process_request(self, request: Request) -> None:
        now = monotonic()
        started_at = request.meta.setdefault("started_at", now)
        left = started_at + request.meta.get("deadline", self.deadline) - now
        if left <= 0:
            raise DownloadTimeoutError("no time is left for another fetch")
        request.meta["download_timeout"] = left
