"""The data that a page hands to its own scripts, as far as it is plainly prose or a list of titles with links.

Programs write it into data blocks (`<script type="application/json">`, such as Next's `__NEXT_DATA__` and Nuxt's
`__NUXT_DATA__`), into variables of the window, or into an attribute.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
from lxml.html import HtmlElement

from webdata.pages._url.schema_texts import ScriptBlock, first_text
from webdata.pages._url.weights import size

LONGEST_DATA = 2_000_000
"""Characters of a page's data that are read."""
MOST_VALUES = 30_000
"""Values of the data that are looked at."""
FEW = 3
"""Entries of the shortest list."""
MANY = 100
"""Entries from which the others are not looked at."""
MOST = 0.75
"""The share of a list's entries that have a title and an address."""
LONG = 200
"""Characters of the shortest text that is prose without paragraphs."""
TITLES = ("title", "name", "headline")
ADDRESSES = ("url", "href", "link", "permalink", "path")
SUMMARIES = ("description", "summary", "excerpt")
VARIABLE = re.compile(
    r"(?:(?:window|self|globalThis)\s*+(?:\.\s*+|\[\s*+[\"'])"
    r"(?:__[a-zA-Z_]{3,40}|[a-zA-Z]{1,20}State|initialData)(?:[\"']\s*+\])?\s*+=\s*+(?:JSON\.parse\(\s*+)?"
    r"|\.streamController\.enqueue\(\s*+)(?=[\[{\"'])"
)
"""The beginning of a script that gives a variable of the window its data, `__NUXT__`, or a stream (React Router)."""
FLIGHT = re.compile(r"\b__next_f\.push\(\s*+(?=\[)")
"""The beginning of a script with a part of what React's server components send, as Next writes it."""
ROW = re.compile(rb"[0-9a-f]*+:(?:T([0-9a-f]{1,6}),|[A-Z]*+)")
"""The beginning of a row of that: `5:{…}` until the end of the line, `6:T1f,…` with a length in bytes."""
ANGULAR_SIGNS = {"a": "&", "g": ">", "l": "<", "q": '"', "s": "'"}
ANGULAR = re.compile(r"&([aglqs]);")
"""Signs as older versions of Angular write them in the state of a page."""
QUOTED = re.compile(r"'((?:[^'\\]|\\.)*+)'", re.DOTALL)
OTHER_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))|\"", re.DOTALL)
"""Escapes of JavaScript, of which JSON has not all, and quotation marks that JSON has to escape."""
JSON = ("{", "[")
DECODER = json.JSONDecoder(strict=False)
PARAGRAPH = re.compile(r"<(?:p|br|li|h[1-6])\b", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*+>")
SIGNS = re.compile(r"[{}\[\]<>=;|_\\]")
"""Signs of which code has many and prose has few."""
FEW_SIGNS = 0.02


def hydration_blocks(root: HtmlElement) -> Iterator[ScriptBlock]:
    """The texts and lists of an unchanged page's data."""
    seen: set[str] = set()
    waiting: list[Any] = [*reversed([*_values(root)])]
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, str):
            if value not in seen and _is_prose(value):
                yield ScriptBlock("p", value)
            seen.add(value)
        elif isinstance(value, list) and _is_listing(value):
            yield from (block for entry in value if isinstance(entry, dict) for block in _entry(entry))
        elif isinstance(value, list | dict):
            inner = [*value.values()] if isinstance(value, dict) else value
            waiting += reversed([one for one in inner if isinstance(one, str | list | dict)])


def _values(root: HtmlElement) -> Iterator[Any]:
    """The values of the data, and those of the texts of JSON in it, as Discourse writes them."""
    left = LONGEST_DATA
    for text, is_flat in _texts(root):
        left -= len(text)
        if left < 0:
            return
        value = _value(text)
        if is_flat and isinstance(value, list):
            yield from _revived(value)
        elif isinstance(value, dict):
            yield [_value(one) if isinstance(one, str) and one.startswith(JSON) else one for one in value.values()]
        elif isinstance(value, list):
            yield value
    yield from _flight(root)


