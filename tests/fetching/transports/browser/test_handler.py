"""The browser handler's requests, responses and errors, without a browser."""

import base64
from http.cookiejar import CookieJar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Error
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError, DownloadTimeoutError
from scrapy.http.cookies import WrappedRequest, WrappedResponse

from webdata.crawling.engine import fetch_error
from webdata.downloadermiddlewares.decompression import sent_encoding
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports.browser import handler
from webdata.fetching.transports.browser.contexts import proxy_settings
from webdata.fetching.transports.browser.visit import LoadedPage

URL = "https://www.example.com/a"


def cookie(**fields):
    given = {"name": "a", "value": "b", "domain": "www.example.com", "path": "/", "expires": -1, "secure": True}
    return {**given, "httpOnly": True, "sameSite": "Lax", **fields}


def loaded(**fields):
    given = {"status": 200, "url": URL, "headers": {"content-type": "text/html"}, "body": b"<p>", "cookies": ()}
    return LoadedPage(**{**given, **fields})


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Page.goto: net::ERR_TUNNEL_CONNECTION_FAILED at https://a/", TunnelError),
        ("Page.goto: net::ERR_PROXY_CONNECTION_FAILED at https://a/", TunnelError),
        ("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://a/", CannotResolveHostError),
        ("Page.goto: net::ERR_CONNECTION_RESET at https://a/", DownloadFailedError),
        ("Page.goto: Timeout 1000ms exceeded.", DownloadTimeoutError),
    ],
)
def test_browser_errors_become_the_errors_of_plain_downloads(message, kind):
    """Each message is mapped to an exception without an address."""
    error = handler._failure(Error(message))
    assert type(error) is kind
    assert "a/" not in str(error)


def test_the_end_of_the_browser_has_its_own_kind():
    """A page that is closed with its browser is an UpstreamError of kind `browser`."""
    assert fetch_error(handler._failure(Error("Page.goto: Target page has been closed"))).kind == "browser"


def test_too_many_headers_have_their_own_kind():
    """Chromium reads 256 KB, where it gets a response through a tunnel."""
    error = handler._failure(Error("Page.goto: net::ERR_RESPONSE_HEADERS_TOO_BIG at https://example.com/"))
    assert fetch_error(error).kind == "too_many_headers"


def test_the_encoding_of_a_page_as_sent_is_known():
    """The browser has decompressed it: the header is gone, and what it was is in a flag."""
    request = Request(URL, meta={FETCH: Fetch(as_sent=True)})
    page = loaded(headers={"content-encoding": "br"}, body=b"<p>a</p>", as_sent=True)
    response = handler._response(request, page)
    assert (sent_encoding(response), "Content-Encoding" in response.headers) == ("br", False)


def test_the_browsers_cookies_are_set_by_the_response():
    """Scrapy's jar extracts new cookies from the response, with their host or domain."""
    cookies = (cookie(), cookie(name="c", domain=".example.com", expires=4e9), cookie(name="sent", value="1"))
    request = Request(URL, headers={"Cookie": "sent=1; old=2"})
    response = handler._response(request, loaded(cookies=cookies))
    jar = CookieJar()
    jar.extract_cookies(WrappedResponse(response), WrappedRequest(request))
    assert {(one.name, one.domain, one.expires) for one in jar} == {
        ("a", "www.example.com", None),
        ("c", ".example.com", 4_000_000_000),
    }


def test_a_page_is_utf_8():
    """The browser's HTML is encoded as UTF-8; other documents have their own type."""
    html = loaded(headers={"content-type": "text/html; charset=latin-1"}, body="é".encode())
    assert handler._response(Request(URL), html).text == "é"
    json = loaded(headers={"content-type": "application/json", "content-encoding": "br"})
    assert handler._response(Request(URL), json).headers.to_unicode_dict() == {"Content-Type": "application/json"}


@given(st.text(min_size=1).filter(lambda user: ":" not in user), st.text())
def test_the_proxy_url_contains_user_and_password(user, password):
    """Credentials of any characters are restored from the header into which Scrapy has moved them."""
    encoded = base64.b64encode(f"{user}:{password}".encode("utf-8", "ignore")).decode()
    request = Request(URL, meta={"proxy": "http://host:1"}, headers={"Proxy-Authorization": f"Basic {encoded}"})
    proxy = proxy_settings(handler._proxy(request, "utf-8"))
    clean = [text.encode("utf-8", "ignore").decode() for text in (user, password)]
    assert [proxy["username"], proxy["password"]] == clean


@pytest.mark.parametrize(
    ("header", "languages"),
    [("de,en;q=0.8", ("de", "en")), ("en-US, en;q=0.9", ("en-US", "en")), (None, ("en-US", "en"))],
)
def test_the_browser_has_the_languages_of_the_request(header, languages):
    """They are read from Accept-Language, in its order."""
    assert handler._languages(Request(URL, headers={"Accept-Language": header} if header else {})) == languages
