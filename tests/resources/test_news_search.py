"""News search: the edition of a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webdata.domain.errors import QueryError
from webdata.resources.news_search import NewsQuery
from webdata.resources.terms.news_editions import EDITIONS, edition

GERMAN = [{"hl": "de"}, {"hl": "lang_de"}, {"hl": "LANG_DE", "gl": "DE"}, {"gl": "de"}, {"hl": "de-DE"}]


@pytest.mark.parametrize("given", GERMAN, ids=str)
def test_language_and_country_make_the_edition(given):
    """With or without `lang_`, in any letter case, and each without the other."""
    query, _ = NewsQuery.read([("q", "a"), *given.items()])
    assert query.edition("US:en") == "DE:de"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "US:en"),
        ({"hl": "de", "ceid": "FR:fr"}, "FR:fr"),
        ({"hl": "de", "gl": "AT"}, "AT:de"),
        ({"hl": "de-AT"}, "AT:de"),
        ({"hl": "pt-BR"}, "BR:pt-419"),
        ({"gl": "br"}, "BR:pt-419"),
        ({"hl": "zh-TW"}, "TW:zh-Hant"),
        ({"hl": "es-419", "gl": "mx"}, "MX:es-419"),
        ({"hl": "es"}, "ES:es"),
        ({"hl": "iw"}, "IL:he"),
        ({"gl": "uk"}, "GB:en"),
        ({"hl": "en", "gl": "de"}, "DE:en"),
        ({"gl": "is"}, "IS:en"),
        ({"hl": "is"}, "US:is"),
        ({"hl": "fr", "region": "CA"}, "CA:fr"),
        ({"hl": "fr", "region": "US"}, "FR:fr"),
        ({"gl": "fr", "region": "CA"}, "FR:fr"),
    ],
    ids=str,
)
def test_an_edition_is_that_of_the_aggregator(given, expected):
    """`ceid` counts first; the region chooses among the countries of a language."""
    query = NewsQuery.check({"q": "a", **given})
    assert query.edition("CA:en" if given.get("region") == "CA" else "US:en") == expected


@pytest.mark.parametrize("one", EDITIONS)
def test_language_and_country_of_an_edition_lead_to_it(one):
    """Both together name each edition of the list."""
    country, _, language = one.partition(":")
    assert edition(language, country) == one


@given(st.text("abDE-lng_", max_size=8), st.text("abDE", max_size=3))
def test_any_language_and_country_make_an_edition_or_are_refused(hl, gl):
    """Whatever is made of them is a right `ceid`."""
    try:
        query, _ = NewsQuery.read([("q", "a"), ("hl", hl), ("gl", gl)])
    except QueryError:
        return
    assert NewsQuery(q="a", ceid=query.edition("US:en"))
