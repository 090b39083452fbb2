"""Ways of a crawler's own."""

import pytest
from scrapy.crawler import Crawler

from webdata.crawling.warm_crawlers import scrapy_settings
from webdata.fetching.fetch import Ways
from webdata.spiders.google_web import GoogleWebSpider

pytestmark = pytest.mark.task


class Noted(Ways):
    """Ways that tell when they are closed."""

    closed = 0

    async def close(self):
        type(self).closed += 1


async def crawled(monkeypatch, **settings):
    monkeypatch.setattr(Noted, "closed", 0)
    monkeypatch.setattr("webdata.extensions.ways.Ways", Noted)
    own = scrapy_settings()
    own.setdict({"SANDBOX": True, "FAILURES_FEED": "/dev/null", **settings})
    crawler = Crawler(GoogleWebSpider, own)
    await crawler.crawl_async(q="coffee")
    return crawler


async def test_a_batch_has_ways_of_its_own_which_are_closed_with_it(monkeypatch):
    """Where nobody gave a crawler ways it makes some, and leaves nothing open."""
    crawler = await crawled(monkeypatch)
    assert isinstance(crawler.settings["WAYS"], Noted)
    assert Noted.closed == 1


async def test_ways_that_were_given_are_left_open(monkeypatch):
    """What a service's crawlers share is not closed by one of them."""
    given = Noted.from_settings(scrapy_settings())
    crawler = await crawled(monkeypatch, WAYS=given)
    assert crawler.settings["WAYS"] is given
    assert Noted.closed == 0
