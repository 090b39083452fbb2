"""Requests look like the kind of device that the query asks for."""

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
    """Mobile requests carry a phone's headers, all others a desktop's."""
    request = Request("https://example.com", meta={FETCH: Fetch(QueryRun(device=device))})
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


@pytest.mark.parametrize("given", [{}, {"Accept": "*/*", "Referer": "http://example.com/a"}])
@ensureDeferred
async def test_without_tls_nothing_is_told_that_needs_it(given):
    """Chrome sends no hints and no fetch metadata to plain http, and asks for older encodings."""
    request = Request("http://example.com", headers=given)
    await DeviceMiddleware().process_request(request)
    headers = request.headers.to_unicode_dict()
    assert not [name for name in headers if name.startswith("Sec-")]
    assert headers["Accept-Encoding"] == PLAIN_ENCODINGS
    assert list(headers)[-2:] == ["Accept-Encoding", "Accept-Language"]


async def redirected(request, url, status=302):
    """The request that follows when a site leads on, as the device's middleware leaves it."""
    await DeviceMiddleware().process_request(request)
    redirects = RedirectMiddleware.from_crawler(get_crawler())
    redirects._referer_spider_middleware = _Referers()
    leading = Response(request.url, status=status, headers={"Location": url})
    following = redirects.process_response(request, leading)
    assert isinstance(following, Request)
    await DeviceMiddleware().process_request(following)
    return following


class _Referers:
    """As Scrapy's referer middleware: the page that led on is the referer."""

    def get_processed_request(self, request, response):
        request.headers["Referer"] = response.url
        return request


@pytest.mark.parametrize("own", [{}, {"Accept-Language": "de", "X-Own": "1"}, {"Referer": "https://example.com/a"}])
@ensureDeferred
async def test_a_redirect_is_followed_as_its_own_url_calls_for(own):
    """From http to https and back the headers are those of a first request, and the referer is none or the first's."""
    addresses = ["http://example.com/", "https://example.com/", "http://example.com/2", "https://example.com/3"]
    request = Request(addresses[0], headers=own)
    for _, there in pairwise(addresses):
        request = await redirected(request, there)
        direct = Request(there, headers=own)
        await DeviceMiddleware().process_request(direct)
        assert list(request.headers.items()) == list(direct.headers.items())
    assert request.headers["Accept-Encoding"].decode() == ENCODINGS


@ensureDeferred
async def test_what_a_redirect_leaves_behind_stays_behind():
    """A form that leads on to a page is not sent there, nor what belongs to the other site."""
    sent = FormRequest("https://example.com/", formdata={"a": "b"}, headers={"Authorization": "secret", "X-Own": "1"})
    following = await redirected(sent, "https://elsewhere.example/")
    assert following.method == "GET"
    assert not {"Content-Type", "Authorization"} & set(following.headers.to_unicode_dict())
    assert following.headers["X-Own"] == b"1"


@ensureDeferred
async def test_what_others_set_stays():
    """What later middlewares have set is kept where a request leads on: a proxy's password above all."""
    request = Request("https://example.com/")
    await DeviceMiddleware().process_request(request)
    request.headers["Proxy-Authorization"] = "Basic x"
    await DeviceMiddleware().process_request(request)
    assert request.headers["Proxy-Authorization"] == b"Basic x"


@ensureDeferred
async def test_requests_share_nothing():
    """What one request's headers become is nothing to another's."""
    first, second = Request("https://example.com"), Request("https://example.com")
    await DeviceMiddleware().process_request(first)
    first.headers.appendlist("Accept", "more")
    await DeviceMiddleware().process_request(second)
    assert len(second.headers.getlist("Accept")) == 1
