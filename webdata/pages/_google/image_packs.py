"""Groups of pictures among the results ("Images for …"): their place has an id since 2019, their links lead to views.

The page without JavaScript has the links alone.
"""

from collections.abc import Iterator
from itertools import groupby, islice

from selectolax.lexbor import LexborNode

from webdata.domain.records import Carousel, CarouselItem
from webdata.pages._elements import ancestry, attribute, visible_text
from webdata.pages._google.carousel_items import fields, items_of, numbered
from webdata.pages._google.links import outside
from webdata.pages._google.tree import GooglePage, Mark, Ordered
from webdata.pages._text import clean
from webdata.pages._urls import query, split

VIEW = "/imgres?"
"""In a link to the view of a picture, which names the page that has it."""
SEARCH = ("tbm=isch", "udm=2")
"""In a link to the search for images."""
TITLES = "h2, h3, [role=heading], " + ", ".join(f'a[href*="{mark}"]:not([role=button])' for mark in SEARCH)
AROUND = 6
"""Elements around the pictures in which their title is looked for."""
LEAST_PLAIN = 3
"""The least number of pictures in a row on the page without JavaScript."""


def image_packs(page: GooglePage) -> Ordered[Carousel]:
    """The groups of pictures of the page, each with its order."""
    packs = [(mark.order, pack) for mark in page.of("images") if (pack := _pack(page, mark))]
    return packs or list(_plain_packs(page))


def _pack(page: GooglePage, mark: Mark) -> Carousel | None:
    marks = [inner for inner in page.of("link") if mark in inner.outer()]
    views = [link for link in marks if _page_of_view(link)]
    items = [_view(link) for link in views] or list(items_of(page, marks, mark.node))
    return numbered(_title(page, mark), "images", items) if items else None


def _view(mark: Mark) -> CarouselItem:
    """A picture, by the link to its view: its `alt`, else its address, is its title."""
    link = _page_of_view(mark)
    named = next((text for node in mark.node.css("img") if (text := clean(attribute(node, "alt")))), "")
    return fields(mark.node, visible_text(mark.node) or named or link or "", link)


def _page_of_view(mark: Mark) -> str | None:
    """The page of a picture that a link to its view names; until 2019 the title of the picture was the address."""
    href = mark.attribute("href")
    parts = split(href) if VIEW in href else None
    if parts:
        return outside(query(parts).get("imgrefurl"))
    picture = mark.node.css_first("img[title]") if _is_search(mark) else None
    return outside(attribute(picture, "title")) if picture is not None else None


def _title(page: GooglePage, mark: Mark) -> str | None:
    """The title above the pictures: the nearest heading or link to the search for images that is not among them."""
    for around in islice(ancestry(mark.node), 1, AROUND):
        if page.count(around) > 1:
            return None
        titles = (node for node in around.css(TITLES) if not _is_in(node, mark.node))
        if text := next(filter(None, map(visible_text, titles)), ""):
            return text
    return None


def _is_in(node: LexborNode, outer: LexborNode) -> bool:
    key = outer.mem_id
    return any(around.mem_id == key for around in ancestry(node))


def _plain_packs(page: GooglePage) -> Iterator[tuple[int, Carousel]]:
    """The rows of links to views of pictures, each with the link to the search for images before it as its title."""
    for box, group in groupby(page.of("link"), key=_plain_box):
        views = list(group)
        if box is None or len(views) < LEAST_PLAIN:
            continue
        before = [link for link in page.of("link") if link.order < views[0].order and box in link.outer()]
        titles = [visible_text(link.node) for link in before if _is_search(link)]
        yield views[0].order, numbered(next(filter(None, titles), None), "images", [_view(mark) for mark in views])


def _plain_box(mark: Mark) -> Mark | None:
    box = mark.within("plain_box")
    return box if box is not None and _page_of_view(mark) else None


def _is_search(mark: Mark) -> bool:
    return any(name in mark.attribute("href") for name in SEARCH)
