"""Headed groups of items in the main column: top stories, videos, images, products, and the like.

A carousel is a second-level heading and the links below it, up to the next block of the page. Its type follows from
attributes of its facts, else from terms in its title, else from its items (article ids, durations, prices).
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.domain.records import Carousel, CarouselItem
from webdata.pages._elements import ancestry, attribute, hidden, image, lines, separate_boxes, texts, visible_text
from webdata.pages._google.carousel_types import FACT_ENDINGS, SOCIAL_SITES, TITLE_TERMS
from webdata.pages._google.links import ENTITY, host, outside, target
from webdata.pages._google.related import suggestions
from webdata.pages._google.tree import Mark, Ordered, Page
from webdata.pages._text import clean, date, duration, price, rating

EXCLUDED = (
    "link", "question", "questions", "text_ad", "ad_area", "product_ad",
    "aside", "popup", "ai_text", "dictionary", "foot", "result_box",
)  # fmt: skip
SECTION = "g-section-with-header"

ARTICLE = "WlydOe"
SOURCE = ".MgUUmf span, .NUnG9d span, .CEMjEf, .R8BTeb, .XTjFC"
MOMENT_OF = "data-time"
"""An attribute of the links to a moment of a video."""
MOMENT = re.compile(r"[?&]t=\d+")
"""The parameter that a link to a moment adds to the link of the video."""

PICTURES = "[data-docid], [data-preview-id]"


def headings(page: Page) -> list[Mark]:
    """The second-level headings that start a block, without the title of the knowledge panel."""
    return [mark for mark in page.of("heading") if _starts_block(mark) and not page.is_hidden(mark.node)]


def _starts_block(mark: Mark) -> bool:
    if "fact" in mark.kinds or mark.is_within(("link", "popup")):
        return False
    level = mark.attribute("aria-level")
    return level == "2" or (
        not level and mark.node.tag == "h3" and any(node.tag == SECTION for node in ancestry(mark.node))
    )


def carousels(page: Page) -> Ordered[Carousel]:
    """The carousels of the page, each with its order."""
    headed: Ordered[Carousel] = []
    for heading in headings(page):
        if not heading.is_within(EXCLUDED) and (carousel := _carousel(page, heading)):
            headed.append((heading.order, carousel))
    headed += _plain_stories(page)
    return sorted(headed, key=lambda pair: pair[0])


def _carousel(page: Page, heading: Mark) -> Carousel | None:
    root = page.box(heading.node)
    marks = _marks_in(page, heading, root)
    if any("dictionary" in mark.kinds for mark in marks) or suggestions(marks):
        return None
    items = list(_items(page, marks, root))
    title = visible_text(heading.node)
    kind = _type(marks, title, items)
    is_row = kind != "generic" or any("carousel" in mark.kinds for mark in marks)
    return _numbered(title, kind, items) if len(items) >= (2 if is_row else 3) else None


def _numbered(title: str | None, kind: str, items: list[CarouselItem]) -> Carousel:
    for position, item in enumerate(items, 1):
        item["position"] = position
    return {"position": 0, "realPosition": 0, "title": title or None, "type": kind, "items": items}


def _marks_in(page: Page, heading: Mark, root: LexborNode) -> list[Mark]:
    """The marks after a heading, inside its box; they are consecutive, so a binary search gives the last."""
    key = root.mem_id
    first = heading.order + 1
    end = bisect_left(
        page.marks, True, lo=first, key=lambda mark: all(node.mem_id != key for node in ancestry(mark.node))
    )
    return page.marks[first:end]


def _items(page: Page, marks: list[Mark], root: LexborNode) -> Iterator[CarouselItem]:
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
            yield _fields(box, title, _item_link(group[0]))


def _item_link(mark: Mark) -> str | None:
    """The target of an item: away from Google, or a search for its entity; None for a moment of a video."""
    href = mark.attribute("href")
    if MOMENT_OF in mark.attributes:
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


def _fields(box: LexborNode, title: str, link: str | None) -> CarouselItem:
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
        "rating": _rating(box),
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


def _rating(box: LexborNode) -> float | None:
    stars = box.css_first("[role=img][aria-label], .z3HNkc, .yi40Hd")
    return rating(attribute(stars, "aria-label") or visible_text(stars)) if stars is not None else None


def _pictures(page: Page, root: LexborNode) -> Iterator[CarouselItem]:
    """The pictures of a group of images, which may have no links until scripts run."""
    for node in root.css(PICTURES):
        title = next((name for img in node.css("img[alt]") if (name := clean(attribute(img, "alt")))), "")
        if title and not page.is_hidden(node):
            yield _fields(node, title, outside(attribute(node, "data-lpage")))


def _type(marks: list[Mark], title: str, items: list[CarouselItem]) -> str:
    for attrid in (mark.attribute("data-attrid") for mark in marks if "fact" in mark.kinds):
        for ending, kind in FACT_ENDINGS.items():
            if attrid.endswith(ending):
                return kind
    low = title.casefold()
    named = next((kind for kind, terms in TITLE_TERMS.items() if any(term in low for term in terms)), None)
    return named or _type_by_items(marks, items)


def _type_by_items(marks: list[Mark], items: list[CarouselItem]) -> str:
    half = len(items) / 2
    social = sum(map(_is_social, items))
    articles = sum("story" in mark.kinds or ARTICLE in mark.classes for mark in marks)
    if articles >= half and social < half:
        return "top_stories"
    if sum(item["price"] is not None for item in items) > half:
        return "products"
    if not articles and sum(item["duration"] is not None for item in items) > half:
        return "videos"
    return "generic"


def _is_social(item: CarouselItem) -> bool:
    """Whether an item is a post, by the site of its link or, where the link is opaque, by the site in its source."""
    name, source = host(item["link"]), item["source"] or ""
    named = source.rpartition(" · ")[2].casefold() in SOCIAL_SITES.values() or source.startswith("r/")
    return named or any(name == site or name.endswith(f".{site}") for site in SOCIAL_SITES)


def _plain_stories(page: Page) -> Iterator[tuple[int, Carousel]]:
    """Top stories on the page without JavaScript: links in a box, each with its source and age below the title."""
    boxes: dict[int, list[tuple[int, CarouselItem]]] = {}
    for mark in page.of("link") if page.of("plain_box") else ():
        box = mark.within("plain_box") if outside(mark.attribute("href")) else None
        if box is not None and (item := _plain_story(mark)):
            boxes.setdefault(box.order, []).append((mark.order, item))
    for order, stories in boxes.items():
        if len(stories) > 1:
            title = next(iter(lines(page.marks[order].node)), None)
            yield stories[0][0], _numbered(title, "top_stories", [item for _, item in stories])


def _plain_story(mark: Mark) -> CarouselItem | None:
    rows = lines(mark.node)
    parts = [*mark.node.text().split("\n"), *(part for row in rows[1:] for part in row.split("·"))]
    day = next((text for part in parts if (text := date(part))), None)
    if not rows or day is None:
        return None
    item = _fields(mark.node, rows[0], outside(mark.attribute("href")))
    item["date"] = day
    item["source"] = clean(rows[-1].removesuffix(day)).strip(" ·") or None
    return item
