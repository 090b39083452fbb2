"""Feeds of Google News, invented from the query alone."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from urllib.parse import urlencode

from webdata.sandbox.invention import PUBLISHERS, TITLES, SeededRandom, slug
from webdata.sandbox.sites import _news_ids
from webdata.sandbox.templates import Html, blocks, joined

TEMPLATE = "google_news.html"
SITE = "https://news.google.com"
ENTRIES = 100
"""The length of a search's feed."""
CLUSTERS = 40
"""One entry in this many is a cluster."""
CACHED_FEEDS = 32
TOPIC_CHARACTERS = 60
NOW = datetime(2026, 7, 14, 4, 8, 56, tzinfo=UTC)
"""The build time of every feed."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Search:
    """The parameters of one feed."""

    q: str
    hl: str
    gl: str
    ceid: str
    article_scenarios: str = ""
    """The scenarios of the articles' pages, as search terms."""
    legacy_ids: bool = False
    """Whether the ids contain the articles' URLs."""

    def random(self, *key: object) -> SeededRandom:
        return SeededRandom(self.q, self.ceid, *key)


@dataclass(frozen=True)
class Article:
    """One invented article."""

    title: str
    publisher: str
    home: str
    id: str

    @property
    def link(self) -> str:
        return f"{SITE}/rss/articles/{self.id}?oc=5"


@lru_cache(maxsize=CACHED_FEEDS)
def feed(search: Search, entries: int = ENTRIES) -> bytes:
    """The feed of a search. The same search always gives the same bytes."""
    return _feed(search, joined(_item(search, number) for number in range(entries)))


def unsupported(search: Search) -> bytes:
    """The feed that reports that the requested one is not available."""
    return _feed(search, blocks(TEMPLATE)["unsupported"].fill(date=_date(0)))


def _feed(search: Search, items: Html) -> bytes:
    q = NOT_XML.sub("", search.q)
    link = f"{SITE}/search?{urlencode({'q': q, 'hl': search.hl, 'gl': search.gl, 'ceid': search.ceid})}"
    markup = blocks(TEMPLATE)["feed"].fill(q=q, link=link, hl=NOT_XML.sub("", search.hl), date=_date(0), items=items)
    return markup.encode("utf-8", "replace")


def _item(search: Search, number: int) -> Html:
    random = search.random("entry", number)
    article = _article(search, number, 0)
    return blocks(TEMPLATE)["item"].fill(
        title=article.title,
        publisher=article.publisher,
        home=article.home,
        link=article.link,
        id=article.id,
        date=_date(random.number(1, 40_000)),
        summary=str(_summary(search, number, article)),  # no Html: a feed contains markup as text
    )


def _summary(search: Search, number: int, article: Article) -> Html:
    """A link, or in some entries the list of a cluster that begins with it."""
    random = search.random("cluster", number)
    if not random.chance(CLUSTERS):
        return _link(article)
    others = [_article(search, number, index) for index in range(1, random.number(2, 9))]
    items = [blocks(TEMPLATE)["cluster_item"].fill(article=_link(article)) for article in (article, *others)]
    return blocks(TEMPLATE)["cluster"].fill(articles=joined(items))


def _link(article: Article) -> Html:
    return blocks(TEMPLATE)["article_link"].fill(link=article.link, title=article.title, publisher=article.publisher)


def _article(search: Search, number: int, index: int) -> Article:
    """An entry's article (index 0), or another one of its cluster."""
    random = search.random("article", number, index)
    topic = NOT_XML.sub("", search.q.strip()[:TOPIC_CHARACTERS])
    publisher, host = random.choice(PUBLISHERS)
    url = f"https://{host}/{slug(topic)}/{number}-{index}?" + urlencode({"ref": "news", "edition": search.ceid})
    article_id = _news_ids.legacy_id(url) if search.legacy_ids else _news_ids.opaque_id(url, search.article_scenarios)
    return Article(random.choice(TITLES).format(topic=topic), publisher, f"https://{host}", article_id)


def _date(minutes: int) -> str:
    """The date of an article, in minutes before the build time."""
    return format_datetime(NOW - timedelta(minutes=minutes), usegmt=True)
