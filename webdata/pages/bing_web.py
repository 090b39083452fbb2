"""Bing's web results: the HTML results page in any of its layouts since 2018, as a record.

Layouts: desktop and mobile. `_bing` has one module for each part of the page. `_relevance` judges whether the results
answer the query: to a client that it takes for a robot Bing sends others.
"""

import re
from collections.abc import Mapping
from typing import Any

from selectolax.lexbor import LexborNode

from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.pages import _relevance
from webdata.pages._bing import column
from webdata.pages._bing.ads import shopping_ads, text_ad
from webdata.pages._bing.column import ColumnEntry
from webdata.pages._bing.snippet import address, snippet
from webdata.pages._elements import attribute, parsed, visible_text
from webdata.pages._relevance import ComparedResult
from webdata.pages._text import clean, folded, largest_number
from webdata.pages.blocked import Block, Page
from webdata.resources.bing_search import BingAd, BingPage, BingQuery, BingResult

SEARCH_BOX = "input[name=q], textarea[name=q]"
TITLE_END = " - "
NOTHING = ".b_no"
MESSAGES = "#b_results h1"
TOTAL = ".sb_count"
RANGE = re.compile(r"(\d+)\s?[-–—~]\s?\d+")
CURRENT = ".sb_pagS"
PREVIOUS = ".sb_pagP, .sw_prev"
NEXT_PAGE = ".sb_pagN, .sw_next, .pgn_next"
SEEN_FROM = tuple(re.compile(rb"""\b%b:["']([A-Za-z]{2})["']""" % name) for name in (b"RevIpCC", b"Region"))
"""The country of the client's address, else the country of the market, which differs where a market was requested."""

RESULT_MARKS = (b'id="b_results"',)
COLUMN = re.compile(rb"""\bid\s*=\s*["']?b_results\b""")
TURNSTILE = b"turnstile-widget"
CHALLENGE = re.compile(rb"""bing\.com/challenge/verify\b|class\s*=\s*["']?captcha_header\b""")

FIRST_PAGE = "first_page"
"""The kind of block in which Bing sends the first page instead of a later one."""

SAMPLE = 4096
MARKUP = re.compile(rb"<(?:!doctype|html|head|body|meta|title|script|div|span)\b", re.IGNORECASE)
UNREADABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
MOST_UNREADABLE = 0.05
"""The share of unreadable characters up to which the beginning of a page is text."""


def record(body: bytes, query: BingQuery) -> BingPage:
    """The record of a results page, with all of its results.

    Raises UpstreamError for a body that is not text, BlockedError where Bing sent its first page instead of a
    later one, and LayoutError for a page without results and without the message that nothing was found.
    """
    if is_undecoded(body):
        raise UpstreamError("the body is not text: it was not decoded", "undecoded")
    root = parsed(body)
    entries = column.entries(root)
    if not any(not entry.is_ad for entry in entries) and not _has_no_results_message(root, query.q):
        raise LayoutError("neither results nor a message that nothing was found")
    if query.offset and entries and _is_first_page(root):
        total = largest_number(visible_text(root.css_first(TOTAL)))
        if total is None or query.offset < total:
            raise BlockedError("the first page was sent instead of the one asked for", FIRST_PAGE)
        entries = []
    return _page(root, entries)


def block(page: Page) -> Block | None:
    """The page with Cloudflare's widget instead of results; results pages contain the widget's host too."""
    if TURNSTILE in page.body and CHALLENGE.search(page.body) and not COLUMN.search(page.body):
        return Block("captcha", "a challenge's widget and no results")
    return None


def answers(page: Mapping[str, Any], q: str) -> bool:
    """Whether the results of a record answer the query; Bing sends no ads to a client that it takes for a robot."""
    rows = [
        ComparedResult(f"{row['title']} {row['description']} {_displayed(row)}", row["link"]) for row in page["results"]
    ]
    has_ads = any(page.get(name) for name in ("ads", "shoppingAds", "shopping_ads"))
    return has_ads or _relevance.answers(q, rows)


def shown_query(body: bytes) -> str | None:
    """The search terms as the page repeats them: in its search box, else in its title."""
    root = parsed(body)
    written = (clean(attribute(box, "value") or box.text()) for box in root.css(SEARCH_BOX))
    terms, dash, _ = visible_text(root.css_first("title")).rpartition(TITLE_END)
    return next(filter(None, written), None) or (terms if dash else None) or None


def _displayed(row: Mapping[str, Any]) -> str:
    """The displayed address of a result, of Bing's own record or of the web search's."""
    return str(row["displayUrl"] if "displayUrl" in row else row["metadata"].get("display_url", ""))


def seen_from(body: bytes) -> str | None:
    """The country in which Bing locates the client, as a script of the page names it: `DE`."""
    found = next(filter(None, (pattern.search(body) for pattern in SEEN_FROM)), None)
    return found.group(1).decode().upper() if found else None


def is_undecoded(body: bytes) -> bool:
    """Whether a body is still compressed, or was decoded as text while it was compressed."""
    sample = body[:SAMPLE]
    if MARKUP.search(sample):
        return False
    text = sample.decode("utf-8", "replace")
    return len(UNREADABLE.findall(text)) > MOST_UNREADABLE * len(text)


def _page(root: LexborNode, entries: list[ColumnEntry]) -> BingPage:
    html = root if root.tag == "html" else root.css_first("html")
    ads = _ads(entries)
    return {
        "ads": ads,
        "adsCount": len(ads),
        "shoppingAds": shopping_ads(root) if entries else [],
        "results": [_result(entry, rank) for rank, entry in enumerate(entries, 1) if not entry.is_ad],
        "location": {"htmlLang": clean(attribute(html, "lang"))},
    }


def _ads(entries: list[ColumnEntry]) -> list[BingAd]:
    """The text ads; an ad whose box names no place is at the top if no result precedes it."""
    ranked = [(rank, entry) for rank, entry in enumerate(entries, 1) if entry.is_ad]
    first = next((rank for rank, entry in enumerate(entries, 1) if not entry.is_ad), len(entries) + 1)
    return [
        text_ad(entry, position, rank, "bottom" if entry.at_bottom or rank > first else "top")
        for position, (rank, entry) in enumerate(ranked, 1)
    ]


def _result(entry: ColumnEntry, rank: int) -> BingResult:
    text, date = snippet(entry.box)
    return {
        "title": entry.title,
        "description": text,
        "realPosition": rank,
        "link": entry.link,
        "displayUrl": address(entry.box),
        "date": date,
    }


def _has_no_results_message(root: LexborNode, q: str) -> bool:
    """Whether the page has the message that nothing was found: its box, or a heading that repeats the terms."""
    if root.css_first(NOTHING) is not None:
        return True
    terms = {folded(q), folded(attribute(root.css_first(SEARCH_BOX), "value"))} - {""}
    return any(
        folded(visible_text(part)) in terms for heading in root.css(MESSAGES) for part in heading.css("strong, b")
    )


def _is_first_page(root: LexborNode) -> bool:
    """Whether the page begins with the first result, by its count or by its row of page links."""
    count = visible_text(root.css_first(TOTAL))
    if found := RANGE.search(count):
        return found.group(1) == "1"
    if current := visible_text(root.css_first(CURRENT)):
        return current == "1"
    return root.css_first(PREVIOUS) is None and (bool(count) or root.css_first(NEXT_PAGE) is not None)
