"""JSON as HTML, folded by level: an object or a list that fills more than a line opens and closes."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from markupsafe import Markup

MOST_CHARACTERS = 32_000
"""Characters of the HTML; a few more where it ends within a level."""
TAGS = 30
"""Characters of the elements around a value."""
LONGEST_STRING = 300
LONGEST_LINE = 70
"""Characters of a value that is shown without folding."""
DEEPEST = 12
OPEN_LEVELS = 1
HIDDEN = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Characters that are not seen, or change the order of others: they are shown as JSON may write them."""


class _Room:
    """How many more characters there is room for, and whether something was left out."""

    def __init__(self, characters: int) -> None:
        self.left = characters
        self.is_whole = True

    def take(self, text: str) -> str:
        """The text escaped, as the content of an element."""
        escaped = html.escape(text, quote=False)
        self.left -= len(escaped) + TAGS
        return escaped


def folded(value: Any) -> tuple[Markup, bool]:
    """The value as HTML, and whether all of it is there."""
    room = _Room(MOST_CHARACTERS)
    lines = "".join(_lines(value, "", room, 0))
    return Markup(lines), room.is_whole  # noqa: S704  # every string in it is escaped


def _lines(value: Any, name: str, room: _Room, depth: int) -> Iterator[str]:
    """A value with its name, each on a line of its own or as a `details` element."""
    if not isinstance(value, dict | list) or not value:
        yield f"<div>{name}{_plain(value, room)}</div>"
    elif depth >= DEEPEST:
        room.is_whole = False
        yield f"<div>{name}{_brackets(value)}</div>"
    elif (short := _short(value)) is not None:
        yield f"<div>{name}{room.take(short)}</div>"
    else:
        is_open = " open" if depth < OPEN_LEVELS else ""
        yield f"<details{is_open}><summary>{name}{_brackets(value)}</summary>"
        yield from _members(value, room, depth)
        yield "</details>"


def _members(value: Any, room: _Room, depth: int) -> Iterator[str]:
    pairs = value.items() if isinstance(value, Mapping) else ((None, one) for one in value)
    for number, (key, one) in enumerate(pairs):
        if room.left <= 0:
            room.is_whole = False
            yield f"<div>… {len(value) - number:,} more</div>"
            return
        name = "" if key is None else f"<b>{_text(str(key), room)}</b>: "
        yield from _lines(one, name, room, depth + 1)


def _brackets(value: Any) -> str:
    return f"{{…}} {len(value):,}" if isinstance(value, Mapping) else f"[…] {len(value):,}"


def _short(value: Any) -> str | None:
    """A list or an object on one line, if it fits and has plain values only."""
    values = list(islice(value.values() if isinstance(value, Mapping) else value, LONGEST_LINE))
    if len(values) > LONGEST_LINE // 3 or any(
        isinstance(one, dict | list) or (isinstance(one, str) and len(one) > LONGEST_LINE) for one in values
    ):
        return None
    text = _visible(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= LONGEST_LINE else None


def _plain(value: Any, room: _Room) -> str:
    if isinstance(value, str):
        return f"<bdi>{_text(value, room)}</bdi>"
    return room.take(json.dumps(value)[:LONGEST_STRING])


def _text(value: str, room: _Room) -> str:
    """A string as JSON, cut."""
    shown = room.take(_visible(json.dumps(value[:LONGEST_STRING], ensure_ascii=False)))
    if len(value) <= LONGEST_STRING:
        return shown
    room.is_whole = False
    return f"{shown}… {len(value):,} characters"


def _visible(text: str) -> str:
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
