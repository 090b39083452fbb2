"""Feeds of Google News, invented from the query alone."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from urllib.parse import urlencode

from webdata.sandbox.invention import PUBLISHERS, slug
from webdata.sandbox.sites import _news_ids
from webdata.sandbox.sites._searches import Data, Search
from webdata.sandbox.templates import render

TEMPLATE = "sites/google_news"
SITE = "https://news.google.com"
ENTRIES = 100
"""The length of a search's feed."""
CLUSTERS = 40
"""One entry in this many is a cluster."""
CACHED_FEEDS = 32
NOW = datetime(2026, 7, 14, 4, 8, 56, tzinfo=UTC)
"""The build time of every feed."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class NewsSearch(Search):
    """The parameters of one feed."""

    hl: str
    gl: str
    ceid: str
    article_scenarios: str = ""
    """The scenarios of the articles' pages, as search terms."""
    legacy_ids: bool = False
    """Whether the ids contain the articles' URLs."""

    @property
    def market(self) -> tuple[object, ...]:
        return (self.ceid,)


@lru_cache(maxsize=CACHED_FEEDS)
def feed(search: NewsSearch, entries: int = ENTRIES, *, is_supported: bool = True) -> bytes:
    """The feed of a search, or that which reports that there is none. The same search always gives the same bytes."""
    q = NOT_XML.sub("", search.q)
    return render(
        TEMPLATE,
        "feed",
        q=q,
        hl=NOT_XML.sub("", search.hl),
        link=f"{SITE}/search?{urlencode({'q': q, 'hl': search.hl, 'gl': search.gl, 'ceid': search.ceid})}",
        date=_date(0),
        entries=[_entry(search, number) for number in range(entries if is_supported else 0)],
        is_supported=is_supported,
    )


def _entry(search: NewsSearch, number: int) -> Data:
    """An entry's date and article, and in some entries the others of a cluster that begins with it."""
    random = search.random("cluster", number)
    count = random.number(2, 9) if random.chance(CLUSTERS) else 1
    articles = [_article(search, number, index) for index in range(count)]
    return {"date": _date(search.random("entry", number).number(1, 40_000)), "articles": articles}


def _article(search: NewsSearch, number: int, index: int) -> Data:
    random, topic = search.random("article", number, index), NOT_XML.sub("", search.topic)
    publisher, host = random.choice(PUBLISHERS)
    url = f"https://{host}/{slug(topic)}/{number}-{index}?" + urlencode({"ref": "news", "edition": search.ceid})
    article_id = _news_ids.legacy_id(url) if search.legacy_ids else _news_ids.opaque_id(url, search.article_scenarios)
    return {
        "id": article_id,
        "link": f"{SITE}/rss/articles/{article_id}?oc=5",
        "title": random.title(topic),
        "publisher": publisher,
        "home": f"https://{host}",
    }


def _date(minutes: int) -> str:
    """The date of an article, in minutes before the build time."""
    return format_datetime(NOW - timedelta(minutes=minutes), usegmt=True)
