"""Google Maps: the answer to a search for places, alone or within a saved page of the map.

The answer is a tree of lists whose fields have numbers instead of names. It begins with `)]}'`, may be the member `d`
of an object (`tch=1`), and is a string of `APP_INITIALIZATION_STATE` in a page of the map.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import phonenumbers

from webdata.domain.errors import LayoutError, UpstreamError
from webdata.pages._google import blocks
from webdata.pages._google.links import host, outside, target
from webdata.pages._json import at, loads, of
from webdata.pages._text import count
from webdata.pages.odd_items import OddItemError, readable
from webdata.resources.maps_search import MapPlace, MapPlaces, MapsQuery, MapsRecord

RESULT_MARKS, block = blocks.RESULT_MARKS, blocks.block

PREFIX = ")]}'"
BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"
CHUNK_END = b'/*""*/'
STATE = "APP_INITIALIZATION_STATE="
STATE_PAYLOADS = 3

TERMS = (0, 0)
ROWS, ROW_PLACE = (0, 1), 14
"""The path to the rows of an answer, and the index of the place in a row."""
LISTED, LISTED_PLACE = (64,), 1
"""The same in the other shape of answers; rows of ads have no place."""
SINGLE = 6
"""The index of the place in the answer for a single place."""
VIEWPORT = (1, 0)
SHORT_ANSWER = 20_000
"""Bytes; an answer without places has less than a thousand, one with twenty places more than this."""

DATA_ID = re.compile(r"0x[0-9a-f]{1,16}:0x[0-9a-f]{1,16}")
ESCAPE = re.compile(r"\\u(00[2-7][0-9a-fA-F])")
"""An escape whose backslash was escaped, as in some saved answers."""
SCHEME = re.compile(r"^https?:", re.IGNORECASE)
LONGEST_NUMBER = 16
"""Characters of a number in E.164, with its sign; the library finds longer ones valid."""
INTERNATIONAL = "+"

Tree = Any
T = TypeVar("T")


class Viewport(NamedTuple):
    """The visible part of a map: its height in metres, and its centre in degrees."""

    metres: float
    longitude: float
    latitude: float


class Payload(NamedTuple):
    """An answer as a tree, and its length in bytes or characters."""

    tree: Tree
    size: int


def record(body: bytes, query: MapsQuery) -> MapPlaces:
    """The places of an answer.

    Raises LayoutError for an answer of an unknown shape, UpstreamError for a truncated one.
    """
    payload = _payload(body)
    trees = _places(payload.tree)
    if not trees and not _has_no_results(payload):
        raise LayoutError("places, or an answer without any")
    return {"places": _ranked(readable(_place, trees), query)}


def maps_record(places: Iterable[MapPlace], query: MapsQuery, transport: str) -> MapsRecord:
    """The record of the places of one or more pages, of which `transport` fetched the first."""
    ranked = _ranked(places, query)
    return {
        "search_engine": "google_maps",
        "places": ranked,
        "result_count": len(ranked),
        "metadata": {
            "schema": "maps.v1",
            "transport": transport,
            "requested_count": query.num,
            "language": query.language,
            "country": query.country,
        },
    }


def _ranked(places: Iterable[MapPlace], query: MapsQuery) -> list[MapPlace]:
    """So many places as the query asks for, each once."""
    unique: dict[str, MapPlace] = {}
    for place in places:
        unique.setdefault(place["data_id"], place)
    return [{**place, "position": rank} for rank, place in enumerate(islice(unique.values(), query.num), 1)]


def shown_query(body: bytes) -> str | None:
    """The search terms in an answer; None for a body that is no answer."""
    try:
        return _text(_payload(body).tree, *TERMS)
    except (LayoutError, UpstreamError):
        return None


def viewport(body: bytes) -> Viewport | None:
    """The part of the world that was searched; None where an answer does not contain it."""
    values = at(_payload(body).tree, *VIEWPORT)
    numbers = [number for index in range(3) if (number := _number(values, index)) is not None]
    return Viewport(*numbers) if len(numbers) == 3 else None


def _payload(body: bytes) -> Payload:
    body = body.lstrip(BEFORE_JSON)
    if body.startswith(b"<"):
        return _embedded(body)
    if body.startswith(b"{"):
        return _wrapped(body)
    return _answer(body.removeprefix(PREFIX.encode()))


def _answer(text: str | bytes) -> Payload:
    return Payload(loads(text), len(text))


def _wrapped(body: bytes) -> Payload:
    chunks = [loads(chunk) for chunk in body.split(CHUNK_END) if chunk.strip()]
    texts = [chunk.get("d") for chunk in chunks if isinstance(chunk, dict)]
    answer = next((text for text in texts if isinstance(text, str) and text.startswith(PREFIX)), None)
    if answer is None:
        raise LayoutError("an answer in the object around it")
    return _answer(answer.removeprefix(PREFIX))


def _embedded(body: bytes) -> Payload:
    for payload in map(_answer, _state_texts(body)):
        if _is_search(payload.tree) or _is_place(at(payload.tree, SINGLE)):
            return payload
    raise LayoutError("the answer inside of a page of the map")


def _state_texts(body: bytes) -> Iterator[str]:
    """The texts in the state of a page of the map that are answers; since 2025 the lists in the state have keys."""
    _, marker, text = body.decode("utf-8", "replace").partition(STATE)
    if not marker:
        raise LayoutError("the state of a page of the map")
    try:
        state, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError) as error:
        raise UpstreamError("the page was cut off", "truncated") from error
    payloads = at(state, STATE_PAYLOADS)
    for group in payloads.values() if isinstance(payloads, dict) else [payloads]:
        for one in group if isinstance(group, list) else []:
            if isinstance(one, str) and one.startswith(PREFIX):
                yield one.removeprefix(PREFIX)


def _is_search(tree: Tree) -> bool:
    return _text(tree, *TERMS) is not None and isinstance(at(tree, *ROWS), list)


def _is_place(tree: Tree) -> bool:
    return bool(DATA_ID.fullmatch(_text(tree, 10) or "")) and _text(tree, 11) is not None


def _has_no_results(payload: Payload) -> bool:
    """Whether it is the short answer without results, and not one of an unknown shape."""
    return payload.size < SHORT_ANSWER and _is_search(payload.tree) and not _contains_place(payload.tree)


def _contains_place(tree: Tree) -> bool:
    """Whether a tree contains a place at any path."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if _is_place(node):
            return True
        if isinstance(node, list | dict):
            pending.extend(node if isinstance(node, list) else node.values())
    return False


