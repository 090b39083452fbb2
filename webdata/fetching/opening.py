"""The beginning of a page as text, for Scrapy's own parts, which would decode all of it by any codec that it names."""

from scrapy.http import HtmlResponse, Response

from webdata.pages.encoding import decoded


def as_utf8(response: Response, body: bytes) -> HtmlResponse:
    """A page of these bytes of a response, in UTF-8: the codec that the site names may be no charset."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    text, _ = decoded(body, content_type)
    return HtmlResponse(response.url, body=text.encode("utf-8", "replace"), encoding="utf-8")
