"""The values of a page that a caller wants: by selectors, and by paths in its JSON-LD."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from webdata.pages._url import json_ld, readings, schema_values
from webdata.pages._url.blocks import spaced
from webdata.pages._url.bounds import is_too_deep, is_too_large
from webdata.pages._url.links import address
from webdata.pages._url.markdown import base_of
from webdata.pages._url.microdata import ADDRESSES, VALUES
from webdata.pages._url.selection import Selection, TooComplexError
from webdata.pages._url.trees import tree
from webdata.resources.terms.extraction import Extracted, Extraction, ValueType

MOST_VALUES = 1_000
"""Values in one list."""
MOST_CHARACTERS = 2_000_000
"""Of all texts that one page is asked for."""
MOST_OBJECTS = 100_000
"""Objects and arrays of JSON-LD that are searched for a type."""
CURRENCY = re.compile(r"[A-Za-z]{3}")
MACHINE_READABLE = ("data", "meter")
"""The elements whose value, if it is a number, has a point before its decimals:
https://html.spec.whatwg.org/#valid-floating-point-number"""
MACHINE_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
PLAIN_MEMBERS = {
    "text": ("@value", "name", "text", "@id"),
    "number": ("@value", "value"),
    "date": ("@value",),
    "url": ("url", "contentUrl", "@id"),
}
"""The members of an object of JSON-LD that are its value, the best first."""


class ExtractError(Exception):
    """What is wanted cannot be given of a page: the reason, and what would be right."""


class _Match(NamedTuple):
    """What a selector or a path leads to, and the element or the object that it is of."""

    value: HtmlElement | str | int | float | dict[str, Any]
    around: HtmlElement | Mapping[str, Any] | None


class _Page(NamedTuple):
    root: HtmlElement
    base: str
    language: str


def extracted(text: str, url: str, selection: Selection, wanted: Mapping[str, Extraction]) -> dict[str, Extracted]:
    """Each value by its name. Selectors see the head of a page, and what is selected of its body.

    Raises TooComplexError for a page that is too large or too deep to be parsed, ExtractError for too much text
    and for an expression that fails.
    """
    if is_too_large(text) or (root := tree(text)) is None or is_too_deep(root):
        raise TooComplexError
    found = _Page(root, base_of(root, url), root.get("lang") or "")
    objects = json_ld.items(root)[0] if any(one.jsonld for one in wanted.values()) else []
    selection.apply(root)
    room = _Room(MOST_CHARACTERS)
    return {name: _extracted(one, _matches(one, root, objects), found, room) for name, one in wanted.items()}


class _Room:
    """The characters that are left for the texts of an answer."""

    def __init__(self, characters: int) -> None:
        self.left = characters

    def take(self, value: Any) -> Any:
        """The value; raises ExtractError where there is no room for it."""
        self.left -= len(value) if isinstance(value, str) else 0
        if self.left < 0:
            raise ExtractError("of which extract matches more text than an answer may have", "choose smaller elements")
        return value


def _extracted(wanted: Extraction, matches: Sequence[_Match], page: _Page, room: _Room) -> Extracted:
    reading = partial(_read, wanted, page)
    if not matches:
        return {"value": [] if wanted.many else None, "matches": 0, "status": "absent"}
    values = [room.take(reading(match)) for match in matches[: MOST_VALUES if wanted.many else 1]]
    status: Literal["found", "invalid"] = "invalid" if all(value is None for value in values) else "found"
    return {"value": values if wanted.many else values[0], "matches": len(matches), "status": status}


def _matches(wanted: Extraction, root: HtmlElement, objects: Sequence[Any]) -> list[_Match]:
    if wanted.jsonld:
        return [*_at_path(objects, wanted.jsonld)]
    try:
        found = etree.XPath(wanted.expression, regexp=False, smart_strings=False)(root)
    except etree.XPathError as error:  # such as a count of what is no element, which only a page shows
        raise ExtractError(f"on which {wanted.expression!r} cannot be run ({error})", "give another xpath") from None
    found = found if isinstance(found, list) else [found]
    return [match for one in found if (match := _match(one, wanted.attribute, root)) is not None]


