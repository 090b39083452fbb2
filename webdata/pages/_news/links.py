"""A feed's links to the aggregator, and their replacement by the publishers' addresses."""

import re
from collections.abc import Mapping
from html import escape, unescape
from typing import Any, cast

from webdata.pages._news import ids
from webdata.resources.news_search import FeedDetail, FeedLink, NewsEntry, NewsPage, SubArticle

HREF = re.compile(r'(?<=\bhref=")[^"]*(?=")')
"""The address of a link in HTML, as serialised by feedparser."""

Addresses = Mapping[str, str]
"""Publishers' addresses by opaque ids."""


def unresolved(page: NewsPage) -> list[str]:
    """The distinct ids in the links to the aggregator, those of the entries first."""
    entries = [entry["link"] for entry in page["entries"]]
    clusters = [article["url"] for entry in page["entries"] for article in entry["sub_articles"]]
    return list(dict.fromkeys(filter(None, map(ids.id_in_link, [*entries, *clusters]))))


def resolved(page: NewsPage, addresses: Addresses) -> NewsPage:
    """The page with publishers' addresses in all its links: the address in the link, else the one in `addresses`.

    A link of unknown address is unchanged; a resolved page can be resolved again with more addresses.
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
    changed = {
        "link": address or given,
        "links": [_feed_link(link, addresses) for link in entry["links"]],
        "sub_articles": [_sub_article(article, addresses) for article in entry["sub_articles"]],
        "aggregator_link": given,
        "link_resolved": address is not None,
    }
    return cast(NewsEntry, {**entry, **changed, **_texts(entry, addresses)})


def _texts(entry: NewsEntry, addresses: Addresses) -> dict[str, Any]:
    """The HTML fields of an entry, with the links in them resolved."""
    texts: dict[str, Any] = {}
    if "summary" in entry:
        texts["summary"] = _html(entry["summary"], addresses)
    if "summary_detail" in entry:
        texts["summary_detail"] = _detail(entry["summary_detail"], addresses)
    if "content" in entry:
        texts["content"] = [_detail(detail, addresses) for detail in entry["content"]]
    return texts


def _detail(detail: FeedDetail, addresses: Addresses) -> FeedDetail:
    return {**detail, "value": _html(str(detail.get("value") or ""), addresses)}


def _html(markup: str, addresses: Addresses) -> str:
    def rewritten(link: re.Match[str]) -> str:
        address = _address(unescape(link.group()), addresses)
        return escape(address) if address else link.group()

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
    return ids.address_in_link(link) or addresses.get(ids.id_in_link(link) or "")
