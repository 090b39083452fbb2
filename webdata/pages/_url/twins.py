"""Texts that stand twice in one line, for eyes and for screen readers, and facts without a space between them.

Style sheets hide one of two texts and set the facts of a line apart; without them the words would run together.
"""

from collections.abc import Iterator
from itertools import groupby, islice, pairwise
from unicodedata import category

from lxml.html import HtmlElement

from webdata.pages._url.weights import BLOCKS, Weights, size

MOST_INNER = 10
"""Elements in a short text, as of a price."""
MONEY = "Sc"
"""The category of signs of currencies. https://www.unicode.org/reports/tr44/#General_Category_Values"""
SHORTEST = 4
"""Characters from which a text that follows itself at once is a twin."""
LONGEST = 500
"""Characters of the longest twin."""
INLINE = frozenset(["a", "b", "em", "i", "small", "span", "strong"])
LISTED = frozenset(["code", "kbd", "math", "pre", "ruby", "samp", "sub", "sup", "svg", "tt", "var"])
"""Elements in which each character counts."""
FACTS = frozenset(["a", "span"])
SENTENCES = frozenset(["p"])
FEW = 2
ORDINAL = 2
"""Letters behind the digits of an ordinal."""
ENDS = frozenset(".!?)")
LETTERS = 3
"""Characters of the mean fact in a line; parts of words that are shown one by one are shorter."""


def twins(weights: Weights) -> Iterator[HtmlElement]:
    """The elements within lines with the text that stands right before them, without a space between."""
    listed = _listed(weights.elements)
    for element in weights.elements[1:]:
        if element.tag not in INLINE or element in listed or not SHORTEST <= weights.text[element] <= LONGEST:
            continue
        before = _text_before(element)
        if (before and before == _whole(element)) or _is_read_aloud(element):
            yield element


def is_small(element: HtmlElement) -> bool:
    """Whether an element is around few others."""
    return next(islice(element.iterdescendants(), MOST_INNER, None), None) is None


def line(element: HtmlElement) -> str:
    """The text of an element in one line."""
    return " ".join(element.text_content().split())


def _is_read_aloud(element: HtmlElement) -> bool:
    """Whether an element says the numbers of the one right before it, which screen readers leave out.

    https://www.w3.org/TR/wai-aria-1.2/#aria-hidden
    """
    before = element.getprevious()
    if before is None or before.get("aria-hidden") != "true" or size(before.tail) or not is_small(before):
        return False
    shown = line(before)
    return len(shown) <= LONGEST and _numbers(shown) == _numbers(_whole(element)) != ""


def _numbers(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit() or sign == "%")


def set_apart(elements: list[HtmlElement]) -> None:
    """Put, in place, a space between the neighbouring facts of a line: `2026`, `1h 54m`; `$98.00`, `Was $130.00`.

    And between a fact and what it is: `Published by:`, `Valve`.
    """
    listed = _listed(elements)
    for around in elements:
        if around.tag in SENTENCES or around in listed:
            continue
        for fact, following in _neighbours(around) if len(around) >= FEW else ():
            if _begins_anew(fact, following):
                fact.tail = fact.tail or " "
        if len(around) == 1 and _is_named(around):
            around.text = f"{around.text} "


def _neighbours(around: HtmlElement) -> Iterator[tuple[HtmlElement, HtmlElement]]:
    """The facts in an element, each with the next one: elements of a line without a text or a block between them."""
    for is_run, children in groupby(around, key=lambda child: child.tag not in BLOCKS and not size(child.tail)):
        facts = [child for child in children if child.tag in FACTS] if is_run else []
        if len(facts) >= FEW:
            facts = [fact for fact in facts if size(fact.text_content())]
        if len(facts) >= FEW and sum(len(_whole(fact)) for fact in facts) >= LETTERS * len(facts):
            yield from pairwise(facts)


def _is_named(around: HtmlElement) -> bool:
    """Whether an element with another is a name with a colon and a fact in that."""
    text = around.text or ""
    if around[0].tag not in FACTS or size(around[0].tail) or text[-2:-1] in ("", ":", " "):
        return False
    fact = _whole(around[0])
    return text[-1] == ":" and text[-2].isalpha() and bool(fact) and _is_beginning(fact[0])


def _begins_anew(fact: HtmlElement, following: HtmlElement) -> bool:
    """Whether a text is no part of the word before it, nor its twin; a name with a colour for each part is one word."""
    before, after = _whole(fact), _whole(following)
    if not before or not after or before == after:
        return False
    is_alike = bool(fact.get("class")) and fact.get("class") == following.get("class")
    if not _is_beginning(after[0]):
        return not is_alike and _is_counted(before, after)
    if is_alike:
        return not before[-1].isupper()
    several = _is_several(before) + _is_several(after)
    return (before[-1].isalnum() or before[-1] in ENDS) and several > (1 if before[-1].isupper() else 0)


def _is_counted(before: str, after: str) -> bool:
    """Whether words follow a number of them, `86x`, `years in business`; an ordinal ends with two letters: `10th`."""
    words = after.split()
    return before.rsplit(maxsplit=1)[-1][0].isdigit() and len(words) > 1 and len(words[0]) > ORDINAL


def _is_beginning(sign: str) -> bool:
    return sign.isupper() or sign.isdigit() or category(sign) == MONEY


def _is_several(text: str) -> bool:
    """Whether a text is more than one word without a number."""
    return any(sign.isspace() or sign.isdigit() for sign in text)


def _listed(elements: list[HtmlElement]) -> set[HtmlElement | None]:
    found: set[HtmlElement | None] = set()
    for element in elements:
        if element.tag in LISTED or element.getparent() in found:
            found.add(element)
    return found


def _whole(element: HtmlElement) -> str:
    """The text of an element that is in it or in one of the few elements in it; an icon beside it has none."""
    is_one = len(element) < FEW or (len(element) == FEW and not all(size(child.text_content()) for child in element))
    return element.text_content().strip() if is_one else ""


def _text_before(element: HtmlElement) -> str:
    """The text right before an element in its line: that of the element before it, or that around it."""
    before, around = element.getprevious(), element.getparent()
    if before is None:
        return (around.text or "").lstrip() if around is not None else ""
    if before.tail:
        return before.tail.lstrip()
    return "" if before.tag in BLOCKS else _whole(before)
