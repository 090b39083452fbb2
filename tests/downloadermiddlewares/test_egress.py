"""The refusal of what is no target at all."""

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


def test_without_the_guard_there_is_none():
    """Crawlers whose engines make their own URLs do without."""
    with pytest.raises(NotConfigured):
        middleware()


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "data:,text", "ftp://a.example/", "http://10.0.0.1/", "s3://b/k"]
)
@ensureDeferred
async def test_what_has_another_handler_is_refused(url):
    """No scheme but http and https gets through, nor an address that is not public."""
    with pytest.raises(TargetError):
        await middleware(EGRESS_GUARD=True).process_request(Request(url))


@ensureDeferred
async def test_what_may_be_a_target_passes():
    """Names are left to the handler, which knows their addresses."""
    assert await middleware(EGRESS_GUARD=True).process_request(Request("https://a.example/")) is None
