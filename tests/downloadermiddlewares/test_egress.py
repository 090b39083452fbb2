"""Forbidden URLs are refused before a download handler is chosen."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from webdata.domain.errors import TargetError
from webdata.downloadermiddlewares.egress import EgressMiddleware

RULE = {"EGRESS_PORTS": (80, 443), "EGRESS_ALLOW": ()}


def middleware(**settings):
    return EgressMiddleware.from_crawler(get_crawler(Spider, {**RULE, **settings}))


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
