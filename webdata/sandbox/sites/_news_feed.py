"""A feed of invented news, decided by the query alone."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from urllib.parse import urlencode

from webdata.sandbox.invention import PUBLISHERS, TITLES, SeededRandom, slug
from webdata.sandbox.sites import _news_ids
from webdata.sandbox.templates import Html, blocks, joined

FILE = "google_news.html"
SITE = "https://news.google.com"
ENTRIES = 100
"""As many as a search's feed ends at."""
CLUSTERS = 40
"""One entry of so many heads a cluster."""
KEPT_FEEDS = 32
TOPIC_CHARACTERS = 60
NOW = datetime(2026, 7, 14, 4, 8, 56, tzinfo=UTC)
"""When every feed was built."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Search:
    """What was asked of Google News. `words` are the scenarios of its articles; old links hold their addresses."""

    q: str
    hl: str
    gl: str
    ceid: str
    words: str = ""
    old_links: bool = False

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


@lru_cache(maxsize=KEPT_FEEDS)
def feed(search: Search, entries: int = ENTRIES) -> bytes:
    """The feed of a search; always the same bytes for the same search."""
    return _feed(search, joined(_item(search, number) for number in range(entries)))


def apology(search: Search) -> bytes:
    """What stands in the place of a feed that there is not."""
    return _feed(search, blocks(FILE)["apology"].fill(date=_date(0)))


def _feed(search: Search, items: Html) -> bytes:
    q = NOT_XML.sub("", search.q)
    link = f"{SITE}/search?{urlencode({'q': q, 'hl': search.hl, 'gl': search.gl, 'ceid': search.ceid})}"
    markup = blocks(FILE)["feed"].fill(q=q, link=link, hl=NOT_XML.sub("", search.hl), date=_date(0), items=items)
    return markup.encode("utf-8", "replace")


def _item(search: Search, number: int) -> Html:
    random = search.random("entry", number)
    article = _article(search, number, 0)
    return blocks(FILE)["item"].fill(
        title=article.title,
        publisher=article.publisher,
        home=article.home,
        link=article.link,
        id=article.id,
        date=_date(random.number(1, 40_000)),
        summary=str(_summary(search, number, article)),  # no Html: markup stands in a feed as text
    )


def _summary(search: Search, number: int, article: Article) -> Html:
    """A link, or for one entry in some the list of a cluster that begins with it."""
    random = search.random("cluster", number)
    if not random.chance(CLUSTERS):
        return _link(article)
    others = [_article(search, number, place) for place in range(1, random.number(2, 9))]
    items = [blocks(FILE)["cluster_item"].fill(article=_link(one)) for one in (article, *others)]
    return blocks(FILE)["cluster"].fill(articles=joined(items))


def _link(article: Article) -> Html:
    values = {"link": article.link, "title": article.title, "publisher": article.publisher}
    return blocks(FILE)["article_link"].fill(**values)


def _article(search: Search, number: int, place: int) -> Article:
    """An entry's article, or another one of its cluster."""
    random = search.random("article", number, place)
    topic = NOT_XML.sub("", search.q.strip()[:TOPIC_CHARACTERS])
    publisher, host = random.choice(PUBLISHERS)
    address = f"https://{host}/{slug(topic)}/{number}-{place}?" + urlencode({"ref": "news", "edition": search.ceid})
    one = _news_ids.telling(address) if search.old_links else _news_ids.opaque(address, search.words)
    return Article(random.choice(TITLES).format(topic=topic), publisher, f"https://{host}", one)


def _date(minutes: int) -> str:
    """So many minutes before the feed was built."""
    return format_datetime(NOW - timedelta(minutes=minutes), usegmt=True)
