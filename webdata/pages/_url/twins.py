"""Texts that stand twice in one line, for eyes and for screen readers, and facts without a space between them.

Style sheets hide one of two texts and set the facts of a line apart; without them the words would run together.
"""

from collections.abc import Iterator
from itertools import pairwise

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, Weights, size

SHORTEST = 4
"""Characters from which a text that follows itself at once is a twin."""
LONGEST = 500
"""Characters of the longest twin."""
INLINE = frozenset(["a", "b", "em", "i", "small", "span", "strong"])
LISTED = frozenset(["code", "kbd", "math", "pre", "ruby", "samp", "sub", "sup", "svg", "tt", "var"])
"""Elements in which each character counts."""
SENTENCES = frozenset(["a", "h1", "h2", "h3", "h4", "h5", "h6", "p"])
FEW = 2
LETTERS = 3
"""Characters of the mean fact in a line; parts of words that are shown one by one are shorter."""


def twins(weights: Weights) -> Iterator[HtmlElement]:
    """The elements within lines with the text that stands right before them, without a space between."""
    listed = _listed(weights.elements)
    for element in weights.elements[1:]:
        if element.tag not in INLINE or element in listed or not SHORTEST <= weights.text[element] <= LONGEST:
            continue
        if (text := _whole(element)) and text == _text_before(element):
            yield element


def set_apart(elements: list[HtmlElement]) -> None:
    """Put, in place, a space between the neighbouring facts of a line: `2026`, `1h 54m`."""
    listed = _listed(elements)
    for around in elements:
        if around.tag in SENTENCES or around in listed:
            continue
        facts = _facts(around)
        for fact, following in pairwise(facts):
            if _begins_anew(_whole(fact), _whole(following)):
                fact.tail = fact.tail or " "


def _facts(around: HtmlElement) -> list[HtmlElement]:
    """All that is in an element, if that is elements of one class, each with a text of its own."""
    facts = [child for child in around if child.tag == "span" and child.get("class") and not size(child.tail)]
    if len(facts) < FEW or len(facts) != len(around) or len({fact.get("class") for fact in facts}) > 1:
        return []
    return facts if sum(len(_whole(fact)) for fact in facts) >= LETTERS * len(facts) else []


def _begins_anew(before: str, after: str) -> bool:
    """Whether a text is no part of the word before it."""
    if not before or not after or before[-1].isupper():
        return False
    return after[0].isupper() or after[0].isdigit()


def _listed(elements: list[HtmlElement]) -> set[HtmlElement | None]:
    found: set[HtmlElement | None] = set()
    for element in elements:
        if element.tag in LISTED or element.getparent() in found:
            found.add(element)
    return found


def _whole(element: HtmlElement) -> str:
    return element.text_content().strip() if len(element) < FEW else ""


def _text_before(element: HtmlElement) -> str:
    """The text right before an element in its line: that of the element before it, or that around it."""
    before, around = element.getprevious(), element.getparent()
    if before is None:
        return (around.text or "").lstrip() if around is not None else ""
    if before.tail:
        return before.tail.lstrip()
    return "" if before.tag in BLOCKS else _whole(before)
