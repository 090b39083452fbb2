"""Google News: its feeds, RSS and Atom, with the keys and values of `feedparser`.

All settings are feedparser's defaults but one: relative addresses in HTML are not made absolute. The aggregator has
none, and resolving them takes a third of the time.
"""

import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, cast
from urllib.parse import parse_qs

import feedparser  # type: ignore[import-untyped]  # it has no types
from selectolax.lexbor import LexborNode

from webdata.domain.errors import LayoutError, NotFoundError, UpstreamError
from webdata.pages._elements import parsed as tree
from webdata.pages._google import blocks
from webdata.pages._news import ids, items, links
from webdata.pages._text import clean, printable
from webdata.pages.odd_items import OddItemError, readable
from webdata.resources.news_search import FeedLink, NewsEntity, NewsEntry, NewsFeed, NewsPage, NewsQuery, SubArticle

RESULT_MARKS, block = blocks.RESULT_MARKS, blocks.block

OPENING = re.compile(rb"<(rss|feed)[\s>]")
OPENING_WITHIN = 2048
MOST_TAGS = 8_000
"""Tags of a feed, also those in its escaped HTML: the feeds of Google have up to 2,000; each takes feedparser 20 µs."""
CLOSING = {b"rss": b"</rss>", b"feed": b"</feed>"}
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
MOST_DIGITS = 8
"""Digits of a reference that tell whether it is to a character."""
REFERENCE = re.compile(r"&#(?:(\d++)|[xX]([\da-fA-F]++));")

KINDS: dict[type, set[str]] = {
    str: {"title", "link", "id", "published", "updated", "summary", "generator", "publisher", "rights", "subtitle"},
    list: {"links", "content"},
    dict: {f"{name}_detail" for name in ("title", "summary", "generator", "publisher", "rights", "subtitle")}
    | {"source", "image"},
}
"""The types of feedparser's values by their keys; a very broken feed may have others."""
MOST_EXACT = 2**53
"""JSON parsers represent all integers up to this one exactly (RFC 8259, section 6)."""

SEARCH_PATH = "/search"
TOPIC_PATH = "/topics/"

ITEM = "li"
LINK = "a[href]"
PUBLISHER = "font"


def record(body: bytes, query: NewsQuery) -> NewsPage:
    """The record of a feed; with `query.resolve_links`, links that contain the publisher's address are resolved.

    Raises LayoutError for a body that is no feed, or for a feed without articles that is not a search's; NotFoundError
    for a feed that reports that it is not available; UpstreamError for a truncated one.
    """
    parsed = _parsed(body)
    entries = readable(_entry, parsed["entries"])
    feed = _checked(parsed["feed"], "the feed", LayoutError)
    if entries and all(_is_message(entry) for entry in entries):
        raise NotFoundError(f"the aggregator answers: {entries[0]['title'][:100]}")
    if not entries and not _is_empty_search(parsed):
        raise LayoutError("articles, or the feed of a search without any")
    whole = cast(NewsFeed, {**feed, "entries": entries})
    page: NewsPage = {"feed": whole, "entries": entries, "entities": entities(entries)}
    return links.resolved(page, {}) if query.resolve_links else page


def shown_query(body: bytes) -> str | None:
    """The search terms in the link of a search's feed."""
    try:
        parts = ids.aggregator_url(str(_parsed(body)["feed"].get("link") or ""))
    except (LayoutError, UpstreamError):
        return None
    return parse_qs(parts.query).get("q", [None])[0] if parts else None


def _parsed(body: bytes) -> dict[str, Any]:
    """The value of feedparser for a feed, as plain data."""
    opening = OPENING.search(body[:OPENING_WITHIN])
    if not opening:
        raise LayoutError("a feed")
    end = body.rfind(CLOSING[opening[1]])
    if end < 0:
        raise UpstreamError("the feed was cut off", "truncated")
    whole = body[:end] + CLOSING[opening[1]]  # feedparser takes a second for each few megabytes after the end
    if whole.count(b"<") + whole.count(b"&lt;") > MOST_TAGS:
        raise LayoutError(f"a feed of at most {MOST_TAGS} tags")
    text = REFERENCE.sub(_of_xml, NOT_XML.sub("", whole.decode("utf-8", "replace")))  # one makes the whole feed invalid
    rest, entries = items.taken(text.encode())
    try:
        # A stream, since feedparser opens any other value as a file or fetches it as an address.
        parsed = feedparser.parse(BytesIO(rest), resolve_relative_uris=False)
    except Exception as error:  # feedparser raises any exception on broken markup
        raise LayoutError("a feed that can be read") from error
    others = iter(parsed.get("entries") or [])
    all_entries = [next(others) if entry is None else entry for entry in entries] + [*others]
    return cast(
        dict[str, Any], _plain({"feed": parsed.get("feed"), "entries": all_entries, "bozo": parsed.get("bozo")})
    )


