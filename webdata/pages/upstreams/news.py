"""The record of a news search, from articles of an upstream API: the keys that its feeds have, as far as it knows."""

from collections.abc import Sequence

from webdata.pages.odd_items import OddItemError
from webdata.resources.news_search import NewsEntry, NewsFeed, NewsPage

MISSING = ("entities", "sub_articles")
"""The parts of the record that no API has."""


def entry(title: str, link: str | None, publisher: str, published: str, summary: str = "") -> NewsEntry:
    """An article; raises OddItemError for one without a title or an address."""
    if not title or not link:
        raise OddItemError("an article with a title and an address")
    found: NewsEntry = {
        "title": f"{title} - {publisher}" if publisher else title,
        "link": link,
        "links": [{"rel": "alternate", "type": "text/html", "href": link}],
        "id": link,
        "guidislink": False,
        "sub_articles": [],
    }
    if publisher:
        found["source"] = {"title": publisher}
    if published:
        found["published"] = published
    if summary:
        found["summary"] = summary
    return found


def news_page(entries: Sequence[NewsEntry]) -> NewsPage:
    """The record of a page of articles."""
    feed: NewsFeed = {"entries": list(entries)}
    return {"feed": feed, "entries": list(entries), "entities": []}