def _flight(root: HtmlElement) -> Iterator[Any]:
    """The values and texts of the rows of React's server components."""
    parts = (_value(text[found.end() :]) for text in _scripts(root) if (found := FLIGHT.search(text)))
    sent = "".join(part[1] for part in parts if isinstance(part, list) and isinstance(part[-1], str) and len(part) == 2)
    data, place = sent[:LONGEST_DATA].encode("utf-8", "replace"), 0
    while row := ROW.match(data, place):
        start = row.end()
        if row[1]:
            place = start + int(row[1], 16)
            yield [data[start:place].decode("utf-8", "replace")]
        else:
            end = data.find(b"\n", start)
            place = end + 1 if end >= 0 else len(data)
            yield [_value(data[start:place].decode("utf-8", "replace"))]


def _scripts(root: HtmlElement) -> Iterator[str]:
    return (script.text or "" for script in root.iter("script"))


def _texts(root: HtmlElement) -> Iterator[tuple[str, bool]]:
    """The texts of JSON in a page, each with whether its values refer to each other by number."""
    for script in root.iter("script"):
        text, media = script.text or "", script.get("type", "").lower()
        if media.endswith(("/json", "+json", "/shoebox")) and media != "application/ld+json":
            yield ANGULAR.sub(lambda sign: ANGULAR_SIGNS[sign[1]], text), script.get("id") == "__NUXT_DATA__"
        elif media in ("", "text/javascript", "module") and (found := VARIABLE.search(text[:LONGEST_DATA])):
            yield text[found.end() :], False
    for element in root.iter("*"):  # Astro, Discourse, Inertia and others write it into attributes
        yield from ((value, False) for value in element.values() if len(value) >= LONG and value.startswith(JSON))


def _escape(found: re.Match[str]) -> str:
    if found[1]:
        return f"\\u00{found[1]}"
    return "'" if found[2] == "'" else f"\\{found[2] or found[0]}"


def _value(text: str) -> Any:
    """The JSON at the beginning of a text, which may be within a text of JSON; None for anything else."""
    if quoted := QUOTED.match(text):
        text = f'"{OTHER_ESCAPES.sub(_escape, quoted[1])}"'
    try:
        value = orjson.loads(text)
    except ValueError:
        try:
            value = DECODER.raw_decode(text)[0]
        except (ValueError, RecursionError):
            return None
    if isinstance(value, str) and value.startswith(JSON):
        try:
            return orjson.loads(value)
        except ValueError:
            return None
    return value


def _revived(flat: list[Any]) -> list[Any]:
    """The values of a flat list in which objects and lists have numbers of places, one level deep.

    https://github.com/sveltejs/devalue
    """
    objects = [
        {name: _at(flat, place) for name, place in value.items()} if isinstance(value, dict) else value
        for value in flat
    ]
    plain = [one for one in flat if isinstance(one, str)]
    lists = [[_at(objects, place) for place in value] for value in flat if isinstance(value, list)]
    return [*plain, *(one for one in lists if _is_listing(one))]


def _at(flat: list[Any], place: Any) -> Any:
    return flat[place] if isinstance(place, int) and 0 <= place < len(flat) else None


def _is_listing(value: list[Any]) -> bool:
    if len(value) < FEW:
        return False
    read = value[:MANY]
    entries = sum(1 for one in read if isinstance(one, dict) and first_text(one, TITLES) and _address(one))
    return entries >= MOST * len(read)


def _entry(entry: dict[str, Any]) -> Iterator[ScriptBlock]:
    if title := first_text(entry, TITLES):
        yield ScriptBlock("li", title, _address(entry), first_text(entry, SUMMARIES))


def _address(entry: dict[str, Any]) -> str:
    address = first_text(entry, ADDRESSES)
    return address if address.startswith(("/", "https:", "http:")) else ""


def _is_prose(text: str) -> bool:
    """Whether a text is sentences, with paragraphs or long, and no code."""
    if " " not in text[:LONG] or text.startswith((*JSON, "http:", "https:", "data:")):
        return False
    plain = TAG.sub(" ", text) if "<" in text else text
    long_enough = LONG if PARAGRAPH.search(text) is None else LONG / 4
    return size(plain) >= long_enough and len(SIGNS.findall(plain)) <= FEW_SIGNS * len(plain)
