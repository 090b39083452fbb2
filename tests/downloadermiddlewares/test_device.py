"""Requests look like the kind of device that the query asks for."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request

from webdata.devices import identity
from webdata.downloadermiddlewares.device import DeviceMiddleware
from webdata.query import Device


@pytest.mark.parametrize(("device", "is_mobile"), [(None, False), (Device.DESKTOP, False), (Device.MOBILE, True)])
@ensureDeferred
async def test_the_headers_fit_the_device(device, is_mobile):
    """Mobile requests carry a phone's headers, all others a desktop's."""
    request = Request("https://example.com", meta={"device": device})
    await DeviceMiddleware().process_request(request)
    assert (b"Mobile" in request.headers["User-Agent"]) is is_mobile
    assert request.headers["Sec-Ch-Ua-Mobile"] == (b"?1" if is_mobile else b"?0")


@ensureDeferred
async def test_a_user_agent_that_is_there_stays():
    """An engine that says who it is gets no browser's headers."""
    request = Request("https://example.com", headers={"User-Agent": "own"})
    await DeviceMiddleware().process_request(request)
    assert request.headers.to_unicode_dict() == {"User-Agent": "own"}


@ensureDeferred
async def test_what_a_request_says_itself_stays():
    """An engine's own headers take the place of the device's, in the same order."""
    request = Request("https://example.com", headers={"Accept-Language": "de", "X-Own": "1", "Accept-Encoding": "gzip"})
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert list(headers) == [*identity(None).page_headers(), "X-Own"]
    assert (headers["Accept-Language"], headers["Accept-Encoding"]) == ("de", "gzip")


@ensureDeferred
async def test_a_link_is_followed_from_the_same_site():
    """A request with a referer comes from a page, not from the address bar."""
    request = Request("https://example.com/b", headers={"Referer": "https://example.com/a"})
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert (headers["Sec-Fetch-Site"], headers["Referer"]) == ("same-origin", "https://example.com/a")
    assert list(headers).index("Referer") < list(headers).index("Accept-Encoding")


@ensureDeferred
async def test_requests_share_nothing():
    """What one request's headers become is nothing to another's."""
    first, second = Request("https://example.com"), Request("https://example.com")
    await DeviceMiddleware().process_request(first)
    first.headers.appendlist("Accept", "more")
    await DeviceMiddleware().process_request(second)
    assert len(second.headers.getlist("Accept")) == 1
