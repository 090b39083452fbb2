"""JSON-LD of a page (https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents), also where it is faulty."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from math import inf
from typing import Any

import orjson
from lxml.html import HtmlElement

LONGEST_BLOCK = 2_000_000
"""Characters of a block that is read."""
MOST_BLOCKS = 200
DEEPEST = 100
LONGEST_INTEGER = 18
"""Digits of an integer that every reader of JSON takes; a longer one is text."""
DECODER = json.JSONDecoder(
    strict=False,
    parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INTEGER else digits,
    parse_float=lambda digits: number if abs(number := float(digits)) < inf else digits,
    parse_constant=lambda _: None,
)
STRING = r'"(?:[^"\\]|\\[\s\S]?)*+"?'
"""Also one without an end, which would be searched for again at each quote in it."""
WRAPPERS = re.compile(rf"({STRING})|<!--(?:[^<{{\[-]|-(?!->))*+-->|<!\[CDATA\[|\]\]>|<!--|-->")
"""What hides scripts from old browsers, or from XML, and comments of HTML."""
COMMENT = re.compile(rf"({STRING})|/\*(?s:.*?)\*/|(?://|#)[^\n]*+")
TRAILING = re.compile(rf"({STRING})|,(?=\s*+(?:[\]}},]|\Z))")
ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.)|\Z)', re.DOTALL)
NAMESPACE = re.compile(r"^.*[/#:](?=.)")
BETWEEN = re.compile(r"[\s,;]*+")


def blocks(root: HtmlElement) -> Iterator[str]:
    """The texts of the JSON-LD blocks of a page."""
    for script in root.iter("script"):
        if (script.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            yield script.text_content()


def items(root: HtmlElement) -> tuple[list[Any], int]:
    """The items of all blocks of a page, those of a `@graph` one by one; and how many blocks cannot be read."""
    found: list[Any] = []
    unread = 0
    for number, block in enumerate(blocks(root)):
        if number == MOST_BLOCKS:
            break
        try:
            found += [item for value in values(block) for item in _items(value)]
        except ValueError:
            unread += 1
    return found, unread


def types(item: Any) -> list[str]:
    """The types of an item, without the vocabulary that they are of: `Product` of `https://schema.org/Product`."""
    given = item.get("@type") if isinstance(item, dict) else None
    names = given if isinstance(given, list) else [given]
    return [NAMESPACE.sub("", name) for name in names if isinstance(name, str)]


def values(block: str) -> list[Any]:
    """The JSON values of a block, which may have several; raises ValueError for what cannot be read."""
    if len(block) > LONGEST_BLOCK:
        raise ValueError("the block is too long")
    text = block.strip("\ufeff \t\r\n")
    if not text:
        return []
    with suppress(ValueError, TypeError):
        found = [orjson.loads(text)]
        orjson.dumps([[[[[[found]]]]]])  # whose limit of depth is lower, and counts the levels of the record
        return found
    found = _mended(text)
    if any(_is_too_deep(value) for value in found):
        raise ValueError("the block is nested too deep")
    return [_storable(value) for value in found]


def _mended(text: str) -> list[Any]:
    """The values of a block with comments, commas without a value behind them, several roots or wrong escapes."""
    text = WRAPPERS.sub(_string, text)
    with suppress(ValueError, RecursionError):
        return _roots(text)
    if '"' not in text and "&quot;" in text:
        text = unescape(text)
    text = ESCAPE.sub(_escape, text)
    end = text.rfind("*/") + 2
    text = COMMENT.sub(_string, text[:end]) + text[end:] if end > 1 else text
    text = TRAILING.sub(_string, COMMENT.sub(_string, text) if "/*" not in text else text)
    try:
        return _roots(text)
    except RecursionError:
        raise ValueError("the block is nested too deep") from None


def _escape(found: re.Match[str]) -> str:
    """An escape of JSON as it is, one of scripts as JSON has it, another character without the escape."""
    return found[0] if found[1] else f"\\u00{found[2]}" if found[2] else found[3] or ""


def _string(found: re.Match[str]) -> str:
    return found[1] or " "


def _roots(text: str) -> list[Any]:
    """The values of a text, one behind the other; raises ValueError for a text that is something else."""
    found = []
    place = BETWEEN.match(text, 0).end()  # type: ignore[union-attr]  # it matches everywhere
    while place < len(text):
        value, place = DECODER.raw_decode(text, place)
        if not isinstance(value, dict | list):
            raise ValueError("the block is no object")  # noqa: TRY004  # as the parser's errors
        found.append(value)
        place = BETWEEN.match(text, place).end()  # type: ignore[union-attr]  # as above
    return found


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _items(one)
    elif isinstance(value, dict) and isinstance(graph := value.get("@graph"), list | dict):
        yield from _items(graph)
    elif isinstance(value, dict) and value:
        yield value


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level if isinstance(one, dict | list) for inner in _inner(one)]
        if not level:
            return False
    return True


def _inner(value: dict[str, Any] | list[Any]) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value


def _storable(value: Any) -> Any:
    """The value without halves of surrogate pairs, which UTF-8 has not."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_storable(one) for one in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(one) for name, one in value.items()}
    return value
