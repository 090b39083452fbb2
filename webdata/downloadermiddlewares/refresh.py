"""Redirects by a page's meta refresh."""

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import HtmlResponse, Response

OPENING = 64 * 1024
"""Bytes that are searched for a refresh; Scrapy searches 4,096 characters, and would decode the whole page for them."""


class RefreshMiddleware(MetaRefreshMiddleware):
    """Scrapy's, but a page that refreshes to its own URL, or to an unsupported one, is not redirected."""

    def process_response(  # type: ignore[override]  # without the argument that Scrapy warns of
        self, request: Request, response: Response
    ) -> Request | Response:
        if not isinstance(response, HtmlResponse):
            return response
        opening = HtmlResponse(response.url, headers=response.headers, body=response.body[:OPENING], request=request)
        try:
            found = super().process_response(request, opening)
        except ValueError:  # no request can be made of it
            return response
        return found if isinstance(found, Request) and found.url != request.url else response
