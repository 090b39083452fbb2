"""Text ads: a heading inside a link, in an area for ads."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from webdata.domain.records import Ad, AdMetadata, Area, Sitelink
from webdata.pages._elements import attribute, enclosing, hidden, lines, visible_text
from webdata.pages._google.links import advertised, host, is_paid
from webdata.pages._google.tree import GooglePage, Mark, Ordered
from webdata.pages._text import clean, count, price, rating

AREAS = ("text_ad", "ad_area")
TOP = ("tads", "tvcap", "taw", "atvcap")
BOTTOM = ("tadsb", "bottomads")
NOT_TEXT = ("carousel", "popup", "product_ad", "question")
OLD_HEAD = "ad_cclk"
DESCRIPTION = ".Va3FIb.r025kc, .MUxGbd.yDYNvb, .ads-creative, .yDYNvb"
ADDRESS = "[data-dtld], cite, .qzEoUe, .ob9lvb, .Zu0yb"
STARS = "[role=img][aria-label], g-review-stars [aria-label], .z3HNkc"
MOST_LINKS = 20
"""Marks after an old heading among which its link is looked for; a heading has two links."""
REVIEWS = re.compile(r"\(([\d.,KkM]+)\)")


class Head(NamedTuple):
    """The heading of an ad, and its link."""

    mark: Mark
    anchor: Mark


def heads(page: GooglePage) -> list[Head]:
    """The headings of the text ads of the page, in order."""
    headings = page.of("heading")
    current = [Head(mark, anchor) for mark in headings if (anchor := _anchor(mark)) is not None]
    return current or [Head(mark, anchor) for mark in headings if (anchor := _old_anchor(page, mark)) is not None]


def text_ads(page: GooglePage, ad_heads: list[Head], first_result: int) -> Ordered[Ad]:
    """The text ads with a title and an address.

    One outside the named areas is at the top if its order is before `first_result`.
    """
    found = ((head.mark.order, _ad(page, head.mark, head.anchor, first_result)) for head in ad_heads)
    return [(order, ad) for order, ad in found if ad["link"] and ad["title"]]


def _anchor(heading: Mark) -> Mark | None:
    """The link of the ad that a heading belongs to; None for a heading of no ad."""
    anchor = heading.within("link", "heading")
    if anchor is None or "link" not in anchor.kinds or not anchor.attribute("href") or heading.is_within(NOT_TEXT):
        return None
    return anchor if heading.is_within(AREAS) or is_paid(anchor.node) else None


def _old_anchor(page: GooglePage, heading: Mark) -> Mark | None:
    """Early in 2018 the link was inside the heading, after a hidden one for the tracker."""
    if not heading.is_within(AREAS) or OLD_HEAD not in attribute(heading.node.parent, "class").split():
        return None
    inside = page.marks[heading.order + 1 : heading.order + 1 + MOST_LINKS]
    links = (mark for mark in inside if "link" in mark.kinds and mark.around is heading)
    return next((mark for mark in links if visible_text(mark.node) and not hidden(mark.node)), None)


def _ad(page: GooglePage, heading: Mark, anchor: Mark, first_result: int) -> Ad:
    box = _box(page, heading, anchor)
    link = advertised(anchor.node) or ""
    address = visible_text(anchor.node.css_first(ADDRESS)) or visible_text(box.css_first(ADDRESS))
    return {
        "position": 0,
        "realPosition": 0,
        "area": _area(heading, first_result),
        "title": visible_text(heading.node),
        "description": _description(box, heading),
        "link": link,
        "display_url": address or host(link),
        "sitelinks": list(_sitelinks(box, anchor)),
        "metadata": _metadata(box),
    }


def _area(heading: Mark, first_result: int) -> Area:
    area = attribute(enclosing(heading.node, "id", *TOP, *BOTTOM), "id")
    if area:
        return "bottom" if area in BOTTOM else "top"
    return "top" if heading.order < first_result else "bottom"


def _box(page: GooglePage, heading: Mark, anchor: Mark) -> LexborNode:
    """The box of an ad: the one marked as such, else the largest that contains no other block."""
    area = heading.within("text_ad")
    return area.node if area is not None else page.box(anchor.node)


def _description(box: LexborNode, heading: Mark) -> str:
    for node in box.css(DESCRIPTION):
        text = visible_text(node)
        if text and text != visible_text(heading.node) and node.css_first("a") is None:
            return text
    below = False
    for line in lines(box):
        if below and len(line) > 40:
            return line
        below = below or line == visible_text(heading.node)
    return ""


def _sitelinks(box: LexborNode, title: Mark) -> Iterator[Sitelink]:
    own = visible_text(title.node)
    for anchor in box.css("a[href]"):
        text = visible_text(anchor)
        link = advertised(anchor)
        if text and link and text != own and anchor != title.node and _is_ad_link(anchor):
            yield {"title": text, "link": link}


def _is_ad_link(anchor: LexborNode) -> bool:
    marked = not anchor.attributes.keys().isdisjoint(("data-al", "data-ae"))
    return (marked or is_paid(anchor)) and anchor.css_first("[role=heading], h3, img") is None


def _metadata(box: LexborNode) -> AdMetadata:
    metadata: AdMetadata = {}
    stars = box.css_first(STARS)
    value = rating(attribute(stars, "aria-label")) if stars is not None else None
    if stars is not None and value is not None:
        metadata["rating"] = value
        reviews = REVIEWS.search(visible_text(stars.parent.parent if stars.parent is not None else stars))
        if reviews and (number := count(reviews.group(1))) is not None:
            metadata["reviews"] = number
    if phone := attribute(box.css_first('a[href^="tel:"]'), "href").removeprefix("tel:"):
        metadata["phone"] = clean(phone)
    if (shown_price := price(visible_text(box.css_first(".T4OwTb, .e10twf")))) is not None:
        metadata["price"] = shown_price.text
    return metadata
