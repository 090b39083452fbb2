"""Requests for Bing's results page, and the verification of doubtful pages."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from webdata.domain.errors import BlockedError, QueryError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.domain.query import Region
from webdata.resources.bing_search import BING_SEARCH, BingQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.spiders.bing_web import MARKETS, BingWebSpider, market_of, second_request

NOTHING = (
    b'<html><script>_G={Region:"IN",Mkt:"en-US",RevIpCC:"in"}</script><ol id="b_results"><li class="b_no"></li></ol>'
)

CARDS = b"".join(b'<li class="b_algo"><h2><a href="https://a.example/%d">word list</a></h2></li>' % n for n in range(3))


def request(**fields):
    return BingWebSpider().request(BingQuery.check({"q": "coffee", **fields}))


def pairs(request):
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def parameters(**fields):
    return pairs(request(**fields))


class SecondRequestBlocked(BingWebSpider):
    """The engine whose second request is blocked."""

    online = True
    settings = Settings({"DEADLINE": 30})

    async def fetch(self, request, after):
        raise BlockedError("no more", "denied")


def result_of(body, engine=BingWebSpider, **fields):
    """The engine's result for a page."""
    spider, query = engine(), BingQuery.check({"q": "coffee", **fields})
    request = spider.prepared(query)
    response = HtmlResponse(request.url, body=body, request=request)
    with ThreadPoolExecutor() as thread:  # which has no event loop running
        return thread.submit(lambda: asyncio.run(spider.parsed(response, query))).result()


def test_a_query_of_terms_alone_is_in_english():
    """A query of terms alone is in English, without a market."""
    assert parameters(q="coffee & tea") == {"q": "coffee & tea", "setlang": "en"}
    assert request().headers["Accept-Language"] == b"en-US,en;q=0.9"


def test_paging_uses_count_and_first():
    """num is sent as count, and start, from 0, as first, from 1; the first page has no first."""
    assert parameters(num=5, start=10).items() >= {"count": "5", "first": "11"}.items()
    assert "first" not in parameters(start=0)
    assert "first" not in parameters(first=1)


def test_bings_own_parameters_are_accepted():
    """count, first, mkt, setlang and cc mean num, start, region, hl and gl."""
    assert parameters(count=20, first=21).items() >= {"count": "20", "first": "21"}.items()
    assert parameters(num=5, count=5, start=20, first=21).items() >= {"count": "5", "first": "21"}.items()
    assert "first" not in parameters(start=0, first=1)
    expected = {"mkt": "de-DE", "setlang": "fr", "cc": "AT"}
    assert parameters(mkt="DE-de", setlang="fr", cc="AT").items() >= expected.items()


@pytest.mark.parametrize("region", Region)
def test_a_region_has_a_market(region):
    """Every region is searched in one of Bing's markets, in its language and country."""
    given = parameters(region=region)
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
    """A market is sent only if Bing has it or the caller names it."""
    given = parameters(**fields)
    assert (given.get("mkt"), given["setlang"]) == (market, language)


def test_filters_are_translated():
    """Safety, age, languages, countries and domain are sent as Bing's own parameters."""
    assert parameters(safe="active")["adlt"] == "strict"
    assert parameters(safe="off")["adlt"] == "off"
    assert parameters(tbs="qdr:w")["filters"] == 'ex1:"ez2"'
    assert parameters(tbs="qdr:y")["filters"].startswith('ex1:"ez5_')
    assert parameters(lr="lang_de|lang_fr", cr="countryDE")["q"] == "coffee (language:de OR language:fr) (loc:DE)"
    both = parameters(cr="(countryGB|countryUS).(-countryFR)")
    assert both["q"] == "coffee ((loc:GB OR loc:US) AND (-loc:FR))"
    assert parameters(filter="0")["filter"] == "0"
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
def test_an_invalid_parameter_is_reported(fields, message):
    """The error names the parameter and what would be right."""
    with pytest.raises(QueryError, match=message):
        BingQuery.check({"q": "coffee", **fields})


def test_the_second_request_is_in_the_market_of_the_page():
    """A doubtful page is requested again in the market that it names, without cookies."""
    query = BingQuery(q="coffee", region="DE")
    response = HtmlResponse("https://www.bing.com/search?q=coffee", body=NOTHING)
    second = second_request(query, response)
    assert pairs(second).items() >= {"mkt": "en-IN", "q": "coffee"}.items()
    assert "cc" not in pairs(second)
    assert second.meta["dont_merge_cookies"]
    assert second.headers["Accept-Encoding"] == b"gzip, deflate"


