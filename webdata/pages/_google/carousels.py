"""Headed groups of items in the main column: top stories, videos, images, products, and the like.

A carousel is a second-level heading and the links below it, up to the next block of the page. Its type follows from
attributes of its facts, else from terms in its title, else from its items (article ids, durations, prices).
"""

from bisect import bisect_left
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from webdata.domain.records import Carousel, CarouselItem, CarouselType
from webdata.pages._elements import ancestry, lines, visible_text
from webdata.pages._google.carousel_items import fields, items_of, numbered
from webdata.pages._google.carousel_types import FACT_ENDINGS, SOCIAL_SITES, TITLE_TERMS
from webdata.pages._google.image_packs import image_packs
from webdata.pages._google.links import host, outside
from webdata.pages._google.related import suggestions
from webdata.pages._google.related_tiles import related_tiles
from webdata.pages._google.tree import GooglePage, Mark, Ordered
from webdata.pages._text import clean, date

EXCLUDED = (
    "link", "question", "questions", "text_ad", "ad_area", "product_ad",
    "aside", "popup", "ai_text", "dictionary", "foot", "result_box",
)  # fmt: skip
SECTION = "g-section-with-header"

ARTICLE = "WlydOe"
CLIPPED = "clip:"
"""In the style of a heading for screen readers, such as that of the filters above the pictures of a group."""


def headings(page: GooglePage) -> list[Mark]:
    """The second-level headings that start a block, without the title of the knowledge panel."""
    return [mark for mark in page.of("heading") if _starts_block(mark) and not page.is_hidden(mark.node)]


def _starts_block(mark: Mark) -> bool:
    if "fact" in mark.kinds or mark.is_within(("link", "popup", "heading")):
        return False
    if CLIPPED in mark.attribute("style"):
        return False
    level = mark.attribute("aria-level")
    return level == "2" or (
        not level and mark.node.tag == "h3" and any(node.tag == SECTION for node in ancestry(mark.node))
    )


def carousels(page: GooglePage) -> Ordered[Carousel]:
    """The carousels of the page, each with its order."""
    headed: Ordered[Carousel] = []
    for heading in headings(page):
        if not heading.is_within(EXCLUDED) and (carousel := _carousel(page, heading)):
            headed.append((heading.order, carousel))
    headed += [*_plain_stories(page), *image_packs(page), *related_tiles(page)]
    return sorted(headed, key=lambda pair: pair[0])


def _carousel(page: GooglePage, heading: Mark) -> Carousel | None:
    root = page.box(heading.node)
    marks = _marks_in(page, heading, root)
    if any(not mark.kinds.isdisjoint(("dictionary", "images")) for mark in marks) or suggestions(marks):
        return None
    items = list(items_of(page, marks, root))
    title = visible_text(heading.node)
    kind = _type(marks, title, items)
    is_row = kind != "generic" or any("carousel" in mark.kinds for mark in marks)
    return numbered(title, kind, items) if len(items) >= (2 if is_row else 3) else None


def _marks_in(page: GooglePage, heading: Mark, root: LexborNode) -> list[Mark]:
    """The marks after a heading, inside its box; they are consecutive, so a binary search gives the last."""
    key = root.mem_id
    first = heading.order + 1
    end = bisect_left(
        page.marks, True, lo=first, key=lambda mark: all(node.mem_id != key for node in ancestry(mark.node))
    )
    return page.marks[first:end]


def _type(marks: list[Mark], title: str, items: list[CarouselItem]) -> CarouselType:
    for attrid in (mark.attribute("data-attrid") for mark in marks if "fact" in mark.kinds):
        for ending, kind in FACT_ENDINGS.items():
            if attrid.endswith(ending):
                return kind
    low = title.casefold()
    named = next((kind for kind, terms in TITLE_TERMS.items() if any(term in low for term in terms)), None)
    return named or _type_by_items(marks, items)


def _type_by_items(marks: list[Mark], items: list[CarouselItem]) -> CarouselType:
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


def _plain_stories(page: GooglePage) -> Iterator[tuple[int, Carousel]]:
    """Top stories on the page without JavaScript: links in a box, each with its source and age below the title."""
    boxes: dict[int, list[tuple[int, CarouselItem]]] = {}
    for mark in page.of("link") if page.of("plain_box") else ():
        box = mark.within("plain_box") if outside(mark.attribute("href")) else None
        if box is not None and (item := _plain_story(mark)):
            boxes.setdefault(box.order, []).append((mark.order, item))
    for order, stories in boxes.items():
        if len(stories) > 1:
            title = next(iter(lines(page.marks[order].node)), None)
            yield stories[0][0], numbered(title, "top_stories", [item for _, item in stories])


def _plain_story(mark: Mark) -> CarouselItem | None:
    rows = lines(mark.node)
    parts = [*mark.node.text().split("\n"), *(part for row in rows[1:] for part in row.split("·"))]
    day = next((text for part in parts if (text := date(part))), None)
    if not rows or day is None:
        return None
    item = fields(mark.node, rows[0], outside(mark.attribute("href")))
    item["date"] = day
    item["source"] = clean(rows[-1].removesuffix(day)).strip(" ·") or None
    return item
