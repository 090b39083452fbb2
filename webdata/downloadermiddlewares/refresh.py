"""Pages that lead on without a status that says so."""

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import Response


class RefreshMiddleware(MetaRefreshMiddleware):
    """Scrapy's, but pages that load themselves anew every so often have arrived, as have those that lead to no URL."""

    def process_response(  # type: ignore[override]  # without the argument that Scrapy warns of
        self, request: Request, response: Response
    ) -> Request | Response:
        try:
            found = super().process_response(request, response)
        except ValueError:  # no request can be made of it
            return response
        return response if isinstance(found, Request) and found.url == request.url else found