def _match(found: Any, attribute: str | None, root: HtmlElement) -> _Match | None:
    """What an expression gives: an element or its attribute, a text, a number or a truth; None for a namespace."""
    if isinstance(found, HtmlElement):
        value = found.get(attribute) if attribute else found
        return None if value is None else _Match(value, found)
    return None if attribute or isinstance(found, tuple) else _Match(found, root)


def _at_path(objects: Sequence[Any], path: str) -> Iterator[_Match]:
    """The values at a path of JSON-LD: a type at any depth, then properties, of each object of an array."""
    kind, *names = path.split(".")
    matches = [_Match(one, None) for one in _of_type(objects, kind)]
    for name in names:
        matches = [inner for match in matches if isinstance(match.value, dict) for inner in _at(match.value, name)]
    return iter(matches)


def _at(value: Mapping[str, Any], name: str) -> Iterator[_Match]:
    waiting = [value.get(name)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += reversed(one)
        elif one is not None:
            yield _Match(one, value)


def _of_type(objects: Sequence[Any], kind: str) -> Iterator[dict[str, Any]]:
    """The objects of a type, in the order of the page; those in others, too."""
    waiting: list[Any] = [*reversed(objects)]
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        one = waiting.pop()
        if isinstance(one, dict):
            if kind in json_ld.types(one):
                yield one
            waiting += (inner for inner in reversed(one.values()) if isinstance(inner, dict | list))
        elif isinstance(one, list):
            waiting += (inner for inner in reversed(one) if isinstance(inner, dict | list))


def _read(wanted: Extraction, page: _Page, match: _Match) -> Any:
    """What a match says as the type that is wanted; None where it cannot be read so."""
    if wanted.type == "html":
        return _html(match.value)
    if wanted.type == "price" and isinstance(match.value, dict):
        return schema_values.price([match.value])
    value = _plain(match.value, wanted.type)
    if value is None or value == "":
        return None
    if wanted.type == "price":
        return readings.price(_as_text(value) if isinstance(value, bool) else value, _currency(match))
    return READERS[wanted.type](value, page)


READERS: Mapping[ValueType, Callable[[Any, _Page], Any]] = {
    "text": lambda value, _: _as_text(value),
    "number": lambda value, _: _as_number(value),
    "date": lambda value, page: readings.date(_as_text(value), page.language),
    "url": lambda value, page: address(_as_text(value), page.base),
}


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else " ".join(str(value).split())


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, str | bool):
        return readings.number(str(value))
    return readings.exact(value)


def _html(value: Any) -> str:
    if not isinstance(value, HtmlElement):
        return str(value)
    return etree.tostring(value, encoding="unicode", method="html", with_tail=False)


def _plain(value: Any, kind: ValueType) -> Any:
    """The text or the number that an element or an object stands for."""
    if isinstance(value, dict):
        inner = (value.get(name) for name in PLAIN_MEMBERS[kind])
        return next((one for one in inner if isinstance(one, str | int | float)), None)
    if not isinstance(value, HtmlElement):
        return value
    tag = str(value.tag)
    if kind == "url" and tag in ADDRESSES:
        return value.get(ADDRESSES[tag])
    given = value.get(VALUES.get(tag, "content")) if kind != "text" or tag == "meta" else None
    is_number = kind in ("number", "price") and tag in MACHINE_READABLE
    if is_number and given is not None and MACHINE_NUMBER.fullmatch(given.strip()):
        return float(given)
    return spaced(value) if given is None else given


def _currency(match: _Match) -> str | None:
    """The currency that stands beside a price, in the same object or item."""
    around = match.around
    if not isinstance(around, HtmlElement):
        return _code(around.get("priceCurrency") or around.get("currency")) if around else None
    name = around.get("property") or ""
    if name.endswith(":amount"):
        beside = around.xpath("//meta[@property=$name]/@content", name=f"{name.removesuffix('amount')}currency")
        return _code(beside[0] if beside else None)
    item = next(iter(around.xpath("ancestor-or-self::*[@itemscope][1]")), None)
    named = next(iter(item.xpath(".//*[@itemprop='priceCurrency']")), None) if item is not None else None
    return _code(named.get("content") or spaced(named)) if named is not None else None


def _code(value: Any) -> str | None:
    return value.strip().upper() if isinstance(value, str) and CURRENCY.fullmatch(value.strip()) else None
