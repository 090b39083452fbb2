"""Fetch resources that a crawler makes itself."""

import pytest
from scrapy.crawler import Crawler

from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.transports.browser.process import Browser
from webdata.spiders.google_web import GoogleWebSpider

pytestmark = pytest.mark.task


class ObservedBrowser(Browser):
    """Counts how often it is closed."""

    closed = 0

    async def close(self):
        type(self).closed += 1


async def crawled(monkeypatch, given=None):
    monkeypatch.setattr(ObservedBrowser, "closed", 0)
    monkeypatch.setattr("webdata.crawling.jobs.own_resources.Browser", ObservedBrowser)
    own = scrapy_settings()
    own.setdict({"SANDBOX": True, "FAILURES_FEED": "/dev/null"})
    crawler = Crawler(GoogleWebSpider, own)
    if given:
        crawler.fetch_resources = given
    await crawler.crawl_async(q="coffee")
    return crawler


async def test_a_batch_closes_its_own_resources(monkeypatch):
    """A crawler without shared fetch resources makes its own, and closes them."""
    crawler = await crawled(monkeypatch)
    assert isinstance(crawler.fetch_resources.browser, ObservedBrowser)
    assert ObservedBrowser.closed == 1


async def test_shared_resources_stay_open(monkeypatch):
    """Resources that a service's crawlers share are not closed by one of them."""
    settings = scrapy_settings()
    given = FetchResources.from_settings(settings, ObservedBrowser.from_settings(settings))
    crawler = await crawled(monkeypatch, given)
    assert crawler.fetch_resources is given
    assert ObservedBrowser.closed == 0
