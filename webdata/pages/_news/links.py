"""A feed's links: those that lead to the aggregator, and the feed with the publishers' addresses in their place."""

import re
from collections.abc import Mapping
from html import escape, unescape
from typing import cast

from webdata.pages._news import ids
from webdata.resources.news_search import FeedLink, NewsEntry, NewsPage, SubArticle

HREF = re.compile(r'(?<=\bhref=")[^"]*(?=")')
"""The address in a link of the summary, as feedparser writes it."""

Addresses = Mapping[str, str]
"""Publishers' addresses by the ids that don't tell them."""


def unresolved(page: NewsPage) -> list[str]:
    """The ids in the links that lead to the aggregator, each once: those of the entries first."""
    entries = [entry["link"] for entry in page["entries"]]
    clusters = [article["url"] for entry in page["entries"] for article in entry["sub_articles"]]
    return list(dict.fromkeys(filter(None, map(ids.of, [*entries, *clusters]))))


def resolved(page: NewsPage, addresses: Addresses) -> NewsPage:
    """The page with publishers' addresses in all of its links: those that a link itself holds, then those given.

    A link whose address is unknown stays as it is, until the page is resolved once more.
    """
    entries = [_entry(entry, addresses) for entry in page["entries"]]
    return {
        **page,
        "feed": {**page["feed"], "entries": entries},
        "entries": entries,
        "links_resolved": sum(entry["link_resolved"] for entry in entries),
    }


def _entry(entry: NewsEntry, addresses: Addresses) -> NewsEntry:
    given = entry.get("aggregator_link", entry["link"])
    address = _address(given, addresses)
    changed: NewsEntry = {
        "link": address or given,
        "links": [_feed_link(link, addresses) for link in entry["links"]],
        "sub_articles": [_sub_article(article, addresses) for article in entry["sub_articles"]],
        "aggregator_link": given,
        "link_resolved": address is not None,
    }
    return {**entry, **changed, **_texts(entry, addresses)}


def _texts(entry: NewsEntry, addresses: Addresses) -> NewsEntry:
    """What of the entry is HTML, with the links in it rewritten."""
    texts: NewsEntry = {}
    if "summary" in entry:
        texts["summary"] = _html(entry["summary"], addresses)
    if "summary_detail" in entry:
        texts["summary_detail"] = _detail(entry["summary_detail"], addresses)
    if "content" in entry:
        texts["content"] = [_detail(detail, addresses) for detail in entry["content"]]
    return texts


def _detail(detail: dict[str, object], addresses: Addresses) -> dict[str, object]:
    return {**detail, "value": _html(str(detail.get("value") or ""), addresses)}


def _html(markup: str, addresses: Addresses) -> str:
    def rewritten(found: re.Match[str]) -> str:
        address = _address(unescape(found.group()), addresses)
        return escape(address) if address else found.group()

    return HREF.sub(rewritten, markup)


def _feed_link(link: FeedLink, addresses: Addresses) -> FeedLink:
    address = _address(link.get("href", ""), addresses)
    return cast(FeedLink, {**link, "href": address}) if address else link


def _sub_article(article: SubArticle, addresses: Addresses) -> SubArticle:
    given = article.get("aggregator_link", article["url"])
    address = _address(given, addresses)
    return {
        **article,
        "url": address or given,
        "aggregator_link": given,
        "link_resolved": address is not None,
    }


def _address(link: str, addresses: Addresses) -> str | None:
    return ids.inside(link) or addresses.get(ids.of(link) or "")