def _places(tree: Tree) -> list[Tree]:
    if _is_place(at(tree, SINGLE)):
        return [at(tree, SINGLE)]
    if not _is_search(tree):
        return []
    listed = [at(row, LISTED_PLACE) for row in _list(tree, *LISTED)]
    rows = [at(row, ROW_PLACE) for row in _list(tree, *ROWS)]
    return [one for one in listed if one is not None] or [one for one in rows if one is not None]


def _place(tree: Tree) -> MapPlace:
    """A place, not ranked yet; raises OddItemError for one without a name, an id or coordinates."""
    identity = DATA_ID.fullmatch(_text(tree, 10) or "")
    data_id = _required(identity, "the data_id of a place").group()
    place_id = _text(tree, 78) or _text(tree, 227, 0, 4) or place_id_of(data_id)
    website = outside(_address(tree, 7, 0))
    return {
        "position": 0,
        "name": _required(_text(tree, 11), "the name of a place"),
        "data_id": data_id,
        "latitude": _required(_within(_number(tree, 9, 2), -90, 90), "the latitude of a place"),
        "longitude": _required(_within(_number(tree, 9, 3), -180, 180), "the longitude of a place"),
        "place_id": place_id,
        "google_maps_url": _link(tree, 27) or f"https://www.google.com/maps/place/?q=place_id:{place_id}",
        "website": website,
        "domain": host(website) or _text(tree, 7, 1),
        "address": _text(tree, 39) or ", ".join(_texts(tree, 2)) or None,
        "address_lines": _texts(tree, 2),
        "district": _text(tree, 14) or _text(tree, 183, 1, 0) or _text(tree, 82, 0),
        "rating": _within(_number(tree, 4, 7), 0, 5),
        "review_count": _review_count(tree),
        "review_url": _link(tree, 4, 3, 0),
        "categories": _texts(tree, 13),
        "category_ids": [name for row in _list(tree, 76) if (name := _text(row, 0))],
        "phone": _text(tree, 178, 0, 0),
        "phone_e164": _phone_e164(tree),
        "timezone": _text(tree, 30),
        "thumbnail": _thumbnail(tree),
        "opening_hours": _opening_hours(tree),
    }


