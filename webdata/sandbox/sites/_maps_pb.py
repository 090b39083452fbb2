"""The `pb` parameter of Google Maps, read back: a protocol buffer written as text, `!<field><type><value>`."""

import re
from collections.abc import Iterator
from typing import Any

FIELD = re.compile(r"(\d+)([bdefims])(.*)", re.DOTALL)

Message = dict[int, Any]


def decode(text: str) -> Message:
    """The fields by their numbers, of repeated ones the last. Raises ValueError where a count is wrong."""
    fields = iter(text.split("!")[1:])
    message = dict(_field(one, fields) for one in fields)
    if not message:
        raise ValueError("there are no fields")
    return message


def _field(text: str, following: Iterator[str]) -> tuple[int, Any]:
    found = FIELD.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no field")
    number, kind, value = found.groups()
    return int(number), _message(int(value), following) if kind == "m" else _scalar(kind, value)


def _message(count: int, following: Iterator[str]) -> Message:
    inner = [next(following, "") for _ in range(count)]
    fields = iter(inner)
    return dict(_field(one, fields) for one in fields)


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
