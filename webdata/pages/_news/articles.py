"""Where ids lead that don't tell it: what the aggregator's article pages and its batched call say.

An article's page (`/articles/ID`) carries a signature; the call `batchexecute` takes any number of signed ids at once
and gives their addresses. Seen in use from August 2024 on; before, the page held the address itself (`data-n-au`).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from selectolax.lexbor import LexborHTMLParser

from webdata.domain.errors import LayoutError
from webdata.pages._news.ids import is_web_address

SIGNED = "[data-n-a-id][data-n-a-ts][data-n-a-sg]"
ADDRESSED = "[data-n-au]"
TIME = re.compile(r"[0-9]{1,15}")

CALL = "Fbv4je"
READER: list[Any] = ["X", "X", ["X", "X"], None, None, 1, 1, "US:en", None, 1, None, None, None, None, None, 0, 1]
"""Who reads and where; the aggregator takes placeholders."""
BETWEEN = re.compile(r"[\s\d]*")
"""What stands between the arrays of an answer that comes in chunks: their lengths."""
GUARD = ")]}'"
"""What comes first, so that no browser takes the answer for a script."""


@dataclass(frozen=True)
class Signed:
    """An id, and the aggregator's signature that lets it be asked for."""

    id: str
    time: int
    signature: str


def shown(body: bytes) -> Signed | str:
    """What an article's page tells: a signed id, or the publisher's address itself. Raises LayoutError."""
    tree = LexborHTMLParser(body)
    for node in tree.css(SIGNED):
        values = [node.attributes[f"data-n-a-{name}"] or "" for name in ("id", "ts", "sg")]
        if all(values) and TIME.fullmatch(values[1]):
            return Signed(values[0], int(values[1]), values[2])
    for node in tree.css(ADDRESSED):
        address = node.attributes["data-n-au"] or ""
        if is_web_address(address):
            return address
    raise LayoutError("an article's signature")


def call(signed: Sequence[Signed]) -> bytes:
    """The body of the one call that asks for the addresses of all of these ids."""
    asked = [[CALL, _dumps(_asked(one)), None, str(number)] for number, one in enumerate(signed, 1)]
    return urlencode({"f.req": _dumps([asked])}).encode()


def addresses(body: bytes, asked: int) -> list[str | None]:
    """The addresses of the so many ids that the call asked for, in their order; None for one that was not told.

    Raises LayoutError for an answer of another shape.
    """
    frames = [frame for array in _arrays(body.decode("utf-8", "replace")) for frame in array if _is_ours(frame)]
    if not frames:
        raise LayoutError("an answer to the call for addresses")
    found = {str(frame[-1]): _address(frame[2]) for frame in frames}
    return [found.get(str(number)) for number in range(1, asked + 1)]


def _asked(one: Signed) -> list[Any]:
    about = [READER, "X", "X", 1, [1, 1, 1], 1, 1, None, 0, 0, None, 0]
    return ["garturlreq", about, one.id, one.time, one.signature]


def _arrays(text: str) -> Iterator[list[Any]]:
    """The JSON arrays of an answer, whole or in chunks; what is cut off at the end is left out."""
    decoder = json.JSONDecoder()
    at = len(GUARD) if text.startswith(GUARD) else 0
    while at < len(text):
        at = _skipped(text, at)
        try:
            array, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(array, list):
            yield array


def _skipped(text: str, at: int) -> int:
    between = BETWEEN.match(text, at)
    return between.end() if between else at


def _is_ours(frame: Any) -> bool:
    return isinstance(frame, list) and len(frame) > 3 and frame[:2] == ["wrb.fr", CALL]


def _address(told: Any) -> str | None:
    """The address in `["garturlres", "https://…", …]`."""
    try:
        values = json.loads(told)
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(values, list) or len(values) < 2 or values[0] != "garturlres":
        return None
    return values[1] if isinstance(values[1], str) and is_web_address(values[1]) else None


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
