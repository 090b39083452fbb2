"""Tables in the output of the commands."""

from collections.abc import Sequence
from datetime import datetime

import click


def to_minute(time: datetime | None) -> str:
    """A time in UTC, to the minute; empty for None."""
    return f"{time:%Y-%m-%d %H:%M}" if time else ""


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, numbers to the right. Unprintable characters, which terminals obey, are replaced."""
    lines = [header, *([_printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (_padded(cell, width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.lstrip("-").isdigit() else cell.ljust(width)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)
