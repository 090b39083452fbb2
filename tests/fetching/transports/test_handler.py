"""The download handler, in a crawler with the project's settings."""

import subprocess
import sys

import pytest
from pytest_twisted import ensureDeferred
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotSupported
from scrapy.settings import Settings

from webdata.domain.errors import TargetError
from webdata.fetching.fetch import FETCH, Fetch
from webdata.fetching.transports.handler import TransportsHandler
from webdata.fetching.transports.http import BoundedHandler
from webdata.spiders.bing_web import BingWebSpider


class Visitor(Spider):
    name = "visitor"


def handler(spider=Visitor, **changed):
    own = Settings()
    own.setmodule("webdata.settings", priority="project")
    own.setdict(changed, priority="cmdline")
    crawler = Crawler(spider, own)
    crawler._apply_settings()
    return TransportsHandler.from_crawler(crawler)


class ReachedError(Exception):
    """A request has passed the rule."""


@pytest.fixture
def plain_download(monkeypatch):
    """The download of the plain handler, which raises ReachedError with its request."""

    async def download_request(self, request):
        raise ReachedError(request.url)

    monkeypatch.setattr(BoundedHandler, "download_request", download_request)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:,text", "ftp://a.example/", "http://10.0.0.1/"])
@ensureDeferred
async def test_other_schemes_and_private_addresses_are_refused(plain_download, url):
    """Schemes other than http and https, and private addresses, are refused."""
    with pytest.raises(TargetError):
        await handler().download_request(Request(url))


@pytest.mark.parametrize("proxy", [{}, {"proxy": "http://proxy.example:8080"}])
@pytest.mark.parametrize("transport", ["http", "impersonate", "browser"])
@ensureDeferred
async def test_an_engine_may_not_request_another_site(transport, proxy):
    """By every transport any other host is refused, with `dont_filter` and `allow_offsite` too."""
    meta = {FETCH: Fetch(transport=transport), "allow_offsite": True, **proxy}
    with pytest.raises(TargetError):
        await handler(BingWebSpider).download_request(Request("https://a.example/", meta=meta, dont_filter=True))


@pytest.mark.parametrize("url", ["https://www.bing.com/search", "http://cn.bing.com/"])
@ensureDeferred
async def test_an_engine_may_request_its_own_sites(plain_download, url):
    """Hosts of an engine's `allowed_domains` are accepted on its own ports."""
    with pytest.raises(ReachedError):
        await handler(BingWebSpider).download_request(Request(url))


@ensureDeferred
async def test_a_request_has_the_normalized_url(plain_download):
    """The URL that was checked is the one that is fetched."""
    with pytest.raises(ReachedError, match=r"https://www\.bing\.com/b"):
        await handler(BingWebSpider).download_request(Request("https://www.bing.com/a/../b"))


@ensureDeferred
async def test_the_guard_can_be_off_for_tests(plain_download):
    """Without the setting EGRESS_GUARD private addresses are reached."""
    with pytest.raises(ReachedError):
        await handler(EGRESS_GUARD=False).download_request(Request("http://10.0.0.1/"))


def test_the_settings_name_one_handler_for_http_and_https():
    """DOWNLOAD_HANDLERS has no other scheme, so that no file of the machine is read."""
    own = Settings()
    own.setmodule("webdata.settings", priority="project")
    handlers = own.getwithbase("DOWNLOAD_HANDLERS").copy_to_dict()
    assert {scheme for scheme, handler in handlers.items() if handler} == {"http", "https"}
    assert {handlers["http"], handlers["https"]} == {"webdata.fetching.transports.handler.TransportsHandler"}


def test_other_transports_are_loaded_for_their_first_request():
    """Plain HTTP imports neither Playwright nor curl_cffi."""
    code = (
        "import sys; from scrapy.crawler import Crawler; from scrapy import Spider;"
        "from webdata.crawling.warm_crawlers import scrapy_settings;"
        "from webdata.fetching.transports.handler import TransportsHandler;"
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
        await handler().download_request(Request("http://a.example/", meta={FETCH: Fetch(transport="carrier pigeon")}))
