"""Redirects by a page's meta refresh."""

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.refresh import RefreshMiddleware

URL = "https://example.com/page"


def refreshed(content):
    middleware = RefreshMiddleware.from_crawler(get_crawler(settings_dict={"METAREFRESH_MAXDELAY": 11}))
    body = f'<meta http-equiv="refresh" content="{content}">'.encode()
    found = middleware.process_response(Request(URL), HtmlResponse(URL, body=body))
    return found.url if isinstance(found, Request) else None


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/next", "https://example.com/next"),
        ("10;URL='https://other.example/'", "https://other.example/"),
        ("11; url=/next", None),
        ("5; url=/page", None),
        ("5", None),
        ("0; url=file:///etc/passwd", None),
        ("0; url=javascript:alert(1)", None),
    ],
)
def test_only_refreshes_to_other_pages_are_followed(content, target):
    """Only a refresh to another page within METAREFRESH_MAXDELAY is followed."""
    assert refreshed(content) == target
