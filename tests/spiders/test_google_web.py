"""Requests for Google's results page."""

from urllib.parse import parse_qs, urlsplit

import pytest

from webdata.domain.query import Region
from webdata.resources.web_search import WebQuery
from webdata.spiders.google_web import LOCALES, GoogleWebSpider, accept_language


def request(**fields):
    return GoogleWebSpider().request(WebQuery(**fields))


def asked(**fields):
    return {name: value for name, (value,) in parse_qs(urlsplit(request(**fields).url).query).items()}


def test_the_smallest_query():
    """Terms alone are asked for in English, of no country."""
    assert asked(q="coffee & tea") == {"q": "coffee & tea", "hl": "en", "ie": "utf8", "oe": "utf8"}


def test_paging():
    """num and start are passed on; the first page has no start."""
    assert asked(q="coffee", num=5, start=10).items() >= {"num": "5", "start": "10"}.items()
    assert "start" not in asked(q="coffee", start=0)


@pytest.mark.parametrize("region", Region)
def test_a_region_has_a_country_and_a_language(region):
    """Every region is asked for as Google names it."""
    country, language = LOCALES[region]
    assert asked(q="coffee", region=region).items() >= {"gl": country, "hl": language}.items()


def test_what_is_asked_for_wins_over_the_region():
    """A country or language of the query's own stands above its region's."""
    assert asked(q="coffee", region="DE", gl="at", hl="fr").items() >= {"gl": "at", "hl": "fr"}.items()


def test_what_the_engine_knows_itself_is_passed_on():
    """Languages, countries, safety, filters and domain reach the engine as they came."""
    given = {"lr": "lang_de", "cr": "countryDE", "safe": "active", "tbs": "qdr:w", "filter": "0"}
    assert asked(q="coffee", **given).items() >= given.items()
    assert urlsplit(request(q="coffee", domain="google.de").url).hostname == "www.google.de"
    assert urlsplit(request(q="coffee", domain="www.google.co.uk").url).hostname == "www.google.co.uk"


@pytest.mark.parametrize(
    ("language", "header"),
    [("en", "en-US,en;q=0.9"), ("de", "de,en;q=0.9"), ("pt-BR", "pt-BR,pt;q=0.9,en;q=0.8")],
)
def test_the_languages_of_a_browser(language, header):
    """The header is that of a browser in this language."""
    assert accept_language(language) == header
