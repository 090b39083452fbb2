"""RDFa of a page in the form of its microdata (https://www.w3.org/TR/rdfa-lite/).

What HTML pages have of RDFa is its Lite part, mostly with schema.org, besides OpenGraph, which is read as `meta`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url.links import address
from webdata.pages._url.microdata import DEEPEST, MOST_ITEMS, ItemRoom, value_of

OUTER = etree.XPath("descendant-or-self::*[@typeof and not(@property)]")
LONGEST_NAME = 300
"""Characters of a type or a property."""
MOST_NAMES = 20
MOST_PREFIXES = 100
PREFIXES = {"schema": "https://schema.org/", "og": "https://ogp.me/ns#", "foaf": "http://xmlns.com/foaf/0.1/"}
"""Those that pages use without a declaration: https://www.w3.org/2011/rdfa-context/rdfa-1.1"""


def items(root: HtmlElement, base: str) -> list[dict[str, Any]]:
    """The items of a page that have properties and are no property of another."""
    found: list[dict[str, Any]] = []
    room, prefixes = ItemRoom(), _Prefixes()
    for element in OUTER(root):
        item = _item(element, base, _Terms(_vocabulary(element), prefixes[element]), DEEPEST, room)
        if item["properties"]:
            found.append(item)
        if len(found) == MOST_ITEMS:
            break
    return found


def _vocabulary(element: HtmlElement) -> str:
    """The vocabulary of the names on an element, which it or an element around it declares; "" for none."""
    around = (one.get("vocab") for one in (element, *element.iterancestors()))
    return next((name.strip()[:LONGEST_NAME] for name in around if name is not None), "")


class _Prefixes(dict[HtmlElement, Mapping[str, str]]):
    """The prefixes that an element and those around it declare, the nearest first; each element is read once."""

    def __missing__(self, element: HtmlElement) -> Mapping[str, str]:
        parent = element.getparent()
        around = {} if parent is None else self[parent]
        own = dict(_declared(element))
        self[element] = {**dict(islice(around.items(), MOST_PREFIXES)), **own} if own else around
        return self[element]


def _declared(element: HtmlElement) -> Iterator[tuple[str, str]]:
    words = element.get("prefix", "").split()[: 2 * MOST_NAMES]
    for name, value in zip(words[::2], words[1::2], strict=False):
        yield name.removesuffix(":"), value[:LONGEST_NAME]
    for name, value in islice(element.items(), MOST_NAMES):
        if name.startswith("xmlns:"):
            yield name.removeprefix("xmlns:"), value[:LONGEST_NAME]


class _Terms(NamedTuple):
    """What the names on an element are short for."""

    vocabulary: str
    prefixes: Mapping[str, str]

    def whole(self, name: str) -> str:
        """The address of a type; a type of an unknown prefix as it is."""
        prefix, colon, local = name.partition(":")
        if colon:
            space = self.prefixes.get(prefix) or PREFIXES.get(prefix)
            return space + local if space and not local.startswith("//") else name
        return self.vocabulary + name


def _item(element: HtmlElement, base: str, terms: _Terms, levels: int, room: ItemRoom) -> dict[str, Any]:
    terms = terms._replace(vocabulary=element.get("vocab", terms.vocabulary).strip()[:LONGEST_NAME])
    properties: defaultdict[str, list[Any]] = defaultdict(list)
    types = [terms.whole(name) for name in _names(element.get("typeof", ""))]
    identity = element.get("resource") or element.get("about")
    room.take([*types, identity or ""])
    for found, of in _properties(element, terms.vocabulary):
        if room.left < 0:
            break
        left, is_item = room.left, "typeof" in found.attrib and levels
        if is_item:
            value: Any = _item(found, base, terms._replace(vocabulary=of), levels - 1, room)
        else:
            value = _value(found, base)
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


def _value(element: HtmlElement, base: str) -> str:
    """The content that an element says, else the resource that it is about, else what it is as a property."""
    if (given := element.get("content")) is not None:
        return " ".join(given.split())
    resource = element.get("resource")
    return value_of(element, base) if resource is None else address(resource, base) or resource[:LONGEST_NAME]
