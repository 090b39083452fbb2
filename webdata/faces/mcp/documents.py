"""Long texts in parts, each with a cursor to the next."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from webdata.domain.records import Record
from webdata.domain.text_parts import CURSOR, part_begin, part_cursor, part_end
from webdata.faces.mcp.foreign_text import framed, visible
from webdata.faces.mcp.results import ToolAnswer, whole_number, wrong_argument
from webdata.faces.mcp.tools import LONGEST_PART, USUAL_PART, WebTool

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
        most, cursor = whole_number(arguments.get("max_chars", USUAL_PART)), arguments.get("cursor")
        if type(most) is not int or not LEAST_PART <= most <= LONGEST_PART:
            raise wrong_argument("max_chars", f"is no whole number from {LEAST_PART} to {LONGEST_PART}")
        if cursor is not None and not (isinstance(cursor, str) and re.fullmatch(CURSOR, cursor)):
            raise wrong_argument("cursor", "is none that an answer had: give its next_cursor, or none")
        return cls(most, cursor)


def document(tool: WebTool, record: Record, shape: PartShape) -> ToolAnswer:
    """A part of the text of a record, or of its JSON; raises QueryError for a cursor of another text."""
    plain = tool.resource.text(record)
    text = plain.body if plain else orjson.dumps(record).decode()
    try:
        begin = part_begin(text, shape.cursor)
    except ValueError as error:
        raise wrong_argument("cursor", str(error)) from None
    end = _end(text, begin, shape.max_chars)
    part = visible(text[begin:end])
    structured = {**_about(record), "text": part, "length": len(text)}
    more = ""
    if end < len(text):
        structured["next_cursor"] = part_cursor(text, end)
        more = f"\nThere is more: call again with the same arguments and cursor {structured['next_cursor']}"
    return ToolAnswer(structured, f"Characters {begin} to {end} of {len(text)}. {framed(part)}{more}")


def _about(record: Record) -> dict[str, Any]:
    """Where a page was in the end, and its status."""
    config = record.get("config")
    url = {"url": visible(config["url"])} if isinstance(config, dict) and "url" in config else {}
    return {**url, **({"status": record["status"]} if "status" in record else {})}


def _end(text: str, begin: int, most: int) -> int:
    """The end of a part that is not too long in JSON either."""
    while len(text[begin : begin + most].encode("ascii", "backslashreplace")) > ESCAPED:
        most = most * 3 // 4
    return part_end(text, begin, most)
