"""Requests for eBay's results page."""

from urllib.parse import parse_qs, urlsplit

import pytest

from webdata.resources.marketplace_search import MarketplaceQuery
from webdata.spiders.ebay_listings import EbayListingsSpider


def request(**fields):
    return EbayListingsSpider().request(MarketplaceQuery.check({"q": "kettle", **fields}))


def test_a_query_of_terms_alone_searches_the_american_site():
    """A query of terms alone searches the American site in the list view, the only one with sellers."""
    url = urlsplit(request(q="tea & kettle").url)
    assert (url.hostname, url.path) == ("www.ebay.com", "/sch/i.html")
    pairs = {name: value for name, (value,) in parse_qs(url.query).items()}
    assert pairs == {"_nkw": "tea & kettle", "_from": "R40", "_sacat": "0", "_dmd": "1", "rt": "nc"}
    assert request().headers["Accept-Language"] == b"en-US,en;q=0.9"


@pytest.mark.parametrize(
    ("region", "host", "language"),
    [
        ("GB", "www.ebay.co.uk", "en"),
        ("DE", "www.ebay.de", "de"),
        ("FR", "www.ebay.fr", "fr"),
        ("AU", "www.ebay.com.au", "en"),
        ("CA", "www.ebay.ca", "en"),
        ("EU", "www.ebay.ie", "en"),
        ("JP", "www.ebay.com", "en"),
    ],
)
def test_the_region_chooses_the_site(region, host, language):
    """A region is searched on its own site in its language, or on the American site where it has none."""
    made = request(region=region)
    assert urlsplit(made.url).hostname == host
    assert made.headers["Accept-Language"].decode().startswith(language)


def test_terms_are_read_from_a_saved_page():
    """The terms of a saved page are read from its search box, else from its canonical URL."""
    spider = EbayListingsSpider()
    assert spider.shown_query(b'<input name="_nkw" value="tea kettle">') == {"q": "tea kettle"}
    canonical = b'<link rel="canonical" href="https://www.ebay.com/sch/i.html?_nkw=tea+kettle&amp;_sop=12">'
    assert spider.shown_query(canonical) == {"q": "tea kettle"}
    assert spider.shown_query(b'<link rel="canonical" href="https://[">') == {}
