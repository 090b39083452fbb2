"""The items of a carousel: links to them in boxes of their own, or pictures."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.domain.records import Carousel, CarouselItem, CarouselType
from webdata.pages._elements import attribute, hidden, image, labelled_text, lines, separate_boxes, texts, visible_text
from webdata.pages._google.links import ENTITY, is_paid, outside, target
from webdata.pages._google.tree import GooglePage, Mark
from webdata.pages._text import clean, date, duration, price, rating

STARS = "[role=img][aria-label], .z3HNkc, .yi40Hd"
SOURCE = ".MgUUmf span, .NUnG9d span, .CEMjEf, .R8BTeb, .XTjFC"
MOMENT_OF = "data-time"
"""An attribute of the links to a moment of a video."""
MOMENT = re.compile(r"[?&]t=\d+")
"""The parameter that a link to a moment adds to the link of the video."""

PICTURES = "[data-docid], [data-preview-id]"


def numbered(title: str | None, kind: CarouselType, items: list[CarouselItem]) -> Carousel:
    """A carousel of these items; the caller sets its ranks."""
    for position, item in enumerate(items, 1):
        item["position"] = position
    return {"position": 0, "realPosition": 0, "title": title or None, "type": kind, "items": items}


def items_of(page: GooglePage, marks: list[Mark], root: LexborNode) -> Iterator[CarouselItem]:
    """The items that the links among `marks` lead to, else the pictures under `root`."""
    links: dict[str, list[Mark]] = {}
    for mark in marks:
        if "link" in mark.kinds and "popup" not in mark.inside and (link := _item_link(mark)):
            links.setdefault(MOMENT.split(link)[0], []).append(mark)
    if not links:
        yield from _pictures(page, root)
    groups = [[mark.node for mark in group] for group in links.values()]
    for group, box in zip(links.values(), separate_boxes(groups, root, hidden), strict=True):
        title = _title(group) or next((row for row in lines(box) if duration(row) is None), "")
        if title and not page.is_hidden(box):
            yield fields(box, title, _item_link(group[0]))


def _item_link(mark: Mark) -> str | None:
    """The target of an item: away from Google, or a search for its entity; None for a moment of a video, or an ad."""
    href = mark.attribute("href")
    if MOMENT_OF in mark.attributes or is_paid(mark.node):
        return None
    return outside(href) or (target(href) if ENTITY.search(href) else None)


def _title(marks: list[Mark]) -> str:
    """The heading in any link to an item, else the first line of the longest link that is no duration or source."""
    for mark in marks:
        heading = mark.node.css_first("[role=heading], h3, h4")
        if rows := lines(heading):
            return rows[0]
    longest = max((lines(mark.node) for mark in marks), key=lambda rows: sum(map(len, rows)), default=[])
    sources = {text for mark in marks for text in texts(mark.node.css(SOURCE))}
    plain = next((row for row in longest if duration(row) is None and row not in sources), None)
    return plain or next((clean(mark.attribute("title") or mark.attribute("aria-label")) for mark in marks), "")


def fields(box: LexborNode, title: str, link: str | None) -> CarouselItem:
    """The item in a box; `numbered` sets its position."""
    rows = [row for row in lines(box) if row != title and any(map(str.isalnum, row))]
    cost = next(filter(None, map(price, rows)), None)
    return {
        "position": 0,
        "title": title,
        "link": link,
        "source": _source(box, rows),
        "date": next(
            (day for row in rows for part in row.split("·") if (day := date(part)) and duration(part) is None), None
        ),
        "image": image(box),
        "price": cost.text if cost else None,
        "rating": rating(labelled_text(box.css_first(STARS))),
        "duration": next((time for row in rows if (time := duration(row))), None),
    }


def _source(box: LexborNode, rows: list[str]) -> str | None:
    known = box.css_first(SOURCE)
    name = visible_text(known) or attribute(known.css_first("img") if known is not None else None, "alt")
    if name:
        return name
    plain = (
        row for row in rows if len(row) < 50 and not (date(row) or duration(row) or price(row)) and not row[0].isdigit()
    )
    return next(plain, None)


def _pictures(page: GooglePage, root: LexborNode) -> Iterator[CarouselItem]:
    """The pictures of a group of images, which may have no links until scripts run."""
    for node in root.css(PICTURES):
        title = next((name for img in node.css("img[alt]") if (name := clean(attribute(img, "alt")))), "")
        if title and not page.is_hidden(node):
            yield fields(node, title, outside(attribute(node, "data-lpage")))
