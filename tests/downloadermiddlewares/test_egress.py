"""Forbidden URLs are refused before a download handler is chosen."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from webdata.domain.errors import TargetError
from webdata.downloadermiddlewares.egress import EgressMiddleware
from webdata.spiders.bing_web import BingWebSpider

RULE = {"EGRESS_PORTS": (80, 443), "EGRESS_ALLOW": ()}


def middleware(spider=Spider, **settings):
    return EgressMiddleware.from_crawler(get_crawler(spider, {**RULE, **settings}))


def test_without_the_guard_the_middleware_is_disabled():
    """Without EGRESS_GUARD the middleware is disabled."""
    with pytest.raises(NotConfigured):
        middleware()


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "data:,text", "ftp://a.example/", "http://10.0.0.1/", "s3://b/k"]
)
@ensureDeferred
async def test_other_schemes_and_private_addresses_are_refused(url):
    """Schemes other than http and https, and private addresses, are refused."""
    with pytest.raises(TargetError):
        await middleware(EGRESS_GUARD=True).process_request(Request(url))


@ensureDeferred
async def test_a_host_name_is_accepted():
    """Host names are accepted; the download handler checks their addresses."""
    assert await middleware(EGRESS_GUARD=True).process_request(Request("https://a.example/")) is None


@pytest.mark.parametrize("url", ["https://www.bing.com/search", "http://cn.bing.com/"])
@ensureDeferred
async def test_an_engine_may_request_its_own_sites(url):
    """Hosts of an engine's `allowed_domains` are accepted on its own ports, whatever EGRESS_PORTS is."""
    guarded = middleware(BingWebSpider, EGRESS_GUARD=True, EGRESS_PORTS=(8080,))
    assert await guarded.process_request(Request(url)) is None


@pytest.mark.parametrize("meta", [{}, {"allow_offsite": True}])
@ensureDeferred
async def test_an_engine_may_not_request_another_site(meta):
    """Any other host is refused, with `dont_filter` and `allow_offsite` too."""
    with pytest.raises(TargetError):
        await middleware(BingWebSpider, EGRESS_GUARD=True).process_request(
            Request("https://a.example/", meta=meta, dont_filter=True)
        )
