"""Long texts in parts, each with a cursor to the next: an offset, and a checksum of the text before it."""

import re
from zlib import crc32

CURSOR = r"[0-9]{1,9}-[0-9a-f]{8}"
"""The form of a cursor, as a regular expression."""
BEFORE = 200
"""Characters before a part that a cursor knows, so that it does not go on in another text."""
CHANGED = "is of a text that has changed since: begin again without it"


def part_begin(text: str, cursor: str | None) -> int:
    """Where the part of a cursor begins, the first part for None; raises ValueError for a cursor of another text."""
    if cursor is None:
        return 0
    begin = int(cursor.partition("-")[0]) if re.fullmatch(CURSOR, cursor) else 0
    if begin > len(text) or part_cursor(text, begin) != cursor:
        raise ValueError(CHANGED)
    return begin


def part_end(text: str, begin: int, most: int) -> int:
    """Where a part of at most so many characters ends: behind a paragraph, a line or a word in its second half."""
    end = begin + most
    if end >= len(text):
        return len(text)
    for sign in ("\n\n", "\n", " "):
        if (found := text.rfind(sign, begin + most // 2, end)) >= 0:
            return found + len(sign)
    return end


def part_cursor(text: str, offset: int) -> str:
    """The cursor of the part that begins at an offset."""
    before = f"{len(text)}{text[max(0, offset - BEFORE) : offset]}"
    return f"{offset}-{crc32(before.encode('utf-8', 'surrogatepass')):08x}"
