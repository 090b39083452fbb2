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
from webdata.stores.memory import MemoryLinks
from webdata.stores.sql import SqlLinks


def asked(**fields):
    request = GoogleNewsSpider().request(NewsQuery(**fields))
    assert request.url.startswith("https://news.google.com/rss/search?")
    return {name: value for name, (value,) in parse_qs(urlsplit(request.url).query).items()}


def spider(**settings):
    memory = ("webdata.stores.memory.MemoryLinks",)
    own = {"ON_DEMAND": True, "RESOLVED_LINKS": memory, "SANDBOX_RESOLVED_LINKS": memory, **settings}
    return GoogleNewsSpider.from_crawler(get_crawler(GoogleNewsSpider, own))


def test_the_smallest_query():
    """Terms alone are asked for in the American edition."""
    assert asked(q="coffee & tea") == {"q": "coffee & tea", "hl": "en-US", "gl": "US", "ceid": "US:en"}


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
def test_an_edition_becomes_three_parameters_that_agree(ceid, expected):
    """Country and language are read in any letter case; those of Latin America are called as Google calls them."""
    pairs = asked(q="coffee", ceid=ceid)
    assert (pairs["hl"], pairs["gl"], pairs["ceid"]) == expected


@pytest.mark.parametrize("region", Region)
def test_a_region_has_an_edition(region):
    """Every region is asked for in its own edition, and an edition that is asked for stands above it."""
    assert asked(q="coffee", region=region)["ceid"] == EDITIONS[region]
    assert asked(q="coffee", region=region, ceid="AT:de")["ceid"] == "AT:de"


@given(st.text(max_size=12) | st.from_regex(r"[a-z]{2}:[a-z]{2}(-[a-z0-9]{2,4})?", fullmatch=True))
def test_any_edition_is_understood_or_refused(ceid):
    """Whatever is given for an edition is a query whose parameters agree, or an error that says what would be right."""
    try:
        query, _ = NewsQuery.read([("q", "coffee"), ("ceid", ceid)])
    except QueryError as error:
        (problem,) = error.problems
        assert problem["loc"] == ["query", "ceid"]  # most text is refused, some is not
        assert "such as ceid=US:en, ceid=BR:pt-419" in problem["msg"]
    else:
        pairs = asked(q="coffee", ceid=query.ceid)
        assert pairs["ceid"] == query.ceid
        assert pairs["ceid"].startswith(f"{pairs['gl']}:{pairs['hl'][:2]}")
        assert query == NewsQuery(q="coffee", ceid=query.ceid)


def test_redirects_to_publishers_are_not_followed():
    """Only Google itself is ever fetched, whatever an article's link redirects to."""
    assert GoogleNewsSpider.allowed_domains == ("google.com",)


def test_the_store_of_links_comes_from_the_settings(tmp_path):
    """Outside of the sandbox found addresses are kept in a file, inside in memory."""
    file = ("webdata.stores.sql.SqlLinks", f"sqlite:///{tmp_path}/links.sqlite3")
    outside, inside = spider(RESOLVED_LINKS=file), spider(RESOLVED_LINKS=file, SANDBOX=True)
    assert isinstance(outside.store, SqlLinks)
    assert isinstance(inside.store, MemoryLinks)
    outside.closed("finished")
    inside.closed("finished")


def test_a_query_ends_a_little_before_its_deadline():
    """Links are resolved until a second before the deadline, of a short one until a quarter of it is left."""
    running = spider(DEADLINE=30)
    request = running.prepared(NewsQuery(q="coffee"))

    def ends(deadline):
        run = QueryRun(started_at=100.0, deadline=deadline)
        return running.ends(Response(request.url, request=request.replace(meta={FETCH: Fetch(run)})))

    assert (ends(30.0), ends(10.0), ends(2.0)) == (129.0, 109.0, 101.5)


def test_a_feed_shows_what_was_searched():
    """The terms are those of the feed's own link."""
    body = b"<rss><channel><link>https://news.google.com/search?q=coffee+shops&amp;hl=en</link></channel></rss>"
    assert GoogleNewsSpider().shown_query(body) == {"q": "coffee shops"}
    assert GoogleNewsSpider().shown_query(b"<html></html>") == {}
