"""The `pb` parameter of Google Maps: a protocol buffer written as text.

A field is `!<field><type><value>`; the value of a message (`m`) is the number of its fields, including those of nested
messages. The requested details are those that the map requests for a browser without an account (2026-07-31).
"""

from collections.abc import Iterator, Mapping
from typing import Union

from webdata.pages.google_maps import Viewport

PAGE_SIZE = 20
"""The largest number of places a page."""


class Choice(int):
    """A value of an enumeration."""


class Single(float):
    """A single-precision number."""


Scalar = bool | int | float | str
Message = Mapping[int, Union[Scalar, "Message", list["Message"]]]
"""Fields by their numbers; a list is a repeated field."""

ESCAPES = str.maketrans({"*": "*2A", "!": "*21"})

SCREEN: Message = {1: 1024, 2: 768}
CAMERA_ANGLE = Single(13.1)

FEATURES: Message = {
    1: {18: True, 30: True, 31: {1: True}, 34: Choice(1)},
    2: {5: {6: Choice(2)}, 20: Choice(3), 39: True},
    10: True,
    12: True,
    13: True,
    14: True,
    16: True,
    17: {3: Choice(1)},
    20: {5: Choice(2), 6: True, 8: True, 14: True},
    46: {1: False},
    96: True,
    99: True,
}
ICONS: Message = {2: {1: 360, 2: 120, 4: 8}}
PHOTOS: Message = {
    2: {1: 203, 2: 100},
    3: {2: 4, 5: True},
    6: {1: [{1: 86, 2: 86}, {1: 408, 2: 240}]},
    9: False,
}
DETAILS: Message = {
    1: {
        13: {2: True, 3: True, 4: True, 6: 1, 8: True, 9: True, 14: True, 20: True, 25: True},
        18: dict.fromkeys((3, 4, 5, 6, 13, 14, 17, 21, 22, 32), True),
    },
    10: {8: Choice(3)},
    11: {3: Choice(1)},
    17: True,
    24: True,
    25: True,
    26: True,
    27: True,
    29: True,
    30: {2: True},
    36: True,
    37: True,
    43: True,
    52: True,
    55: True,
    89: True,
}
"""The requested details of a place, such as hours, phone number, categories and reviews."""


def search(terms: str, viewport: Viewport, offset: int | None) -> str:
    """The `pb` of a page of places; an `offset` of None is left out, which means 0."""
    paging: Message = {7: PAGE_SIZE} if offset is None else {7: PAGE_SIZE, 8: offset}
    position: Message = {number: float(value) for number, value in enumerate(viewport, 1)}
    visible: Message = {1: position, 3: SCREEN, 4: CAMERA_ANGLE}
    return encode({1: terms, 4: visible, **paging, 10: True, 12: FEATURES, 19: ICONS, 20: PHOTOS, 24: DETAILS})


def encode(message: Message) -> str:
    """A message as text."""
    return "".join(f"!{field}" for field in _fields(message))


def _fields(message: Message) -> Iterator[str]:
    for number, value in message.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                inner = list(_fields(one))
                yield from (f"{number}m{len(inner)}", *inner)
            else:
                yield f"{number}{_scalar(one)}"


def _scalar(value: Scalar) -> str:
    match value:
        case bool():
            return f"b{value:d}"
        case Choice():
            return f"e{value:d}"
        case int():
            return f"i{value:d}"
        case float():
            kind = "f" if isinstance(value, Single) else "d"
            return kind + f"{value:.7f}".rstrip("0").rstrip(".")
        case _:
            return f"s{value.translate(ESCAPES)}"
