"""The addresses of opaque ids: the aggregator's article pages, and its batched call.

An article's page (`/articles/ID`) contains a signature; the call `batchexecute` takes any number of signed ids and
returns their addresses. In use since August 2024; before, the page contained the address (`data-n-au`).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from webdata.domain.errors import LayoutError
from webdata.pages._elements import parsed
from webdata.pages._news.ids import is_web_address

SIGNED = "[data-n-a-id][data-n-a-ts][data-n-a-sg]"
ADDRESSED = "[data-n-au]"
TIME = re.compile(r"[0-9]{1,15}")

RPC_ID = "Fbv4je"
READER: list[Any] = ["X", "X", ["X", "X"], None, None, 1, 1, "US:en", None, 1, None, None, None, None, None, 0, 1]
"""The reader's locale and client; the aggregator accepts placeholders."""
BETWEEN = re.compile(r"[\s\d]*")
"""The lengths between the arrays of a chunked answer."""
GUARD = ")]}'"
"""The start of an answer, which keeps browsers from running it as a script."""


@dataclass(frozen=True)
class Signed:
    """An id with the signature that the call requires."""

    id: str
    time: int
    signature: str


def signature_or_address(body: bytes) -> Signed | str:
    """The signed id on an article's page, else the publisher's address; raises LayoutError without either."""
    root = parsed(body)
    for node in root.css(SIGNED):
        values = [node.attributes[f"data-n-a-{name}"] or "" for name in ("id", "ts", "sg")]
        if all(values) and TIME.fullmatch(values[1]):
            return Signed(values[0], int(values[1]), values[2])
    for node in root.css(ADDRESSED):
        address = node.attributes["data-n-au"] or ""
        if is_web_address(address):
            return address
    raise LayoutError("an article's signature")


def call_body(signed: Sequence[Signed]) -> bytes:
    """The form of the call for the addresses of these ids."""
    calls = [[RPC_ID, _dumps(_arguments(one)), None, str(number)] for number, one in enumerate(signed, 1)]
    return urlencode({"f.req": _dumps([calls])}).encode()


def addresses(body: bytes, size: int) -> list[str | None]:
    """The addresses in the answer to a call with `size` ids, in their order; None for an id without one.

    Raises LayoutError for an answer of another shape.
    """
    frames = [frame for array in _arrays(body.decode("utf-8", "replace")) for frame in array if _is_reply(frame)]
    if not frames:
        raise LayoutError("an answer to the call for addresses")
    by_number = {str(frame[-1]): _address(frame[2]) for frame in frames}
    return [by_number.get(str(number)) for number in range(1, size + 1)]


def _arguments(one: Signed) -> list[Any]:
    context = [READER, "X", "X", 1, [1, 1, 1], 1, 1, None, 0, 0, None, 0]
    return ["garturlreq", context, one.id, one.time, one.signature]


def _arrays(text: str) -> Iterator[list[Any]]:
    """The JSON arrays of an answer, whole or chunked, without a truncated one at the end."""
    decoder = json.JSONDecoder()
    at = len(GUARD) if text.startswith(GUARD) else 0
    while at < len(text):
        at = _array_start(text, at)
        try:
            array, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(array, list):
            yield array


def _array_start(text: str, at: int) -> int:
    between = BETWEEN.match(text, at)
    return between.end() if between else at


def _is_reply(frame: Any) -> bool:
    return isinstance(frame, list) and len(frame) > 3 and frame[:2] == ["wrb.fr", RPC_ID]


def _address(text: Any) -> str | None:
    """The address in `["garturlres", "https://…", …]`."""
    try:
        values = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    if not isinstance(values, list) or len(values) < 2 or values[0] != "garturlres":
        return None
    return values[1] if isinstance(values[1], str) and is_web_address(values[1]) else None


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
