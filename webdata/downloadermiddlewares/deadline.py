"""No fetch outlives the query it is for."""

from math import inf

from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError

from webdata.fetching.fetch import Fetch


class DeadlineMiddleware:
    """Gives each download the seconds that its query has left (`meta["download_timeout"]`)."""

    async def process_request(self, request: Request) -> None:
        left = Fetch.of(request).run.seconds_left
        if left <= 0:
            raise DownloadTimeoutError("no time is left for another fetch")
        if left < inf:
            request.meta["download_timeout"] = left