@pytest.mark.parametrize("body", [NOTHING, b"<html></html>"])
def test_the_second_request_differs_from_the_first(body):
    """Where the page names the market of the first request, or none, the second request has no market."""
    second = second_request(BingQuery(q="coffee", region="IN"), HtmlResponse("https://www.bing.com/", body=body))
    assert "mkt" not in pairs(second)


def test_an_unknown_country_has_no_market():
    """No market is made up for a country or language that Bing has none for."""
    assert market_of() is None
    assert market_of(country="ZZ", language="xx") is None


def test_a_saved_page_is_not_verified():
    """Without a network the first page alone decides the result."""
    assert result_of(NOTHING).outcome is Outcome.EMPTY
    assert result_of(b'<ol id="b_results">' + CARDS, q="kettle").outcome is Outcome.DEGRADED
    assert result_of(b'<ol id="b_results">' + CARDS, q="word").outcome is Outcome.OK
    with pytest.raises(BlockedError):
        result_of(b'<a class="sb_pagS">1</a><ol id="b_results">' + CARDS, q="word", start="10")
    with pytest.raises(UpstreamError):
        result_of(bytes(range(256)))


@pytest.mark.parametrize("fields", [{"num": 1}, {"count": 1}, {"num": 1, "count": 1}])
def test_the_count_limits_the_results_and_nothing_else(fields):
    """The record has exactly `num` (or `count`) results, with their ranks on the page."""
    ad = b'<li class="b_ad"><div class="sb_add"><h2><a href="/aclk?ld=x">Beans</a></h2></div></li>'
    limited = result_of(b'<ol id="b_results">' + ad + CARDS + ad, q="word", **fields)
    assert [result["realPosition"] for result in limited.page["results"]] == [2]
    assert limited.page["adsCount"] == 2


def test_the_outcome_is_that_of_the_whole_page():
    """A degraded page is degraded however few of its results are requested."""
    assert result_of(b'<ol id="b_results">' + CARDS, q="kettle", num=1).outcome is Outcome.DEGRADED


def test_degraded_results_are_returned_where_the_second_request_fails():
    """Where the second request fails, the results are returned with the outcome `degraded`."""
    page = result_of(b'<ol id="b_results">' + CARDS, SecondRequestBlocked, q="kettle")
    assert (page.outcome, len(page.page["results"])) == (Outcome.DEGRADED, 3)


def test_an_unconfirmed_empty_page_is_an_error():
    """Where the second request fails, a first page without results is an error."""
    with pytest.raises(BlockedError, match="no more"):
        result_of(NOTHING, SecondRequestBlocked)


def test_terms_are_read_from_a_saved_page():
    """The terms are read from the search box of a saved page."""
    assert BingWebSpider().shown_query(b'<input name="q" value="tea kettle">') == {"q": "tea kettle"}
    assert BingWebSpider().shown_query(b"<p>hello</p>") == {}


def test_a_web_search_is_asked_in_bings_own_parameters():
    """The parameters of the web search that Bing has are sent as its own."""
    url = BingWebSpider().request(WebQuery(q="tea", num=20, start=10, gl="de", hl="de", tbs="qdr:w", safe="high")).url
    assert parse_qs(urlsplit(url).query) == {
        "q": ["tea"],
        "count": ["20"],
        "first": ["11"],
        "mkt": ["de-DE"],
        "setlang": ["de"],
        "cc": ["DE"],
        "adlt": ["strict"],
        "filters": ['ex1:"ez2"'],
    }


@pytest.mark.parametrize(
    ("fields", "names"),
    [({"tbs": "qdr:h"}, ["tbs"]), ({"domain": "google.de", "num": 100}, ["num", "domain"]), ({"num": 50}, [])],
)
def test_what_bing_cannot_honour_is_refused_by_name(fields, names):
    """The parameters of a web search that Bing does not have are named."""
    assert BingWebSpider.refused(WebQuery(q="tea", **fields)) == names


def test_a_batch_without_a_resource_is_of_bings_own_search():
    """`scrapy crawl bing_web` is a search on Bing; the web search is named."""
    assert BingWebSpider.chosen({"q": "tea"}) == (BING_SEARCH, {"q": "tea"})
    assert BingWebSpider.chosen({"q": "tea", "resource": "web_search"}) == (WEB_SEARCH, {"q": "tea"})
    assert BingWebSpider.batch_arguments(WEB_SEARCH) == ["bing_web", "-a", "resource=web_search"]
    assert BingWebSpider.batch_arguments(BING_SEARCH) == ["bing_web"]
