"""Pages that lead on without a status that says so."""

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import HtmlResponse, Response

OPENING = 64 * 1024
"""Bytes in which a page that leads on says so; Scrapy looks at 4,096 characters, and would decode all for them."""


class RefreshMiddleware(MetaRefreshMiddleware):
    """Scrapy's, but pages that load themselves anew every so often have arrived, as have those that lead to no URL."""

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
