"""The text of a card: the row around an element, and the lines of text in it."""

from collections.abc import Collection

from selectolax.lexbor import LexborNode

from webdata.pages._elements import BLOCKS, DEPTH, UNSEEN, ancestry, attribute
from webdata.pages._text import clean

EDGE = "\0"
"""The end of a line; no parsed page has it in a text."""


def within(node: LexborNode, name: str) -> LexborNode | None:
    """The nearest element of a class around one."""
    return next((around for around in ancestry(node) if name in attribute(around, "class").split()), None)


def lines(node: LexborNode, without: Collection[int]) -> list[str]:
    """The text of an element, a line for each block, without the elements whose `mem_id` is in `without`.

    The texts of two elements are separated by a space, whether the page has one or not.
    """
    pieces: list[str] = []
    _collect(node, pieces, without, DEPTH)
    return [clean(line) for line in " ".join(pieces).split(EDGE) if line and not line.isspace()]


def _collect(node: LexborNode, pieces: list[str], without: Collection[int], depth: int) -> None:
    child = node.first_child
    while child is not None:
        tag = child.tag
        if tag == "-text":
            text = child.text_content or ""
            if not text.isspace():
                pieces.append(text)
        elif child.mem_id not in without and tag not in UNSEEN and depth:
            if tag in BLOCKS:
                pieces.append(EDGE)
                _collect(child, pieces, without, depth - 1)
                pieces.append(EDGE)
            else:
                _collect(child, pieces, without, depth - 1)
        child = child.next
