"""Prices of a page: which parts are prices, which are said twice, and those written in several blocks."""

import re
from collections.abc import Iterator
from itertools import islice
from unicodedata import category

from lxml.html import HtmlElement

from webdata.pages._text import price
from webdata.pages._url.dropping import drop
from webdata.pages._url.twins import LISTED, MONEY, MOST_INNER, is_small, line
from webdata.pages._url.weights import BLOCKS, PROSE, Weights, size

LONGEST_PRICE = 40
MOST_LEVELS = 4
"""Elements around the sign of a currency within its price."""
PRICE = re.compile(r"\D\d{1,3}(?:[.,]?\d{3}){0,3}(?:[.,]\d\d)?(?:/\w{1,6}\*?)?")
"""A price without spaces, perhaps for a time: `$549.00`, `$49/mo`."""
DIGITS = re.compile(r"\d")
APART = frozenset(["div", "p", "sup"])
"""Elements that set the sign or the cents of a price apart."""
PIECES = APART | {"b", "small", "strong"}
PRICED = frozenset(["dd", "div", "ins", "p", "span", "strong"])


def is_price(element: HtmlElement, weights: Weights) -> bool:
    """Whether an element is little more than a price."""
    if not 0 < weights.text[element] < PROSE:
        return False
    found = price(" ".join(element.itertext()))
    return found is not None and found.currency is not None and found.amount > 0


def free_prices(around: HtmlElement, weights: Weights) -> Iterator[HtmlElement]:
    """The innermost elements with a price in an element, but none in a link, as those of other products are."""
    linked = {inner for link in around.iter("a") for inner in link.iter("*")}
    for inner in around.iter("*"):
        is_free = inner not in linked and is_price(inner, weights)
        if is_free and not any(is_price(child, weights) for child in inner):
            yield inner


def repeated_prices(weights: Weights) -> Iterator[HtmlElement]:
    """The parts with the price of the one right before them but another class: that with and without a sale."""
    for element in weights.elements[1:]:
        before = element.getprevious()
        if before is None or element.tag not in PRICED or not 0 < weights.text[element] <= LONGEST_PRICE:
            continue
        if weights.text[element] != weights.text[before] or element.get("class") == before.get("class"):
            continue
        if not is_small(element) or not is_small(before):
            continue
        text = line(element)
        if not size(before.tail) and text == line(before) and any(category(sign) == MONEY for sign in text):
            yield element


def join_prices(elements: list[HtmlElement]) -> None:
    """Write, in place, each price in one line of which the sign or the cents are set apart by elements of their own."""
    packed = _PackedTexts()
    for element in elements:
        if sign := _sign(element.text):
            _join(sign, element, packed)
        if sign := _sign(element.tail):
            _join(sign, element.getparent(), packed)


def _sign(text: str | None) -> str:
    """The sign of a currency that a text is; "" for another one."""
    sign = text.strip() if text else ""
    return sign if len(sign) == 1 and category(sign) == MONEY else ""


def _join(sign: str, around: HtmlElement | None, packed: "_PackedTexts") -> None:
    """Write in one line the price around its sign, which elements around the sign alone are in."""
    for _ in range(MOST_LEVELS):
        if around is None or packed[around] != sign:
            break
        around = around.getparent()
    if around is None or not PRICE.fullmatch(packed[around]):
        return
    if price := _read_aloud(around, sign, packed[around]):
        drop([*around])
        around.text = price
    else:
        _put_in_line(around)


def _read_aloud(shown: HtmlElement, sign: str, packed: str) -> str | None:
    """The price that the element right after a shown one has for screen readers, where raised cents have no point."""
    following = shown.getnext()
    if shown.get("aria-hidden") != "true" or following is None or not is_small(following):
        return None
    found = re.search(rf"{re.escape(sign)}\d[\d.,]*+", line(following)[:LONGEST_PRICE])
    is_same = found is not None and DIGITS.findall(found[0]) == DIGITS.findall(packed)
    return found[0].rstrip(".,") if found is not None and is_same else None


def _put_in_line(price: HtmlElement) -> None:
    pieces = {str(inner.tag) for inner in price.iterdescendants(*BLOCKS, *PIECES)}
    if price.tag in LISTED or pieces.isdisjoint(APART) or not pieces <= PIECES:
        return
    for inner in price.iter("*"):
        inner.text = (inner.text or "").strip()
        if inner is not price:
            inner.tail = (inner.tail or "").strip()
            inner.tag = "span" if inner.tag in PIECES else inner.tag


class _PackedTexts(dict[HtmlElement, str]):
    """The texts of elements without spaces, each read once; cut where they are longer than that of a price."""

    def __missing__(self, element: HtmlElement) -> str:
        self[element] = "".join("".join(islice(element.itertext(), MOST_INNER)).split())[:LONGEST_PRICE]
        return self[element]