def place_id_of(data_id: str) -> str:
    """The place id of a data_id: a protocol buffer with its two numbers, in base64url without padding."""
    cell, customer = (int(number, 16).to_bytes(8, "little") for number in data_id.split(":"))
    return urlsafe_b64encode(b"\n\x12\t" + cell + b"\x11" + customer).decode().rstrip("=")


def _review_count(tree: Tree) -> int | None:
    number = _within(_number(tree, 4, 8), 0, 1e15)
    return count(_text(tree, 4, 3, 1)) if number is None else int(number)


def _phone_e164(tree: Tree) -> str | None:
    """The phone number in E.164, from a form of it with a country code."""
    forms = [_text(tree, 178, 0, 0), _text(tree, 178, 0, 3), *(_text(row, 0) for row in _list(tree, 178, 0, 1))]
    international = next((form for form in forms if form and form.startswith(INTERNATIONAL)), None)
    if international is None:
        return None
    try:
        number = phonenumbers.parse(international)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number) or number.extension:
        return None
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return written if len(written) <= LONGEST_NUMBER else None


def _thumbnail(tree: Tree) -> str | None:
    """A photo of the place, else the picture of its owner."""
    return _link(tree, 72, 0, 0, 6, 0) or _link(tree, 72, 0, 1, 6, 0) or _link(tree, 37, 0, 0, 6, 0) or _link(tree, 157)


def _opening_hours(tree: Tree) -> dict[str, str] | None:
    """Hours by day, verbatim; a comma joins the parts of a day with a break."""
    days = [(_text(row, 0), [_text(part, 0) for part in _list(row, 3)]) for row in _list(tree, 203, 0)]
    days = days or [(_text(row, 0), [*_texts(row, 1)]) for row in _list(tree, 34, 1)]
    return {day: ", ".join(filter(None, parts)) for day, parts in days if day and any(parts)} or None


def _link(tree: Tree, *path: int) -> str | None:
    return target(_address(tree, *path))


def _address(tree: Tree, *path: int) -> str | None:
    text = ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), _text(tree, *path) or "")
    return SCHEME.sub(lambda scheme: scheme[0].lower(), text.strip()) or None


def _text(tree: Tree, *path: int) -> str | None:
    value = of(str, tree, *path)
    return value if value and value.strip() else None


def _texts(tree: Tree, *path: int) -> list[str]:
    return [text for text in _list(tree, *path) if isinstance(text, str) and text.strip()]


def _list(tree: Tree, *path: int) -> list[Tree]:
    return of(list, tree, *path) or []


def _number(tree: Tree, *path: int) -> float | None:
    value = at(tree, *path)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _within(number: float | None, low: float, high: float) -> float | None:
    return number if number is not None and low <= number <= high else None


def _required(value: T | None, what: str) -> T:
    if value is None:
        raise OddItemError(what)
    return value
