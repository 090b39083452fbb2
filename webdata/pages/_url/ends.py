"""What stands before and after the text of a page: bylines, teasers, tags, notes on the author.

What is no text is told by a second opinion, trafilatura's, and by how little a block says beside its links; what lies
between two paragraphs that trafilatura keeps is never in question.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from itertools import islice

import trafilatura
from lxml.html import HtmlElement

from webdata.pages._url.blocks import LISTS
from webdata.pages._url.mathematics import BACKSLASH
from webdata.pages._url.weights import BLOCKS, Weights, size

logging.getLogger("trafilatura").setLevel(logging.ERROR)  # it warns of every page that is no article

TELLING = 30
"""Characters from which a block that trafilatura keeps tells where the text begins and ends."""
WHOLE = 12
"""Characters from which a block stays because trafilatura keeps it: shorter ones are found by chance."""
AGREED = 0.5
"""The share of a page's characters that trafilatura must keep before the rest is in question."""
ARTICLE = 600
"""Characters of prose from which a page may be an article; at least half of its text is prose then."""
FAR = 200
"""Blocks within which the text must begin, and end."""
LONGEST_BEFORE, LONGEST_AFTER = 120, 200
"""Characters outside links of a block that may be left out before the text, and after it."""
NEAR = 3
"""Blocks before the text whose headings belong to it."""
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
WHOLES = ("h1", "pre", "table")
WORD = re.compile(r"\w+")

Block = tuple[HtmlElement, str]
"""An innermost block and its words."""


def trimmed(part: HtmlElement, page: HtmlElement) -> None:
    """Take out of the content of a page, in place, what stands around its text. `page` is the whole, untouched."""
    if not _is_article(part):
        return
    blocks = [*_blocks(part)]
    text = _words(trafilatura.extract(page, favor_recall=True, include_comments=False) or "")
    if len(text) < AGREED * sum(len(words) for _, words in blocks):
        return
    before, after = _until_text(blocks, text), _until_text(reversed(blocks), text)
    _leave_out(before[:-NEAR], LONGEST_BEFORE)
    _leave_out([element for element in before[-NEAR:] if element.tag not in HEADINGS], LONGEST_BEFORE)
    _leave_out(after, LONGEST_AFTER)


def _is_article(part: HtmlElement) -> bool:
    """Whether a page is prose for the most part, without formulas, which trafilatura does not see."""
    weights, text = Weights(part), part.text_content()
    return "$$" not in text and BACKSLASH not in text and weights.total >= max(ARTICLE, weights.text[part] / 2)


def _blocks(part: HtmlElement) -> Iterator[Block]:
    """The innermost blocks, tables and listings aside, which are never in question."""
    set_aside = {element for whole in part.iter(*WHOLES) for element in whole.iter("*")}
    for element in part.iter(*BLOCKS):
        if element is not part and element not in set_aside and next(element.iterdescendants(*BLOCKS), None) is None:
            words = _words(element.text_content())
            if words.strip():
                yield element, words


def _words(text: str) -> str:
    return f" {' '.join(WORD.findall(text.casefold()))} "


def _until_text(blocks: Iterable[Block], text: str) -> list[HtmlElement]:
    """The blocks before the first that tells that the text is there; none where there is no such block."""
    passed: list[HtmlElement] = []
    for element, words in islice(blocks, FAR):
        kept = words in text
        if kept and len(words) >= TELLING:
            return passed
        if not kept or len(words) < WHOLE:
            passed.append(element)
    return []


def _leave_out(elements: Iterable[HtmlElement], longest: int) -> None:
    """Take out short elements, but no part of a list without the rest of it."""
    left: dict[HtmlElement, int] = {}
    for element in [element for element in elements if _said(element) < longest and not _is_note(element)]:
        outer = next((around for around in reversed([*element.iterancestors()]) if around.tag in LISTS), None)
        if outer is None:
            element.drop_tree()
        else:
            left[outer] = left.get(outer, _length(outer)) - _length(element)
    for outer, length in left.items():
        if not length:
            outer.drop_tree()


def _length(element: HtmlElement) -> int:
    return sum(len(word) for word in element.text_content().split())


def _is_note(element: HtmlElement) -> bool:
    return element.text_content().lstrip().startswith("[^")


def _said(element: HtmlElement) -> float:
    """How much a block tells outside its links."""
    return size(element.text_content()) - sum(size(link.text_content()) for link in element.iter("a"))
