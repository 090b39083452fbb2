"""Microdata of a page, as JSON (https://html.spec.whatwg.org/multipage/microdata.html#json)."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.links import address

OUTER = etree.XPath("descendant-or-self::*[@itemscope and not(@itemprop)]")
MOST_ITEMS = 500
DEEPEST = 20
LONGEST_VALUE = 10_000
"""Characters of the text of a property."""
ADDRESSES = {
    "a": "href", "area": "href", "audio": "src", "embed": "src", "iframe": "src", "img": "src", "link": "href",
    "object": "data", "source": "src", "track": "src", "video": "src",
}  # fmt: skip
"""The attribute with the address that is the value of an element."""
VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
"""The attribute with the text that is the value of an element."""


def items(root: HtmlElement, base: str) -> list[dict[str, Any]]:
    """The items of a page that are no property of another; references to elements elsewhere are not followed."""
    return [_item(element, base, DEEPEST) for element in OUTER(root)[:MOST_ITEMS]]


def _item(element: HtmlElement, base: str, levels: int) -> dict[str, Any]:
    properties: defaultdict[str, list[Any]] = defaultdict(list)
    for found in _properties(element):
        value = _item(found, base, levels - 1) if "itemscope" in found.attrib and levels else value_of(found, base)
        for name in found.get("itemprop", "").split():
            properties[name].append(value)
    types, identity = element.get("itemtype", "").split(), element.get("itemid")
    return {"type": types, **({"id": identity} if identity else {}), "properties": dict(properties)}


def _properties(element: HtmlElement) -> Iterator[HtmlElement]:
    """The elements inside one that are its own properties, not those of an item in it."""
    waiting = [*reversed(element)]
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
    return " ".join((element.text_content() if given is None else given).split())[:LONGEST_VALUE]