def _of_xml(reference: re.Match[str]) -> str:
    """A reference to a character; nothing for one to what is none, or none of XML."""
    digits = (reference[1] or reference[2]).lstrip("0")
    code = int(digits[:MOST_DIGITS] or "0", 10 if reference[1] else 16)
    is_right = code < 0x110000 and not 0xD800 <= code < 0xE000 and not NOT_XML.match(chr(code))
    return reference[0] if is_right else ""


def _plain(value: Any) -> Any:
    """A value of feedparser as JSON: a `struct_time` is nine integers."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return printable(value.encode("utf-8", "replace").decode())  # UTF-8 has no lone surrogates
    is_plain = value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) <= MOST_EXACT)
    return value if is_plain else str(value)


def _entry(entry: dict[str, Any]) -> NewsEntry:
    entry = _checked(entry, "an article", OddItemError)
    if not entry.get("title"):
        raise OddItemError("the title of an article")
    if not ids.is_web_address(entry.get("link", "")) or "links" not in entry:
        raise OddItemError("the link of an article")
    if "guidislink" in entry:
        entry["guidislink"] = bool(entry["guidislink"])  # 0 in an entry without a guid
    return cast(NewsEntry, {**entry, "sub_articles": sub_articles(entry.get("summary", ""))})


def _checked(values: dict[str, Any], of: str, error: type[LayoutError]) -> dict[str, Any]:
    """The values of a feed or an article; raises the error where one is not of its type."""
    for kind, names in KINDS.items():
        for name in names & values.keys():
            if not isinstance(values[name], kind):
                raise error(f"the {name} of {of}")
    return values


def _is_message(entry: NewsEntry) -> bool:
    """Whether an entry is no article, but a message with a link to the front page ("This feed is not available")."""
    parts = ids.aggregator_url(entry["link"])
    return parts is not None and parts.path in ("", "/")


def _is_empty_search(parsed: dict[str, Any]) -> bool:
    """Whether it is a valid feed of a search: such a feed reports no results by having no entries."""
    feed = parsed["feed"]
    parts = ids.aggregator_url(str(feed.get("link") or ""))
    return not parsed["bozo"] and bool(feed.get("title")) and parts is not None and parts.path == SEARCH_PATH


def sub_articles(summary: str) -> list[SubArticle]:
    """The articles of a cluster, the entry itself first; [] where the summary is a single link."""
    if f"<{ITEM}" not in summary:
        return []
    rows = ((item, item.css_first(LINK)) for item in tree(summary).css(ITEM))
    return [_sub_article(item, link) for item, link in rows if link is not None and _is_article(link)]


def _is_article(link: LexborNode) -> bool:
    """Whether a link leads to a publisher or to an article of the aggregator: topics and "full coverage" are none."""
    address = link.attributes["href"] or ""
    return ids.is_web_address(address) and (not ids.aggregator_url(address) or ids.is_article_link(address))


def _sub_article(item: LexborNode, link: LexborNode) -> SubArticle:
    publisher = item.css_first(PUBLISHER)
    return {
        "url": link.attributes["href"] or "",
        "title": clean(link.text()),
        "publisher": clean(publisher.text()) if publisher else "",
    }


def entities(entries: Iterable[NewsEntry]) -> list[NewsEntity]:
    """The people and things whose topics the summaries link to, if a headline contains their name."""
    titles = "\n".join(entry["title"] for entry in entries).casefold()
    links_by_name: dict[str, list[FeedLink]] = {}
    for name, address in _topics(entries):
        if name and name.casefold() in titles:
            links_by_name.setdefault(name, []).append({"rel": "related", "type": "text/html", "href": address})
    return [{"title": name, "links": topics} for name, topics in links_by_name.items()]


def _topics(entries: Iterable[NewsEntry]) -> Iterator[tuple[str, str]]:
    """The distinct names and links of topics in the summaries."""
    summaries = (entry.get("summary") or "" for entry in entries)
    pages = (tree(summary) for summary in summaries if TOPIC_PATH in summary)
    topics = (link for page in pages for link in page.css(LINK) if _is_topic(link))
    yield from dict.fromkeys((clean(topic.text()), topic.attributes["href"] or "") for topic in topics)


def _is_topic(link: LexborNode) -> bool:
    parts = ids.aggregator_url(link.attributes["href"] or "")
    return parts is not None and parts.path.startswith(TOPIC_PATH)
