"""JSON of upstreams, which may have what JSON may not, or what has no UTF-8: such texts are mended and counted.

Any value of it may be null, missing or of another type.

A lone surrogate escape is legal JSON (RFC 8259, section 8.2), but no text; titles that are cut within a character end
with one.
"""

import re
from typing import Any, TypeVar

import orjson

from webdata.domain.errors import UpstreamError
from webdata.pages._text import printable
from webdata.pages.odd_items import count_odd

T = TypeVar("T")

MARK = b"\xef\xbb\xbf"
REPLACEMENT = "\ufffd"
ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rf"|(?P<broken>(?:\\u[dD][89abAB][0-9a-fA-F]{{2}}(?!\\u[dD][c-fC-F])|\\u[dD][c-fC-F][0-9a-fA-F]{{2}}|{REPLACEMENT})+)"
    r"|\\."
)
"""Each escape: a pair of surrogates, or lone ones, or any other, so that `\\ud800` after a backslash is none."""
CONTROL = re.compile(rb"\\u00(?:[01]|7[fF]|[89])|\\[bf]|\x7f|\xc2[\x80-\x9f]")
"""Where a text may have a control character."""
LONGEST_CONTEXT = 200
"""Characters of a text before a broken one by which texts are told apart."""


def loads(body: bytes | str) -> Any:
    """The value of a body, its texts without control characters; raises UpstreamError for one that is not JSON."""
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body.removeprefix(MARK)
    value = _value(raw)
    if CONTROL.search(raw):
        _clean(value)
    return value


def _clean(value: Any) -> None:
    """Take the control characters out of all texts within a value."""
    unread = [value] if isinstance(value, dict | list) else []
    while unread:
        around = unread.pop()
        for key, one in around.items() if isinstance(around, dict) else enumerate(around):
            if isinstance(one, str):
                around[key] = printable(one)
            elif isinstance(one, dict | list):
                unread.append(one)


def _value(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    text = raw.decode("utf-8", "replace")
    texts: set[str] = set()

    def mended(escape: re.Match[str]) -> str:
        if escape["broken"] is None:
            return escape.group()
        texts.add(text[max(0, escape.start() - LONGEST_CONTEXT) : escape.start()].rpartition('"')[2])
        return REPLACEMENT

    try:
        value = orjson.loads(ESCAPE.sub(mended, text))
    except orjson.JSONDecodeError:
        raise UpstreamError("the body is no JSON, or was cut off", "broken_body") from None
    count_odd(len(texts))
    return value


def at(value: Any, *path: str | int) -> Any:
    """The value under the keys and indexes, or None."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def of(kind: type[T], value: Any, *path: str | int) -> T | None:
    """The value under a path if it is of this type, else None; a bool is no int."""
    found = at(value, *path)
    return found if isinstance(found, kind) and not (kind is int and isinstance(found, bool)) else None


def count(value: Any, *path: str | int) -> int | None:
    """The number under a path, if it is a whole number from 0, else None."""
    found = of(int, value, *path)
    return found if found is not None and found >= 0 else None


def objects(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of the list under a path."""
    return [one for one in of(list, value, *path) or [] if isinstance(one, dict)]
