"""Sends what a caller gives for a site, to that site alone."""

from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import UpstreamError
from webdata.fetching.caller_parts import LED_ON
from webdata.fetching.fetch import Fetch

PROXY = "Proxy-Authorization"


class CallerPartsMiddleware:
    """Adds the caller's headers and cookies (`Fetch.parts`) to requests for their origin, while they are downloaded.

    It stands below all middlewares that make a request of another: what they see of it has none of them. The browser's
    handler sends them itself. Raises UpstreamError for a redirect that would carry the body to another origin.
    """

    async def process_request(self, request: Request) -> None:
        fetch = Fetch.of(request)
        parts = fetch.parts
        if parts is None:
            return
        if not parts.belong_to(request.url):
            if request.method != "GET":
                raise UpstreamError(*LED_ON)
        elif fetch.transport != "browser":
            fetch.plain_headers = request.headers
            request.headers = parts.added_to(request.headers, request.method)

    async def process_response(self, request: Request, response: Response) -> Response:
        self._remove(request)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        self._remove(request)

    def _remove(self, request: Request) -> None:
        """The request's headers as they were, so that no redirect, further attempt or log has the caller's."""
        fetch = Fetch.of(request)
        if fetch.plain_headers is None:
            return
        if PROXY in request.headers:  # set below this middleware, which counts on it
            fetch.plain_headers[PROXY] = request.headers[PROXY]
        request.headers, fetch.plain_headers = fetch.plain_headers, None
