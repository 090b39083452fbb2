"""What goes into the browser and what comes out of it, as plain data."""

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

from webdata.spiders.base import fetch_error
from webdata.transports.browser import handler
from webdata.transports.browser.contexts import _parted
from webdata.transports.browser.visit import Won

URL = "https://www.example.com/a"


def cookie(**fields):
    given = {"name": "a", "value": "b", "domain": "www.example.com", "path": "/", "expires": -1, "secure": True}
    return {**given, "httpOnly": True, "sameSite": "Lax", **fields}


def won(**fields):
    given = {"status": 200, "url": URL, "headers": {"content-type": "text/html"}, "body": b"<p>", "cookies": ()}
    return Won(**{**given, **fields})


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
def test_failures_are_told_as_plain_downloads_tell_them(message, kind):
    """What the browser says becomes the same error as without it, with no address in it."""
    error = handler._failure(Error(message))
    assert type(error) is kind
    assert "a/" not in str(error)


def test_the_end_of_the_browser_is_of_its_own_kind():
    """A page that ends with its browser is an upstream error of the kind `browser`."""
    assert fetch_error(handler._failure(Error("Page.goto: Target page has been closed"))).kind == "browser"


def test_cookies_come_back_as_the_site_would_set_them():
    """Scrapy's jar takes from the response what the browser has, for the host or the domain as it was."""
    cookies = (cookie(), cookie(name="c", domain=".example.com", expires=4e9), cookie(name="sent", value="1"))
    request = Request(URL, headers={"Cookie": "sent=1; old=2"})
    response = handler._response(request, won(cookies=cookies))
    jar = CookieJar()
    jar.extract_cookies(WrappedResponse(response), WrappedRequest(request))
    assert {(one.name, one.domain, one.expires) for one in jar} == {
        ("a", "www.example.com", None),
        ("c", ".example.com", 4_000_000_000),
    }


def test_a_page_is_utf_8():
    """The browser gives text, whatever the page came in; what is no page keeps its type."""
    page = handler._response(
        Request(URL), won(headers={"content-type": "text/html; charset=latin-1"}, body="é".encode())
    )
    assert page.text == "é"
    data = handler._response(Request(URL), won(headers={"content-type": "application/json", "content-encoding": "br"}))
    assert data.headers.to_unicode_dict() == {"Content-Type": "application/json"}


@given(st.text(min_size=1).filter(lambda user: ":" not in user), st.text())
def test_a_proxys_user_and_password_are_put_together_again(user, password):
    """What Scrapy has taken out of the proxy's URL comes to the browser as it was, whatever it is."""
    word = base64.b64encode(f"{user}:{password}".encode("utf-8", "ignore")).decode()
    request = Request(URL, meta={"proxy": "http://host:1"}, headers={"Proxy-Authorization": f"Basic {word}"})
    parted = _parted(handler._proxy(request, "utf-8"))
    clean = [text.encode("utf-8", "ignore").decode() for text in (user, password)]
    assert [parted["username"], parted["password"]] == clean


@pytest.mark.parametrize(
    ("header", "languages"),
    [("de,en;q=0.8", ("de", "en")), ("en-US, en;q=0.9", ("en-US", "en")), (None, ("en-US", "en"))],
)
def test_the_languages_of_a_request(header, languages):
    """The browser's languages are those that the request accepts."""
    assert handler._languages(Request(URL, headers={"Accept-Language": header} if header else {})) == languages
