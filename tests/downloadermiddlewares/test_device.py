"""Requests have the headers of their query's device."""

from itertools import pairwise

import pytest
from pytest_twisted import ensureDeferred
from scrapy import FormRequest, Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.domain.query import Device
from webdata.downloadermiddlewares.device import DeviceMiddleware
from webdata.downloadermiddlewares.redirect import RedirectMiddleware
from webdata.fetching.device_profiles import ENCODINGS, PLAIN_ENCODINGS, identity
from webdata.fetching.fetch import FETCH, Fetch, QueryRun


@pytest.mark.parametrize(("device", "is_mobile"), [(None, False), (Device.DESKTOP, False), (Device.MOBILE, True)])
@ensureDeferred
async def test_the_headers_fit_the_device(device, is_mobile):
    """Mobile requests have a phone's headers, all others a desktop's."""
    request = Request("https://example.com", meta={FETCH: Fetch(QueryRun(device=device))})
    await DeviceMiddleware().process_request(request)
    assert (b"Mobile" in request.headers["User-Agent"]) is is_mobile
    assert request.headers["Sec-Ch-Ua-Mobile"] == (b"?1" if is_mobile else b"?0")


@ensureDeferred
async def test_a_given_user_agent_is_preserved():
    """A request with a User-Agent gets no headers of a browser."""
    request = Request("https://example.com", headers={"User-Agent": "own"})
    await DeviceMiddleware().process_request(request)
    assert request.headers.to_unicode_dict() == {"User-Agent": "own"}


@ensureDeferred
async def test_own_headers_of_a_request_are_preserved():
    """A request's own headers replace those of the device, in the same order."""
    request = Request("https://example.com", headers={"Accept-Language": "de", "X-Own": "1", "Accept-Encoding": "gzip"})
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert list(headers) == [*identity(None).page_headers(), "X-Own"]
    assert (headers["Accept-Language"], headers["Accept-Encoding"]) == ("de", "gzip")


@ensureDeferred
async def test_a_followed_link_has_its_referer():
    """A request with a referer has the headers of a followed link."""
    request = Request("https://example.com/b", headers={"Referer": "https://example.com/a"})
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert (headers["Sec-Fetch-Site"], headers["Referer"]) == ("same-origin", "https://example.com/a")
    assert list(headers).index("Referer") < list(headers).index("Accept-Encoding")


@pytest.mark.parametrize("given", [{}, {"Accept": "*/*", "Referer": "http://example.com/a"}])
@ensureDeferred
async def test_plain_http_has_fewer_headers(given):
    """Chrome sends no hints and no fetch metadata to plain HTTP, and accepts older encodings."""
    request = Request("http://example.com", headers=given)
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert not [name for name in headers if name.startswith("Sec-")]
    assert headers["Accept-Encoding"] == PLAIN_ENCODINGS
    assert list(headers)[-2:] == ["Accept-Encoding", "Accept-Language"]


async def redirected(request, url, status=302):
    """The request after a redirect, with its device's headers."""
    await DeviceMiddleware().process_request(request)
    redirects = RedirectMiddleware.from_crawler(get_crawler())
    redirects._referer_spider_middleware = _Referers()
    redirect = Response(request.url, status=status, headers={"Location": url})
    following = redirects.process_response(request, redirect)
    assert isinstance(following, Request)
    await DeviceMiddleware().process_request(following)
    return following


class _Referers:
    """Replaces Scrapy's referer middleware: the redirecting page is the referer."""

    def get_processed_request(self, request, response):
        request.headers["Referer"] = response.url
        return request


@pytest.mark.parametrize("own", [{}, {"Accept-Language": "de", "X-Own": "1"}, {"Referer": "https://example.com/a"}])
@ensureDeferred
async def test_a_redirect_has_the_headers_of_its_url(own):
    """The headers of a redirected request, from http to https and back, are those of a direct one."""
    addresses = ["http://example.com/", "https://example.com/", "http://example.com/2", "https://example.com/3"]
    request = Request(addresses[0], headers=own)
    for _, there in pairwise(addresses):
        request = await redirected(request, there)
        direct = Request(there, headers=own)
        await DeviceMiddleware().process_request(direct)
        assert list(request.headers.items()) == list(direct.headers.items())
    assert request.headers["Accept-Encoding"].decode() == ENCODINGS


@ensureDeferred
async def test_a_redirect_drops_the_form_and_credentials():
    """A redirected form is not sent to the new page, nor are headers for the other site."""
    sent = FormRequest("https://example.com/", formdata={"a": "b"}, headers={"Authorization": "secret", "X-Own": "1"})
    following = await redirected(sent, "https://elsewhere.example/")
    assert following.method == "GET"
    assert not {"Content-Type", "Authorization"} & set(following.headers.to_unicode_dict())
    assert following.headers["X-Own"] == b"1"


@ensureDeferred
async def test_headers_of_other_middlewares_are_preserved():
    """Headers that later middlewares have set, such as a proxy's password, are preserved."""
    request = Request("https://example.com/")
    await DeviceMiddleware().process_request(request)
    request.headers["Proxy-Authorization"] = "Basic x"
    await DeviceMiddleware().process_request(request)
    assert request.headers["Proxy-Authorization"] == b"Basic x"


@ensureDeferred
async def test_requests_do_not_share_headers():
    """A change of one request's headers has no effect on another's."""
    first, second = Request("https://example.com"), Request("https://example.com")
    await DeviceMiddleware().process_request(first)
    first.headers.appendlist("Accept", "more")
    await DeviceMiddleware().process_request(second)
    assert len(second.headers.getlist("Accept")) == 1
