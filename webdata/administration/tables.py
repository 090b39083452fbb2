"""How the commands show things."""

from collections.abc import Sequence
from datetime import datetime

import click


def told(moment: datetime | None) -> str:
    """A moment, in UTC and to the minute."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be; numbers to the right. Names of old may hold what a terminal obeys."""
    lines = [header, *([_printable(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (_padded(cell, width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _padded(cell: str, width: int) -> str:
    return cell.rjust(width) if cell.lstrip("-").isdigit() else cell.ljust(width)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "�" for sign in text)
