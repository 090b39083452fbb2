"""Requests for Google's results page."""

from urllib.parse import parse_qs, urlsplit

import pytest

from webdata.domain.query import Region
from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import LOCALES, GoogleWebSpider, accept_language


def request(**fields):
    return GoogleWebSpider().request(WebQuery(**fields))


def parameters(**fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(request(**fields).url).query).items()}


def test_a_minimal_query_has_default_parameters():
    """A query with only terms is for English pages of no country."""
    assert parameters(q="coffee & tea") == {"q": "coffee & tea", "hl": "en", "ie": "utf8", "oe": "utf8"}


def test_num_and_start_are_sent():
    """The first page has no start."""
    assert parameters(q="coffee", num=5, start=10).items() >= {"num": "5", "start": "10"}.items()
    assert "start" not in parameters(q="coffee", start=0)


@pytest.mark.parametrize("region", Region)
def test_a_region_has_a_country_and_a_language(region):
    """Every region sets Google's codes."""
    country, language = LOCALES[region]
    assert parameters(q="coffee", region=region).items() >= {"gl": country, "hl": language}.items()


def test_country_and_language_have_priority_over_the_region():
    """`gl` and `hl` of the query replace those of its region."""
    assert parameters(q="coffee", region="DE", gl="at", hl="fr").items() >= {"gl": "at", "hl": "fr"}.items()


def test_the_filters_of_the_engine_are_sent_unchanged():
    """Languages, countries, safety, filters and domain are in the request."""
    given = {"lr": "lang_de", "cr": "countryDE", "safe": "active", "tbs": "qdr:w", "filter": "0"}
    assert parameters(q="coffee", **given).items() >= given.items()
    assert urlsplit(request(q="coffee", domain="google.de").url).hostname == "www.google.de"
    assert urlsplit(request(q="coffee", domain="www.google.co.uk").url).hostname == "www.google.co.uk"


@pytest.mark.parametrize(
    ("language", "header"),
    [("en", "en-US,en;q=0.9"), ("de", "de,en;q=0.9"), ("pt-BR", "pt-BR,pt;q=0.9,en;q=0.8")],
)
def test_the_language_header_is_that_of_a_browser(language, header):
    """The header lists the language, its base and English."""
    assert accept_language(language) == header
