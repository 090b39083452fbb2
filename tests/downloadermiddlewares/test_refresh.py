"""Redirects by a page's meta refresh."""

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
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
        ("0;/next", "https://example.com/next"),
        ("0, url=/next", "https://example.com/next"),
        ("0 /next", "https://example.com/next"),
        (" 0 ; url = /next", "https://example.com/next"),
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


@pytest.mark.parametrize("kind", [HtmlResponse, Response])
@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/next", "https://example.com/next"),
        ("0;URL='https://other.example/?a=1&b=2'", "https://other.example/?a=1&b=2"),
        ('3; url="/next"', "https://example.com/next"),
        ("11; url=/next", None),
        ("5; url=/page", None),
        ("5", None),
        ("", None),
        ("0; url=javascript:alert(1)", None),
        ("0; url=/a?b=1&copy=2", "https://example.com/a?b=1&copy=2"),
        ("0; url=/" + "a" * 5000, None),
    ],
)
def test_the_header_is_followed_as_the_element_is(kind, content, target):
    """The header Refresh means the same as the element, on a page of any type."""
    middleware = RefreshMiddleware.from_crawler(get_crawler(settings_dict={"METAREFRESH_MAXDELAY": 11}))
    found = middleware.process_response(Request(URL), kind(URL, headers={"Refresh": content}, body=b"go"))
    assert (found.url if isinstance(found, Request) else None) == target


def test_the_element_counts_where_the_header_leads_nowhere():
    """A header without an address does not hide the element."""
    middleware = RefreshMiddleware.from_crawler(get_crawler(settings_dict={"METAREFRESH_MAXDELAY": 11}))
    body = b'<meta http-equiv="refresh" content="0; url=/next">'
    found = middleware.process_response(Request(URL), HtmlResponse(URL, headers={"Refresh": "300"}, body=body))
    assert found.url == "https://example.com/next"


@pytest.mark.parametrize("charset", ["zlib", "bz2", "punycode", "idna", "undefined", "rot13", "utf-16-le", "koi8-r"])
def test_a_refresh_is_found_whatever_charset_the_site_names(charset):
    """A name of no charset, but of another codec, neither fails the page nor is used."""
    middleware = RefreshMiddleware.from_crawler(get_crawler(settings_dict={"METAREFRESH_MAXDELAY": 11}))
    codec = charset if charset in ("utf-16-le", "koi8-r") else "ascii"
    body = '<meta http-equiv="refresh" content="0; url=/next">'.encode(codec)
    headers = {"Content-Type": f"text/html; charset={charset}"}
    found = middleware.process_response(Request(URL), HtmlResponse(URL, headers=headers, body=body))
    assert found.url == "https://example.com/next"
