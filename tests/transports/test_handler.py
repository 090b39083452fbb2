"""The download handler, in a crawler with the project's settings."""

import subprocess
import sys

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.settings import Settings

from webdata import settings
from webdata.fetching.fetch import FETCH, Fetch
from webdata.transports.handler import GuardedHandler, TransportsHandler
from webdata.transports.proxy_tunnel import ProxiedHandler


class Visitor(Spider):
    name = "visitor"


def handler(**changed):
    own = Settings()
    own.setmodule("webdata.settings", priority="project")
    own.setdict(changed, priority="cmdline")
    crawler = Crawler(Visitor, own)
    crawler._apply_settings()
    return TransportsHandler.from_crawler(crawler)


def test_plain_downloads_are_guarded():
    """All plain requests go through the guard, whatever the spider."""
    assert type(handler()._handlers["http"]) is GuardedHandler


def test_the_guard_can_be_off_for_tests():
    """Without the setting EGRESS_GUARD the handler of plain and proxied requests is used alone."""
    assert type(handler(EGRESS_GUARD=False)._handlers["http"]) is ProxiedHandler


def test_the_settings_name_one_handler_for_http_and_https():
    """DOWNLOAD_HANDLERS has no other scheme."""
    handlers = settings.DOWNLOAD_HANDLERS
    assert set(handlers) == {"http", "https"}
    assert set(handlers.values()) == {"webdata.transports.handler.TransportsHandler"}


def test_other_transports_are_loaded_for_their_first_request():
    """Plain HTTP imports neither Playwright nor curl_cffi."""
    code = (
        "import sys; from scrapy.crawler import Crawler; from scrapy import Spider;"
        "from webdata.crawling.warm_crawlers import scrapy_settings;"
        "from webdata.transports.handler import TransportsHandler;"
        "from scrapy.utils.reactor import install_reactor;"
        "install_reactor('twisted.internet.asyncioreactor.AsyncioSelectorReactor');"
        "Spider.name = 'visitor'; crawler = Crawler(Spider, scrapy_settings()); crawler._apply_settings();"
        "TransportsHandler.from_crawler(crawler);"
        "print([name for name in ('playwright', 'scrapy_playwright', 'curl_cffi') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@ensureDeferred
async def test_an_unknown_transport_is_refused():
    """NotSupported names the transport."""
    with pytest.raises(NotSupported, match="carrier pigeon"):
        await handler().download_request(Request("http://127.0.0.1/", meta={FETCH: Fetch(transport="carrier pigeon")}))
