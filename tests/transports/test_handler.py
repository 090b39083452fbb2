"""The download handler, in crawlers of the project's own settings."""

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


def test_without_the_guard_nothing_is_in_the_way():
    """Requests of crawlers without the setting go to the handler of proxied and plain requests alone."""
    assert type(handler()._http) is ProxiedHandler


def test_the_setting_turns_the_guard_on():
    """All requests of a crawler with the setting are guarded."""
    assert type(handler(EGRESS_GUARD=True)._http) is GuardedHandler


def test_http_and_https_come_here():
    """The project's settings name it for both."""
    handlers = settings.DOWNLOAD_HANDLERS
    assert set(handlers) == {"http", "https"}
    assert set(handlers.values()) == {"webdata.transports.handler.TransportsHandler"}


def test_other_transports_are_made_when_they_are_wanted():
    """Nothing of Playwright and curl is loaded for plain HTTP."""
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
    """A transport that there is not is no plain HTTP."""
    with pytest.raises(NotSupported, match="carrier pigeon"):
        await handler().download_request(Request("http://127.0.0.1/", meta={FETCH: Fetch(transport="carrier pigeon")}))
