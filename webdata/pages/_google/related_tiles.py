"""Boxes of related entities below the results: tiles, each a link to the search for an entity, under one label."""

from collections.abc import Iterator
from itertools import groupby, islice

from webdata.domain.records import Carousel, CarouselItem
from webdata.pages._elements import ancestry, lines, text_before, visible_text
from webdata.pages._google.carousel_items import fields, numbered
from webdata.pages._google.links import ENTITY, target
from webdata.pages._google.tree import GooglePage, Mark
from webdata.pages._text import clean

EXCLUDED = ("aside", "popup", "carousel", "fact", "question", "questions", "text_ad", "product_ad")
LEAST_TILES = 2
"""The least number of tiles in a row."""


def related_tiles(page: GooglePage) -> Iterator[tuple[int, Carousel]]:
    """The boxes of tiles in the foot of the page, each with its order."""
    for key, group in groupby(page.of("link"), key=_row):
        tiles = list(group) if key is not None else []
        items = [item for mark in tiles if not page.is_hidden(mark.node) and (item := _tile(mark))]
        if len(items) >= LEAST_TILES:
            yield tiles[0].order, numbered(_label(tiles[0]), "generic", items)


def _row(mark: Mark) -> int | None:
    """The element around a tile; None for a link that is none: it has a picture, and leads to an entity."""
    if "foot" not in mark.inside or mark.is_within(EXCLUDED) or not ENTITY.search(mark.attribute("href")):
        return None
    return mark.node.parent.mem_id if mark.node.css_first("img") is not None and mark.node.parent is not None else None


def _tile(mark: Mark) -> CarouselItem | None:
    """An entity; the text of its tile may be cut, its label is not."""
    name = clean(mark.attribute("title") or mark.attribute("aria-label")) or visible_text(mark.node)
    item = fields(mark.node, name, target(mark.attribute("href")))
    return {**item, "source": None} if name else None


def _label(mark: Mark) -> str | None:
    """The text of the button before a row of tiles, which folds it."""
    labels = (lines(text_before(around)) for around in islice(ancestry(mark.node), 1, 4))
    return next((rows[0] for rows in labels if rows), None)
