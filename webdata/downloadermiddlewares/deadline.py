"""Limits each fetch to the time of its query."""

from math import inf
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError

from webdata.fetching.fetch import Fetch


class DeadlineMiddleware:
    """Sets the download timeout to the seconds that the query has left (`meta["download_timeout"]`).

    Without a query these are the seconds of the setting `DEADLINE`.
    """

    def __init__(self, deadline: float):
        self.deadline = deadline

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getfloat("DEADLINE"))

    async def process_request(self, request: Request) -> None:
        run = Fetch.of(request).run
        if run.deadline == inf:
            run.deadline = self.deadline
        left = run.seconds_left
        if left <= 0:
            raise DownloadTimeoutError("no time is left for another fetch")
        request.meta["download_timeout"] = left
