"""Decodes the `pb` parameter of Google Maps: a protocol buffer as text, `!<field><type><value>`."""

import re
from collections.abc import Iterator
from typing import Any

FIELD = re.compile(r"(\d+)([bdefims])(.*)", re.DOTALL)

Fields = dict[int, Any]


def decode(text: str) -> Fields:
    """The fields by number, the last of repeated ones. Raises ValueError for text that is no protocol buffer."""
    fields = iter(text.split("!")[1:])
    decoded = dict(_field(field, fields) for field in fields)
    if not decoded:
        raise ValueError("there are no fields")
    return decoded


def _field(text: str, following: Iterator[str]) -> tuple[int, Any]:
    match = FIELD.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no field")
    number, kind, value = match.groups()
    return int(number), _message(int(value), following) if kind == "m" else _scalar(kind, value)


def _message(count: int, following: Iterator[str]) -> Fields:
    fields = iter([next(following, "") for _ in range(count)])
    return dict(_field(field, fields) for field in fields)


def _scalar(kind: str, value: str) -> bool | int | float | str:
    match kind:
        case "s":
            return value.replace("*21", "!").replace("*2A", "*")
        case "d" | "f":
            return float(value)
        case "b":
            return bool(int(value))
        case _:
            return int(value)
