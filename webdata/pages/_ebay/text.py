"""The visible text of a part of a card."""

from collections.abc import Collection

from selectolax.lexbor import LexborNode

from webdata.pages._elements import UNSEEN
from webdata.pages._text import clean

DEPTH = 40
"""Levels, more than any card has; a damaged page may nest deeper."""
UNSEEN_CLASSES = frozenset(
    {
        "clipped",
        "s-clipped",
        "tooltip__overlay",
        "infotip__overlay",
        "s-card__sep",
        "s-item__sep",
        "s-card__new-listing",
        "LIGHT_HIGHLIGHT",
    }
)
"""Text for screen readers, tooltips, the label of an ad (hidden in decoys), the label "New listing"."""


def line(node: LexborNode | None, *, glue: str = " ", without: Collection[int] = ()) -> str:
    """The visible text of an element, its pieces joined by `glue`, without elements whose `mem_id` is in `without`."""
    pieces: list[str] = []
    if node is not None:
        _collect(node, pieces, without, DEPTH)
    return clean(glue.join(pieces))


def is_unseen(node: LexborNode) -> bool:
    """Whether an element itself is not displayed."""
    if node.tag in UNSEEN:
        return True
    attributes = node.attributes
    classes, style = attributes.get("class"), attributes.get("style")
    named = classes is not None and not UNSEEN_CLASSES.isdisjoint(classes.split())
    return named or (style is not None and "display:none" in style.replace(" ", ""))


def _collect(node: LexborNode, pieces: list[str], without: Collection[int], depth: int) -> None:
    child = node.first_child
    while child is not None:
        if child.tag == "-text":
            pieces.append(child.text_content or "")
        elif depth and child.mem_id not in without and not is_unseen(child):
            _collect(child, pieces, without, depth - 1)
        child = child.next
