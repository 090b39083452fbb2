"""Where the sandbox is on, every request goes to it."""

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from webdata.downloadermiddlewares.sandbox import SandboxMiddleware


def middleware(**settings):
    return SandboxMiddleware.from_crawler(get_crawler(settings_dict=settings))


def test_it_is_off_where_the_sandbox_is():
    """Without SANDBOX the middleware takes no part."""
    with pytest.raises(NotConfigured):
        middleware(SANDBOX=False)


@ensureDeferred
async def test_requests_go_through_the_sandbox_that_runs():
    """With SANDBOX_URL every request gets it as its proxy."""
    running = middleware(SANDBOX=True, SANDBOX_URL="http://127.0.0.1:8081")
    await running.spider_opened()
    request = Request("https://www.google.com/search")
    await running.process_request(request)
    assert request.meta["proxy"] == "http://127.0.0.1:8081"


@ensureDeferred
async def test_without_one_it_runs_its_own():
    """Without SANDBOX_URL the crawler has a sandbox of its own while it is open."""
    alone = middleware(SANDBOX=True)
    await alone.spider_opened()
    request = Request("https://www.google.com/search")
    await alone.process_request(request)
    assert request.meta["proxy"].startswith("http://127.0.0.1:")
    await alone.spider_closed()
