"""Reddit's JSON: things of a kind with their data, and listings of things.

https://github.com/reddit-archive/reddit/wiki/JSON, and observed 2020 to 2026: `replies` is `""` where there are none,
a deleted author is `[deleted]`, `edited` is false or a time, kind `more` is a placeholder of omitted comments.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast, get_args, get_type_hints

from webdata.domain.errors import LayoutError
from webdata.pages.odd_items import OddItemError, count_odd, readable
from webdata.resources.forum import About, Comment, Post

Thing = dict[str, Any]

DOCUMENTED: Mapping[str, Mapping[str, Any]] = {
    "t1": {**dict.fromkeys(Comment.__annotations__), "replies": ""},
    "t3": dict.fromkeys(Post.__annotations__),
    "t5": dict.fromkeys(About.__annotations__),
}
"""The documented fields of each kind, and their values where the upstream has none."""
THEIRS, OURS = "subreddit", "subforum"
TYPES: Mapping[str, Mapping[str, frozenset[type]]] = {
    kind: {
        re.sub(f"^{OURS}", THEIRS, name): frozenset(
            {*get_args(hint), hint} | ({int} if float in get_args(hint) else set())
        )
        for name, hint in get_type_hints(record).items()
        if name != "replies"
    }
    for kind, record in (("t1", Comment), ("t3", Post), ("t5", About))
}
"""The types that the documented fields have in JSON, by the upstream's names; a value of another type is left out.

The replies to a comment are a listing, which is read like any other."""
DEEPEST = 200
"""Levels; the deepest threads have 60."""
CONTAINERS = (dict, list)


def is_thing(value: Any, *kinds: str) -> bool:
    """Whether a value is a thing, of one of these kinds."""
    return isinstance(value, dict) and value.get("kind") in kinds and isinstance(value.get("data"), dict)


def children(listing: Any) -> list[Thing]:
    """The posts, comments and placeholders of omitted comments in a listing, without odd ones, which it loses.

    Raises LayoutError for any other value, and where none of its children can be read.
    """
    if not is_thing(listing, "Listing"):
        raise LayoutError("a listing")
    found = listing["data"].get("children")
    if not isinstance(found, list) or not isinstance(listing["data"].setdefault("after", None), str | None):
        raise LayoutError("the children of a listing")
    listing["data"]["children"] = readable(_child, found)
    return cast(list[Thing], listing["data"]["children"])


def _child(child: Any) -> Thing:
    if not is_thing(child, "t1", "t3", "more"):
        raise OddItemError("a post or a comment in a listing")
    data = child["data"]
    if child["kind"] == "more":
        if not isinstance(data.get("children"), list):
            raise OddItemError("the ids of comments that were left out")
        data["children"] = [name for name in data["children"] if isinstance(name, str)]
    elif not (data.get("id") and isinstance(data["id"], str)):
        raise OddItemError("the id of a post or a comment")
    return cast(Thing, child)


def completed(found: Any) -> Any:
    """The same JSON, changed in place: with all documented fields, and our names beside the upstream's.

    Raises LayoutError for JSON that is deeper than any thread.
    """
    for value in _objects(found):
        if is_thing(value, *DOCUMENTED):
            _complete(value["kind"], value["data"])
        for name in [name for name in value if name.startswith(THEIRS)]:
            value[OURS + name.removeprefix(THEIRS)] = value[name]
    return found


def _complete(kind: str, data: Thing) -> None:
    for name in [name for name in TYPES[kind].keys() & data.keys() if type(data[name]) not in TYPES[kind][name]]:
        data[name] = None
    for name, missing in DOCUMENTED[kind].items():
        data.setdefault(name, missing)
    if kind != "t5" and data["name"] is None:
        data["name"] = f"{kind}_{data.get('id')}"
    if kind == "t1" and data["replies"] != "" and not _has_children(data["replies"]):
        data["replies"] = ""
        count_odd()


def _has_children(replies: Any) -> bool:
    """Whether the replies to a comment are a listing with any that can be read, or none."""
    try:
        children(replies)
    except LayoutError:
        return False
    return True


def _objects(found: Any) -> Iterator[Thing]:
    """All objects in a JSON value, outer ones first, so that the caller may change what they contain."""
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise LayoutError("a thread that ends")
        yield from (value for value in level if isinstance(value, dict))
        values = (inner for value in level for inner in (value.values() if isinstance(value, dict) else value))
        level = [value for value in values if isinstance(value, CONTAINERS)]
