"""Redirects by a page's meta refresh, or by the header `Refresh`."""

import re
from functools import reduce

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import HtmlResponse, Response

from webdata.fetching.opening import as_utf8

OPENING = 64 * 1024
"""Bytes that are searched for a refresh; Scrapy searches 4,096 characters, and would decode the whole page for them."""
MOST_HEADER = 4096
"""Bytes of a header that are read."""
CONTENT = re.compile(
    rb"""(<meta\b[^<>]*?\bcontent\s*+=\s*+["']?\s*+[\d.]++)\s*+(?:[;,]|(?<=\s))\s*+(?:url\s*+=\s*+)?(?=[^\s;,>])""",
    re.IGNORECASE,
)
"""What is before the address of a refresh; Scrapy knows its most frequent form (HTML Living Standard, 4.2.5.3)."""
ESCAPES = (("&", "&amp;"), ('"', "'"), ("<", "%3C"), (">", "%3E"))
"""Signs of a header that would end the element; either quote may stand around an address."""


class RefreshMiddleware(MetaRefreshMiddleware):
    """Scrapy's, but a page that refreshes to its own URL, or to an unsupported one, is not redirected.

    The header goes before the element, which is its form in HTML (HTML Living Standard, 4.2.5.3); a page of any type
    may have it.
    """

    def process_response(  # type: ignore[override]  # without the argument that Scrapy warns of
        self, request: Request, response: Response
    ) -> Request | Response:
        opening = response.body[:OPENING] if isinstance(response, HtmlResponse) else b""
        for body in filter(_may_refresh, (_as_element(response), opening)):
            try:
                found = super().process_response(request, as_utf8(response, CONTENT.sub(rb"\1;url=", body)))
            except ValueError:  # no request can be made of it
                continue
            if isinstance(found, Request) and found.url != request.url:
                return found
        return response


def _may_refresh(body: bytes) -> bool:
    """Whether the word is in it, in UTF-16 or in any other charset: most pages are not decoded."""
    return b"refresh" in body.replace(b"\0", b"").lower()


def _as_element(response: Response) -> bytes:
    """The header as the element that means the same; nothing where there is none."""
    value = response.headers.get("Refresh") or b""
    if not value or len(value) > MOST_HEADER:
        return b""
    content = reduce(lambda text, pair: text.replace(*pair), ESCAPES, value.decode("latin-1"))
    return f'<meta http-equiv="refresh" content="{content}">'.encode("latin-1")
