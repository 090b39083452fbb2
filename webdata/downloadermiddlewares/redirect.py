"""Follows redirects by status."""

from scrapy import Request
from scrapy.downloadermiddlewares import redirect
from scrapy.http import Response


class RedirectMiddleware(redirect.RedirectMiddleware):
    """Scrapy's, but a redirect to nowhere, or to an unsupported URL (`javascript:…`), is passed to the spider's check.

    An empty `Location` is none, as in browsers: joined to the URL of the page it would lead back to it for ever.
    """

    def process_response(  # type: ignore[override]  # without the argument that Scrapy warns of
        self, request: Request, response: Response
    ) -> Request | Response:
        if not (response.headers.get("Location") or b"").strip():
            return response
        try:
            return super().process_response(request, response)
        except ValueError:  # no request can be made of it
            return response
