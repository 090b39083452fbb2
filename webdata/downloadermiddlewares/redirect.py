"""Follows redirects by status."""

import re

from scrapy import Request
from scrapy.downloadermiddlewares import redirect
from scrapy.http import Response

PATH = re.compile(rb"[^?#]*")


class RedirectMiddleware(redirect.RedirectMiddleware):
    """Scrapy's, but a redirect to nowhere, or to an unsupported URL (`javascript:…`), is passed to the spider's check.

    An empty `Location` is none, as in browsers: joined to the URL of the page it would lead back to it for ever. Its
    backslashes are slashes (https://url.spec.whatwg.org/#relative-slash-state).
    """

    def process_response(  # type: ignore[override]  # without the argument that Scrapy warns of
        self, request: Request, response: Response
    ) -> Request | Response:
        location = (response.headers.get("Location") or b"").strip()
        if not location:
            return response
        headers = response.headers.copy()
        headers["Location"] = PATH.sub(lambda path: path[0].replace(b"\\", b"/"), location, count=1)
        try:
            found = super().process_response(request, response.replace(headers=headers))
        except ValueError:  # no request can be made of it
            return response
        return found if isinstance(found, Request) else response
