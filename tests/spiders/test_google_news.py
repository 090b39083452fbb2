"""Requests for Google News' feeds, and where links lead."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webdata.domain.errors import QueryError
from webdata.domain.query import Region
from webdata.fetching.fetch import FETCH, Fetch, QueryRun
from webdata.resources.news_search import NewsQuery
from webdata.spiders.google_news import EDITIONS, GoogleNewsSpider
from webdata.stores.accounts.sql import SqlLinks
from webdata.stores.ephemeral.links_memory import MemoryLinks


def parameters(**fields):
    request = GoogleNewsSpider().request(NewsQuery(**fields))
    assert request.url.startswith("https://news.google.com/rss/search?")
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def spider(**settings):
    memory = ("webdata.stores.ephemeral.links_memory.MemoryLinks",)
    own = {"ON_DEMAND": True, "RESOLVED_LINKS": memory, "SANDBOX_RESOLVED_LINKS": memory, **settings}
    return GoogleNewsSpider.from_crawler(get_crawler(GoogleNewsSpider, own))


def test_a_minimal_query_is_for_the_american_edition():
    """A query with only terms has the default edition."""
    assert parameters(q="coffee & tea") == {"q": "coffee & tea", "hl": "en-US", "gl": "US", "ceid": "US:en"}


@pytest.mark.parametrize(
    ("ceid", "expected"),
    [
        ("US:en", ("en-US", "US", "US:en")),
        ("us:EN", ("en-US", "US", "US:en")),
        ("br:PT-419", ("pt-BR", "BR", "BR:pt-419")),
        ("MX:es-419", ("es-419", "MX", "MX:es-419")),
        ("us:ES-419", ("es-419", "US", "US:es-419")),
        ("PT:pt-150", ("pt-PT", "PT", "PT:pt-150")),
        (" tw:zh-hant ", ("zh-TW", "TW", "TW:zh-Hant")),
        ("DE:de", ("de-DE", "DE", "DE:de")),
    ],
)
def test_an_edition_sets_three_parameters_that_agree(ceid, expected):
    """Country and language may have any letter case; Latin American languages have Google's names."""
    pairs = parameters(q="coffee", ceid=ceid)
    assert (pairs["hl"], pairs["gl"], pairs["ceid"]) == expected


@pytest.mark.parametrize(
    ("tbs", "terms"),
    [("qdr:d", "tea when:1d"), ("qdr:w", "tea when:7d"), ("qdr:w2", "tea when:14d"), ("qdr:h6", "tea when:6h")],
)
def test_the_age_of_articles_is_an_operator_of_the_terms(tbs, terms):
    """The feed has no parameter for it, and no week."""
    assert parameters(q="tea", tbs=tbs)["q"] == terms


@pytest.mark.parametrize("tbs", ["qdr:x", "qdr:d0", "qdr:d100", "sbd:1", "d"])
def test_an_age_that_cannot_be_is_refused(tbs):
    """Nothing else of the engine's filters is for news."""
    with pytest.raises(QueryError):
        NewsQuery.read([("q", "tea"), ("tbs", tbs)])


@pytest.mark.parametrize("region", Region)
def test_a_region_has_an_edition(region):
    """Every region has an edition; an edition in the query has priority."""
    assert parameters(q="coffee", region=region)["ceid"] == EDITIONS[region]
    assert parameters(q="coffee", region=region, ceid="AT:de")["ceid"] == "AT:de"


@given(st.text(max_size=12) | st.from_regex(r"[a-z]{2}:[a-z]{2}(-[a-z0-9]{2,4})?", fullmatch=True))
def test_any_edition_is_accepted_or_refused(ceid):
    """Any text gives parameters that agree, or an error with examples."""
    try:
        query, _ = NewsQuery.read([("q", "coffee"), ("ceid", ceid)])
    except QueryError as error:
        (problem,) = error.problems
        assert problem["loc"] == ["query", "ceid"]  # most text is refused, some is not
        assert "such as ceid=US:en, ceid=BR:pt-419" in problem["msg"]
    else:
        pairs = parameters(q="coffee", ceid=query.ceid)
        assert pairs["ceid"] == query.ceid
        assert pairs["ceid"].startswith(f"{pairs['gl']}:{pairs['hl'][:2]}")
        assert query == NewsQuery(q="coffee", ceid=query.ceid)


def test_redirects_to_publishers_are_not_followed():
    """Only Google is fetched, even if an article's link redirects."""
    assert GoogleNewsSpider.allowed_domains == ("google.com",)


def test_the_settings_name_the_store_of_links(tmp_path):
    """The sandbox has its own store, in memory."""
    file = ("webdata.stores.accounts.sql.SqlLinks", f"sqlite:///{tmp_path}/links.sqlite3")
    outside, inside = spider(RESOLVED_LINKS=file), spider(RESOLVED_LINKS=file, SANDBOX=True)
    assert isinstance(outside.store, SqlLinks)
    assert isinstance(inside.store, MemoryLinks)
    outside.closed("finished")
    inside.closed("finished")


def test_link_resolution_ends_before_the_deadline():
    """It ends a second before the deadline, or after three quarters of a short one."""
    running = spider(DEADLINE=30)
    request = running.prepared(NewsQuery(q="coffee"))

    def ends(deadline):
        run = QueryRun(started_at=100.0, deadline=deadline)
        return running.ends(Response(request.url, request=request.replace(meta={FETCH: Fetch(run)})))

    assert (ends(30.0), ends(10.0), ends(2.0)) == (129.0, 109.0, 101.5)


def test_the_query_of_a_saved_feed_is_read():
    """The terms are in the link of the feed."""
    body = b"<rss><channel><link>https://news.google.com/search?q=coffee+shops&amp;hl=en</link></channel></rss>"
    assert GoogleNewsSpider().shown_query(body) == {"q": "coffee shops"}
    assert GoogleNewsSpider().shown_query(b"<html></html>") == {}
