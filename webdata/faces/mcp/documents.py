"""Long texts in parts, each with a cursor to the next."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import orjson

from webdata.domain.records import Record
from webdata.faces.mcp.foreign_text import framed, visible
from webdata.faces.mcp.results import ToolAnswer, wrong_argument
from webdata.faces.mcp.tools import LONGEST_PART, USUAL_PART, WebTool

CURSOR = re.compile(r"(\d{1,12})-([0-9a-f]{8})")
BEFORE = 200
"""Characters before a part that a cursor knows, so that it does not go on in another text."""
LEAST_PART = 1000
ESCAPED = 36_000
"""Bytes of a part in JSON, where a character that is not ASCII may take six."""


@dataclass(frozen=True)
class PartShape:
    """Which part of a text is shown."""

    max_chars: int = USUAL_PART
    cursor: str | None = None

    @classmethod
    def read(cls, arguments: Mapping[str, Any]) -> "PartShape":
        """The shape that arguments ask for; raises QueryError."""
        most, cursor = arguments.get("max_chars", USUAL_PART), arguments.get("cursor")
        if type(most) is not int or not LEAST_PART <= most <= LONGEST_PART:
            raise wrong_argument("max_chars", f"is no whole number from {LEAST_PART} to {LONGEST_PART}")
        if cursor is not None and not (isinstance(cursor, str) and CURSOR.fullmatch(cursor)):
            raise wrong_argument("cursor", "is none that an answer had: give its next_cursor, or none")
        return cls(most, cursor)


def document(tool: WebTool, record: Record, shape: PartShape) -> ToolAnswer:
    """A part of the text of a record, or of its JSON; raises QueryError for a cursor of another text."""
    plain = tool.resource.text(record)
    text = plain.body if plain else orjson.dumps(record).decode()
    begin = _begin(text, shape.cursor)
    end = _end(text, begin, shape.max_chars)
    part = visible(text[begin:end])
    structured = {**_about(record), "text": part, "length": len(text)}
    more = ""
    if end < len(text):
        structured["next_cursor"] = _cursor(text, end)
        more = f"\nThere is more: call again with the same arguments and cursor {structured['next_cursor']}"
    return ToolAnswer(structured, f"Characters {begin} to {end} of {len(text)}. {framed(part)}{more}")


def _about(record: Record) -> dict[str, Any]:
    """Where a page was in the end, and its status."""
    config = record.get("config")
    url = {"url": visible(config["url"])} if isinstance(config, dict) and "url" in config else {}
    return {**url, **({"status": record["status"]} if "status" in record else {})}


def _begin(text: str, cursor: str | None) -> int:
    if cursor is None:
        return 0
    found = CURSOR.fullmatch(cursor)
    begin = int(found[1]) if found else 0
    if begin > len(text) or _cursor(text, begin) != cursor:
        raise wrong_argument("cursor", "is of a text that has changed since: call again without it")
    return begin


def _cursor(text: str, offset: int) -> str:
    before = f"{len(text)}{text[max(0, offset - BEFORE) : offset]}"
    return f"{offset}-{crc32(before.encode('utf-8', 'surrogatepass')):08x}"


def _end(text: str, begin: int, longest: int) -> int:
    """The end of a part: at a line's end or a blank where there is one in its last quarter."""
    end = min(begin + longest, len(text))
    while len(text[begin:end].encode("ascii", "backslashreplace")) > ESCAPED:
        end = begin + (end - begin) * 3 // 4
    if end == len(text):
        return end
    last_quarter = begin + (end - begin) * 3 // 4
    for sign in ("\n\n", "\n", " "):
        if (found := text.rfind(sign, last_quarter, end)) >= 0:
            return found + len(sign)
    return end
