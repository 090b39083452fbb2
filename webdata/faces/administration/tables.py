"""Tables in the output of the commands."""

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate

import click


def to_minute(time: datetime | None) -> str:
    """A time in UTC, to the minute; empty for None."""
    return f"{time:%Y-%m-%d %H:%M}" if time else ""


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, numbers to the right, with printable characters alone."""
    lines = [header, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(map(text_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (_padded(cell, width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _padded(cell: str, width: int) -> str:
    blanks = " " * (width - text_width(cell))
    return blanks + cell if cell.lstrip("-").isdigit() else cell + blanks


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes: East Asian characters take two, accents of their own none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """A text that takes at most so many columns, and ends with … where some is missing."""
    if text_width(text) <= width:
        return text
    widths = accumulate(map(_width, text))
    return text[: sum(1 for one in widths if one < width)] + "…"


def printable(text: str) -> str:
    """A text without what a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in text)
