"""What stands before and after the text of a page: bylines, teasers, tags, notes on the author.

What is no text is told by a second opinion, trafilatura's, and by how little a block says beside its links; what lies
between two paragraphs that trafilatura keeps is never in question.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import trafilatura
from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, size

TELLING = 30
"""Characters from which a block that trafilatura keeps tells where the text begins and ends."""
WHOLE = 12
"""Characters from which a block stays because trafilatura keeps it: shorter ones are found by chance."""
AGREED = 0.3
"""The share of a page's characters that both must keep before the rest is in question."""
LONGEST_BEFORE, LONGEST_AFTER = 120, 200
"""Characters outside links of a block that may be left out before the text, and after it."""
NEAR = 3
"""Blocks before the text whose headings belong to it."""
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
KEPT = frozenset(["h1", "pre", "th"])
WORD = re.compile(r"\w+")


class Block(NamedTuple):
    """An innermost block, its words, and whether trafilatura keeps them."""

    element: HtmlElement
    words: str
    kept: bool


def trimmed(part: HtmlElement, page: HtmlElement) -> None:
    """Take out of the content of a page, in place, what stands around its text."""
    text = trafilatura.extract(page, favor_recall=True, include_comments=False)
    blocks = [*_blocks(part, f" {_words(text or '')} ")]
    telling = [at for at, block in enumerate(blocks) if block.kept and len(block.words) >= TELLING]
    if not telling or sum(len(blocks[at].words) for at in telling) < AGREED * sum(len(block.words) for block in blocks):
        return
    first, last = telling[0], telling[-1]
    _leave_out(blocks[: max(first - NEAR, 0)], LONGEST_BEFORE)
    near = blocks[max(first - NEAR, 0) : first]
    _leave_out([block for block in near if block.element.tag not in HEADINGS], LONGEST_BEFORE)
    _leave_out(blocks[last + 1 :], LONGEST_AFTER)


def _blocks(part: HtmlElement, text: str) -> Iterator[Block]:
    for element in part.iter(*BLOCKS):
        if element is not part and next(element.iterdescendants(*BLOCKS), None) is None:
            words = _words(element.text_content())
            if words:
                yield Block(element, words, len(words) >= WHOLE and f" {words} " in text)


def _words(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


def _leave_out(blocks: list[Block], longest: int) -> None:
    for element, _, kept in blocks:
        if not kept and not _stays(element) and _said(element) < longest:
            element.drop_tree()


def _stays(element: HtmlElement) -> bool:
    return element.tag in KEPT or element.text_content().lstrip().startswith("[^")


def _said(element: HtmlElement) -> float:
    """How much a block tells outside its links."""
    return size(element.text_content()) - sum(size(link.text_content()) for link in element.iter("a"))
