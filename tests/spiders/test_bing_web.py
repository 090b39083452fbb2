"""Requests for Bing's results page, and what is believed of the answers."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from webdata.domain.errors import BlockedError, QueryError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Region
from webdata.resources.bing_search import BingQuery
from webdata.spiders.bing_web import MARKETS, BingWebSpider, again, market_of

NOTHING = (
    b'<html><script>_G={Region:"IN",Mkt:"en-US",RevIpCC:"in"}</script><ol id="b_results"><li class="b_no"></li></ol>'
)

WORDS = b"".join(b'<li class="b_algo"><h2><a href="https://a.example/%d">word list</a></h2></li>' % n for n in range(3))


def request(**fields):
    return BingWebSpider().request(BingQuery.check({"q": "coffee", **fields}))


def pairs(request):
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def asked(**fields):
    return pairs(request(**fields))


class RefusedSpider(BingWebSpider):
    """Gets a first page, and then none."""

    online = True
    settings = Settings({"DEADLINE": 30})

    async def fetch(self, request, after):
        raise BlockedError("no more", "denied")


def found(body, engine=BingWebSpider, **fields):
    """What an engine finds on a page."""
    spider, query = engine(), BingQuery.check({"q": "coffee", **fields})
    request = spider.prepared(query)
    response = HtmlResponse(request.url, body=body, request=request)
    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(lambda: asyncio.run(spider.found(response, query))).result()


def test_the_smallest_query():
    """Terms alone are asked for in English, and Bing is left to choose the market."""
    assert asked(q="coffee & tea") == {"q": "coffee & tea", "setlang": "en"}
    assert request().headers["Accept-Language"] == b"en-US,en;q=0.9"


def test_paging():
    """num becomes count; start, from 0, becomes first, from 1; the first page has none."""
    assert asked(num=5, start=10).items() >= {"count": "5", "first": "11"}.items()
    assert "first" not in asked(start=0)
    assert "first" not in asked(first=1)


def test_bings_own_words_are_understood():
    """count, first, mkt, setlang and cc say what num, start, region and hl say; ours stand above them."""
    assert asked(count=20, first=21).items() >= {"count": "20", "first": "21"}.items()
    assert asked(num=5, count=20, start=0, first=21)["count"] == "5"
    assert "first" not in asked(start=0, first=21)
    assert asked(mkt="DE-de", setlang="fr", cc="AT").items() >= {"mkt": "de-DE", "setlang": "fr", "cc": "AT"}.items()


@pytest.mark.parametrize("region", Region)
def test_a_region_has_a_market(region):
    """Every region is asked for as a market that Bing has, in its language, as from its country."""
    given = asked(region=region)
    language, _, country = given["mkt"].partition("-")
    assert given["mkt"] in MARKETS
    assert (given["setlang"], given["cc"]) == (language, country)
    assert country == ("IE" if region is Region.EU else region)
    assert request(region=region).headers["Accept-Language"].decode().startswith(given["mkt"])


@pytest.mark.parametrize(
    ("fields", "market", "language"),
    [
        ({"hl": "de"}, "de-DE", "de"),
        ({"hl": "pt-BR"}, "pt-BR", "pt-BR"),
        ({"hl": "lang_ja"}, "ja-JP", "ja"),
        ({"hl": "fr", "region": "CA"}, "fr-CA", "fr"),
        ({"hl": "fr", "region": "DE"}, "de-DE", "fr"),
        ({"hl": "sw"}, None, "sw"),
        ({"gl": "UK"}, "en-GB", "en"),
        ({"gl": "at"}, "de-AT", "de"),
        ({"gl": "zz"}, None, "en"),
        ({"mkt": "sw-KE", "region": "DE"}, "sw-KE", "sw"),
    ],
)
def test_language_and_country_make_a_market(fields, market, language):
    """A market is asked for only if Bing has it, or the caller names it."""
    given = asked(**fields)
    assert (given.get("mkt"), given["setlang"]) == (market, language)


def test_filters_are_translated():
    """Safety, age, languages, countries and domain reach Bing in its own words."""
    assert asked(safe="active")["adlt"] == "strict"
    assert asked(safe="off")["adlt"] == "off"
    assert asked(tbs="qdr:w")["filters"] == 'ex1:"ez2"'
    assert asked(tbs="qdr:y")["filters"].startswith('ex1:"ez5_')
    assert asked(lr="lang_de|lang_fr", cr="countryDE")["q"] == "coffee (language:de OR language:fr) (loc:DE)"
    assert asked(filter="0")["filter"] == "0"
    assert urlsplit(request(domain="cn.bing.com").url).hostname == "cn.bing.com"
    assert urlsplit(request(domain="bing.com").url).hostname == "www.bing.com"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num": "0"}, "num cannot be '0': give a whole number from 1 to 50"),
        ({"num": "51"}, "num cannot be '51'"),
        ({"num": "-1"}, "num cannot be '-1'"),
        ({"count": "abc"}, "count cannot be 'abc'"),
        ({"first": "0"}, "first cannot be '0': give a whole number from 1 to 10001"),
        ({"start": "-5"}, "start cannot be '-5'"),
        ({"mkt": "german"}, "mkt cannot be 'german': give a market"),
        ({"tbs": "qdr:h"}, "tbs cannot be 'qdr:h': give one of qdr:d"),
        ({"domain": "google.de"}, "domain cannot be 'google.de'"),
        ({"q": " "}, "q is blank"),
    ],
)
def test_what_cannot_be_asked_is_told(fields, message):
    """A wrong parameter is named, with what would be right."""
    with pytest.raises(QueryError, match=message):
        BingQuery.check({"q": "coffee", **fields})


def test_the_second_request_is_a_strangers_from_where_the_reader_is():
    """What is doubted is asked for again from the market that the page names, without cookies."""
    query = BingQuery(q="coffee", region="DE")
    response = HtmlResponse("https://www.bing.com/search?q=coffee", body=NOTHING)
    second = again(query, response)
    assert pairs(second).items() >= {"mkt": "en-IN", "q": "coffee"}.items()
    assert "cc" not in pairs(second)
    assert second.meta["dont_merge_cookies"]
    assert second.headers["Accept-Encoding"] == b"gzip, deflate"


@pytest.mark.parametrize("body", [NOTHING, b"<html></html>"])
def test_the_second_request_differs_from_the_first(body):
    """Where the market was the right one already, or none is named, Bing is left to choose."""
    second = again(BingQuery(q="coffee", region="IN"), HtmlResponse("https://www.bing.com/", body=body))
    assert "mkt" not in pairs(second)


def test_a_market_may_be_unknown():
    """A country or language without a market has none."""
    assert market_of() is None
    assert market_of(country="ZZ", language="xx") is None


def test_a_saved_page_is_judged_by_itself():
    """Without a network the first page is all there is."""
    assert found(NOTHING).outcome is Outcome.EMPTY
    assert found(b'<ol id="b_results">' + WORDS, q="kettle").outcome is Outcome.DEGRADED
    assert found(b'<ol id="b_results">' + WORDS, q="word").outcome is Outcome.OK
    with pytest.raises(BlockedError):
        found(b'<a class="sb_pagS">1</a><ol id="b_results">' + WORDS, q="word", start="10")
    with pytest.raises(UpstreamError):
        found(bytes(range(256)))


@pytest.mark.parametrize("fields", [{"num": 1}, {"count": 1}, {"num": 1, "count": 2}])
def test_the_count_cuts_the_results_and_nothing_else(fields):
    """`num`, or Bing's own `count`, is honoured exactly; ranks stay those of the page."""
    ad = b'<li class="b_ad"><div class="sb_add"><h2><a href="/aclk?ld=x">Beans</a></h2></div></li>'
    cut = found(b'<ol id="b_results">' + ad + WORDS + ad, q="word", **fields)
    assert [one["realPosition"] for one in cut.page["results"]] == [2]
    assert cut.page["adsCount"] == 2


def test_the_results_are_judged_before_they_are_cut():
    """A degraded page is known as such however few of its results are asked for."""
    assert found(b'<ol id="b_results">' + WORDS, q="kettle", num=1).outcome is Outcome.DEGRADED


def test_degraded_results_are_better_than_none():
    """Where the second page is not won, degraded results are still given, as what they are."""
    page = found(b'<ol id="b_results">' + WORDS, RefusedSpider, q="kettle")
    assert (page.outcome, len(page.page["results"])) == (Outcome.DEGRADED, 3)


def test_nothing_found_is_not_believed_at_once():
    """Where the second page is not won, the first "no results" is no answer."""
    with pytest.raises(BlockedError, match="no more"):
        found(NOTHING, RefusedSpider)


def test_a_page_tells_what_was_asked():
    """The terms are read from the search box of a saved page."""
    assert BingWebSpider().shown_query(b'<input name="q" value="tea kettle">') == {"q": "tea kettle"}
    assert BingWebSpider().shown_query(b"<p>hello</p>") == {}
