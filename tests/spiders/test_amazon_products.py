"""Requests for Amazon's page of results."""

from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import Request, Response

from webdata.domain.query import Region
from webdata.pages._amazon.marketplaces import LOCALES
from webdata.resources.product_search import ProductQuery
from webdata.spiders.amazon_products import AmazonProductsSpider, known_host


def request(**fields):
    return AmazonProductsSpider().request(ProductQuery(**fields))


def parameters(**fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(request(**fields).url).query).items()}


def test_a_query_of_terms_alone_searches_the_american_marketplace():
    """A query of terms alone searches amazon.com, in English and dollars."""
    assert parameters(q="coffee & tea") == {"k": "coffee & tea", "language": "en_US"}
    assert urlsplit(request(q="coffee").url)[:3] == ("https", "www.amazon.com", "/s")
    assert request(q="coffee").cookies == {"i18n-prefs": "USD"}


@pytest.mark.parametrize("region", Region)
def test_a_region_has_a_marketplace_and_a_language(region):
    """Every region searches its marketplace, in a language and in the marketplace's currency."""
    (host, currency), language = LOCALES[region]
    made = request(q="coffee", region=region)
    assert urlsplit(made.url).hostname == host
    assert parameters(q="coffee", region=region)["language"] == language
    assert made.cookies == {"i18n-prefs": currency}
    assert made.headers["Accept-Language"].decode().startswith(language.replace("_", "-"))


def test_some_regions_have_their_own_marketplace():
    """Germany, Japan and India are searched on their own marketplaces."""
    hosts = {region: urlsplit(request(q="x", region=region).url).hostname for region in ("DE", "JP", "IN")}
    assert hosts == {"DE": "www.amazon.de", "JP": "www.amazon.co.jp", "IN": "www.amazon.in"}


def test_a_redirected_page_has_the_host_of_its_own_url():
    """The host is known where a response's URL differs from its request's, and unknown where both are the same."""
    made = request(q="coffee")
    assert known_host(Response("https://www.amazon.in/s?k=x", request=made)) == "www.amazon.in"
    assert known_host(Response(made.url, request=made)) is None
    assert known_host(Response("https://www.amazon.in/s?k=x", request=Request("https://www.amazon.in/s?k=x"))) is None


def test_terms_are_read_from_a_saved_page():
    """The terms of a saved page are read from its search box; without one there are none."""
    spider = AmazonProductsSpider()
    assert spider.shown_query(b'<input id="twotabsearchtextbox" value="teapot">') == {"q": "teapot"}
    assert spider.shown_query(b"<p>") == {}
