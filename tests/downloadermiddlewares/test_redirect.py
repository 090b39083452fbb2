"""Redirects by status."""

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.redirect import RedirectMiddleware

URL = "https://example.com/page"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/next", "https://example.com/next"),
        ("file:///etc/passwd", None),
        ("javascript:alert(1)", None),
        ("", None),
        ("  ", None),
        ("\\next?a=\\", "https://example.com/next?a=%5C"),
    ],
)
def test_only_redirects_to_pages_are_followed(location, target):
    """A redirect to http or https is followed; the response of another, and of one to nowhere, is returned."""
    middleware = RedirectMiddleware.from_crawler(get_crawler())
    found = middleware.process_response(Request(URL), Response(URL, 302, {"Location": location}))
    assert (found.url if isinstance(found, Request) else None) == target


def test_a_response_that_leads_nowhere_has_all_of_its_headers():
    """A page of any other status is passed on as it came."""
    page = Response(URL, 200, {"Location": "/a\\b", "Set-Cookie": ["a=1", "b=2"]})
    assert RedirectMiddleware.from_crawler(get_crawler()).process_response(Request(URL), page) is page
