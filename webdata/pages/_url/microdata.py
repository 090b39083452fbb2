"""Microdata of a page, as JSON (https://html.spec.whatwg.org/multipage/microdata.html#json)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.links import address
from webdata.pages._url.weights import BLOCKS, PROGRAMS

OUTER = etree.XPath("descendant-or-self::*[@itemscope and not(@itemprop)]")
NAMED = etree.XPath("descendant::*[@id]")
MOST_ITEMS = 500
DEEPEST = 20
LONGEST_VALUE = 10_000
"""Characters of the text of a property."""
LONGEST_RAW = 10 * LONGEST_VALUE
"""The same with its spaces."""
MOST_CHARACTERS = 2_000_000
"""Of the values of all items of a page, each under each of its names."""
OVERHEAD = 20
"""Characters of a value beside its own."""
MOST_REFERRED = 100_000
"""Elements in those that items refer to."""
ADDRESSES = {
    "a": "href", "area": "href", "audio": "src", "embed": "src", "iframe": "src", "img": "src", "link": "href",
    "object": "data", "source": "src", "track": "src", "video": "src",
}  # fmt: skip
"""The attribute with the address that is the value of an element."""
VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
"""The attribute with the text that is the value of an element."""


class ItemRoom:
    """The characters that are left for the items of a page.

    A value with several names is written under each: ten items in each other, of four names each, would be a million.
    """

    def __init__(self) -> None:
        self.left = MOST_CHARACTERS

    def take(self, texts: Iterable[str]) -> None:
        """Take the characters of texts that an item has beside its properties."""
        self.left -= sum(map(len, texts))

    def names(self, names: Iterable[str], value: Any, left: int) -> list[str]:
        """The names of a value that there is room for, where `left` was left before what is in the value."""
        length = OVERHEAD + (len(value) if isinstance(value, str) else left - self.left)
        fitting = [*islice(dict.fromkeys(names), max(0, left // length))]
        self.left = left - length * len(fitting)
        return fitting


class ItemReferences:
    """The elements that items of a page refer to by `itemref`, the properties in which are theirs, too."""

    def __init__(self, root: HtmlElement) -> None:
        self.root = root
        self.left = MOST_REFERRED
        self.open: set[HtmlElement] = set()
        """The items that are being read, which are no property of what is in them."""

    @cached_property
    def named(self) -> dict[str, HtmlElement]:
        """The first element of each name."""
        return {one.get("id", ""): one for one in reversed(NAMED(self.root))}

    def of(self, item: HtmlElement) -> Iterator[HtmlElement]:
        """The elements that an item refers to, while few enough elements are in all that are referred to."""
        for name in dict.fromkeys(item.get("itemref", "").split()):
            if (found := self.named.get(name)) is not None:
                self.left -= sum(1 for _ in islice(found.iter(), self.left + 1))
                if self.left < 0:
                    break
                yield found


def items(root: HtmlElement, base: str) -> list[dict[str, Any]]:
    """The items of a page that are no property of another."""
    room, references = ItemRoom(), ItemReferences(root)
    return [_item(element, base, DEEPEST, room, references) for element in OUTER(root)[:MOST_ITEMS]]


def _item(element: HtmlElement, base: str, levels: int, room: ItemRoom, references: ItemReferences) -> dict[str, Any]:
    properties: defaultdict[str, list[Any]] = defaultdict(list)
    types, identity = element.get("itemtype", "").split(), element.get("itemid")
    room.take([*types, identity or ""])
    references.open.add(element)
    for found in _properties([*element, *references.of(element)]):
        if room.left < 0:
            break
        if found in references.open:
            continue
        left, is_item = room.left, "itemscope" in found.attrib and levels
        value = _item(found, base, levels - 1, room, references) if is_item else value_of(found, base)
        for name in room.names(found.get("itemprop", "").split(), value, left):
            properties[name].append(value)
    references.open.discard(element)
    return {"type": types, **({"id": identity} if identity else {}), "properties": dict(properties)}


def _properties(elements: list[HtmlElement]) -> Iterator[HtmlElement]:
    """The properties that elements are or have in them, without those of an item in them."""
    waiting = elements[::-1]
    while waiting:
        found = waiting.pop()
        if not isinstance(found.tag, str):
            continue
        if "itemprop" in found.attrib:
            yield found
        if "itemscope" not in found.attrib:
            waiting += reversed(found)


def value_of(element: HtmlElement, base: str) -> str:
    """The text that an element is as a property: its address, its machine-readable value, or its text."""
    tag = str(element.tag)
    if name := ADDRESSES.get(tag):
        return address(element.get(name), base) or ""
    if (name := VALUES.get(tag)) and (value := element.get(name)) is not None:
        return value[:LONGEST_VALUE].strip()
    given = element.get("content")  # which many pages have at other elements, too
    return " ".join((_beginning(element) if given is None else given).split())[:LONGEST_VALUE]


def _beginning(element: HtmlElement) -> str:
    """The beginning of an element's text, enough for the longest value: properties may lie in each other.

    Lines and blocks are apart, and what readers never see is left out.
    """
    if not len(element):
        return (element.text or "")[:LONGEST_RAW]
    texts: list[str] = []
    left = LONGEST_VALUE
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, inner in walk:
        is_start = event == "start"
        if is_start and inner.tag in PROGRAMS and inner is not element:
            walk.skip_subtree()
            continue
        text = (inner.text if is_start else inner.tail if inner is not element else None) or ""
        apart = " " if inner.tag in BLOCKS or inner.tag == "br" else ""
        texts.append(apart + text[:LONGEST_RAW])
        left -= len(text.strip()) + 1
        if left < 0:
            break
    return "".join(texts)
