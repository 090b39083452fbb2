"""Lists of results, and what is in them: objects, in an envelope with their kind or without one."""

from collections.abc import Mapping
from typing import Any

DEEPEST = 4
"""Lists and listings within each other."""

Item = Mapping[str, Any]


def is_thing(value: Any) -> bool:
    """Whether a value is an object in an envelope with its kind, as forums have them."""
    return isinstance(value, Mapping) and isinstance(value.get("kind"), str) and isinstance(value.get("data"), Mapping)


def things(value: Any, depth: int = 0) -> list[Item]:
    """The objects of a list, out of their envelopes; of a listing those in it. Others are left out."""
    if depth > DEEPEST:
        return []
    if is_thing(value):
        children = value["data"].get("children")
        is_list = isinstance(children, list) and value["kind"] == "Listing"
        return things(children, depth + 1) if is_list else [value["data"]]
    return (
        [one for each in value for one in things(each, depth + 1) or _object(each)] if isinstance(value, list) else []
    )


def _object(value: Any) -> list[Item]:
    return [value] if isinstance(value, Mapping) and value and not is_thing(value) else []
