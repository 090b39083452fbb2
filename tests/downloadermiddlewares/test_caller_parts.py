"""What a caller sends is in a request only while it is downloaded."""

import pytest
from scrapy import Request
from scrapy.http import Response

from webdata.domain.errors import BlockedError, UpstreamError
from webdata.downloadermiddlewares.caller_parts import CallerPartsMiddleware
from webdata.fetching.caller_parts import CallerParts, origin_of
from webdata.fetching.fetch import FETCH, Fetch

pytestmark = pytest.mark.task
HOME = "https://shop.example"
SECRET = "s3cret"
PARTS = CallerParts(HOME, {"X-Secret": SECRET, "User-Agent": SECRET, "Content-Type": "a/b"}, {"visit": SECRET}, b"body")
DEVICE = {"Sec-Ch-Ua": "Chrome", "User-Agent": "Mozilla", "Accept": "text/html", "Cookie": "own=1"}


def request(url=f"{HOME}/page", parts=PARTS, method="POST", **more):
    body = b"body" if method == "POST" else b""
    return Request(url, method=method, body=body, headers=DEVICE, meta={FETCH: Fetch(parts=parts, **more)})


async def test_they_are_added_in_the_place_of_the_devices_headers():
    """A caller's user agent comes without the headers that describe the device's; cookies stand beside the site's."""
    sent = request()
    await CallerPartsMiddleware().process_request(sent)
    assert list(sent.headers) == [b"User-Agent", b"Accept", b"Cookie", b"X-Secret", b"Content-Type"]
    assert sent.headers["User-Agent"] == SECRET.encode()
    assert sent.headers["Cookie"] == b"own=1; visit=s3cret"


async def test_a_cookie_that_the_site_has_set_since_is_the_sites():
    """As in a browser, which would have replaced it."""
    sent = request(method="GET")
    sent.headers["Cookie"] = "visit=new"
    await CallerPartsMiddleware().process_request(sent)
    assert sent.headers["Cookie"] == b"visit=new"
    assert "Content-Type" not in sent.headers


@pytest.mark.parametrize("end", ["response", "exception"])
async def test_they_are_removed_when_the_download_has_ended(end):
    """No redirect, further attempt or log has them; what was set below the middleware stays."""
    sent, middleware = request(), CallerPartsMiddleware()
    await middleware.process_request(sent)
    sent.headers["Proxy-Authorization"] = "Basic abc"
    if end == "response":
        await middleware.process_response(sent, Response(sent.url))
    else:
        await middleware.process_exception(sent, UpstreamError("no", "reset"))
    assert sent.headers.to_unicode_dict() == {**DEVICE, "Proxy-Authorization": "Basic abc"}
    assert SECRET not in repr((sent, sent.meta, sent.headers))


@pytest.mark.parametrize(
    "url",
    ["http://shop.example/", "https://shop.example:8443/", "https://www.shop.example/", "https://shop.example./",
     "https://shop.example@evil.example/", "https://evil.example\\@shop.example/", "https://shop.example.evil.example/",
     "https://[::1]/", "ftp://shop.example/", "https://sh\u00f6p.example/"],
)  # fmt: skip
async def test_another_origin_gets_none_and_no_body(url):
    """A request that would carry the body there is an error in words."""
    sent = request(url, method="GET")
    await CallerPartsMiddleware().process_request(sent)
    assert sent.headers.to_unicode_dict() == DEVICE
    with pytest.raises(UpstreamError, match="the body of the caller's request is not sent"):
        await CallerPartsMiddleware().process_request(request(url))


@pytest.mark.parametrize(
    "url",
    ["https://SHOP.example/a", "https://shop.example:443/", "https://shop.example/?a#b", "https://shop%2eexample/"],
)
def test_an_origin_has_one_form(url):
    """As browsers write it: without the usual port, in lower case, decoded."""
    assert origin_of(url) == HOME


async def test_the_browser_sends_them_itself():
    """Its request has only the device's headers."""
    sent = request(transport="browser")
    await CallerPartsMiddleware().process_request(sent)
    assert sent.headers.to_unicode_dict() == DEVICE


def test_a_post_is_repeated_only_after_a_block():
    """A block says that nothing was done; after any other loss it may have been."""
    blocked, lost = BlockedError("no", "captcha"), UpstreamError("no", "reset")
    post, get = Fetch(parts=PARTS), Fetch(parts=CallerParts(HOME, {"A": "b"}))
    assert [post.may_repeat(one) for one in (blocked, lost, None)] == [True, False, False]
    assert [get.may_repeat(one) for one in (blocked, lost, None)] == [True, True, True]
