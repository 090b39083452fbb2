"""RDFa of a page in the form of its microdata (https://www.w3.org/TR/rdfa-lite/).

What HTML pages have of RDFa is its Lite part, mostly with schema.org, besides OpenGraph, which is read as `meta`.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.microdata import DEEPEST, MOST_ITEMS, ItemRoom, value_of

OUTER = etree.XPath("descendant-or-self::*[@typeof and not(@property)]")
LONGEST_NAME = 300
"""Characters of a type or a property."""
MOST_NAMES = 20
PREFIXES = {"schema": "https://schema.org/", "og": "https://ogp.me/ns#", "foaf": "http://xmlns.com/foaf/0.1/"}
"""Those that pages use without a declaration: https://www.w3.org/2011/rdfa-context/rdfa-1.1"""


def items(root: HtmlElement, base: str) -> list[dict[str, Any]]:
    """The items of a page that have properties and are no property of another."""
    found: list[dict[str, Any]] = []
    room = ItemRoom()
    for element in OUTER(root):
        item = _item(element, base, _vocabulary(element), DEEPEST, room)
        if item["properties"]:
            found.append(item)
        if len(found) == MOST_ITEMS:
            break
    return found


def _vocabulary(element: HtmlElement) -> str:
    """The vocabulary of the names on an element, which it or an element around it declares; "" for none."""
    around = (one.get("vocab") for one in (element, *element.iterancestors()))
    return next((name.strip()[:LONGEST_NAME] for name in around if name is not None), "")


def _item(element: HtmlElement, base: str, vocabulary: str, levels: int, room: ItemRoom) -> dict[str, Any]:
    vocabulary = element.get("vocab", vocabulary).strip()[:LONGEST_NAME]
    properties: defaultdict[str, list[Any]] = defaultdict(list)
    types = [_whole(name, vocabulary) for name in _names(element.get("typeof", ""))]
    identity = element.get("resource") or element.get("about")
    room.take([*types, identity or ""])
    for found, of in _properties(element, vocabulary):
        if room.left < 0:
            break
        left, is_item = room.left, "typeof" in found.attrib and levels
        value = _item(found, base, of, levels - 1, room) if is_item else _value(found, base)
        for name in room.names(_names(found.get("property", "")), value, left):
            properties[name].append(value)
    return {"type": types, **({"id": identity} if identity else {}), "properties": dict(properties)}


def _properties(element: HtmlElement, vocabulary: str) -> Iterator[tuple[HtmlElement, str]]:
    """The elements inside one that are its own properties, each with the vocabulary around it."""
    waiting = [(one, vocabulary) for one in reversed(element)]
    while waiting:
        found, of = waiting.pop()
        if not isinstance(found.tag, str):
            continue
        of = found.get("vocab", of)
        if "property" in found.attrib:
            yield found, of
        if "typeof" not in found.attrib:
            waiting += ((one, of) for one in reversed(found))


def _names(text: str) -> list[str]:
    return [name[:LONGEST_NAME] for name in text.split()[:MOST_NAMES]]


def _whole(name: str, vocabulary: str) -> str:
    """The address of a type; a type of an unknown prefix as it is."""
    prefix, colon, local = name.partition(":")
    if colon:
        return PREFIXES[prefix] + local if prefix in PREFIXES else name
    return vocabulary + name


def _value(element: HtmlElement, base: str) -> str:
    given = element.get("content")
    return value_of(element, base) if given is None else " ".join(given.split())
