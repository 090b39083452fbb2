"""Statuses that lead on, and those that only seem to."""

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.redirect import RedirectMiddleware

URL = "https://example.com/page"


@pytest.mark.parametrize(
    ("location", "target"),
    [("/next", "https://example.com/next"), ("file:///etc/passwd", None), ("javascript:alert(1)", None)],
)
def test_a_redirect_leads_on(location, target):
    """A redirect to a page is followed; another is left to the spider."""
    middleware = RedirectMiddleware.from_crawler(get_crawler())
    found = middleware.process_response(Request(URL), Response(URL, 302, {"Location": location}))
    assert (found.url if isinstance(found, Request) else None) == target
