"""Tables of which a first column stands still while the others scroll, written as two tables beside each other."""

from lxml.html import HtmlElement

from webdata.pages._url.blocks import rows_of
from webdata.pages._url.dropping import drop
from webdata.pages._url.weights import size

FEW = 3
"""Rows of the smallest such table."""


def join_columns(root: HtmlElement) -> None:
    """Move, in place, the names of rows that are a table of their own into the table with the rows, right behind it."""
    joined = []
    for table in root.iter("table"):
        beside = _beside(table)
        if beside is None:
            continue
        names, rows = rows_of(table), rows_of(beside)
        if len(names) != len(rows) or len(rows) < FEW or any(len(name) != 1 for name in names):
            continue
        for name, row in zip(names, rows, strict=True):
            row.insert(0, name[0])
        joined.append(table)
    drop(joined)


def _beside(table: HtmlElement) -> HtmlElement | None:
    """The table right behind another one, alone or in elements with nothing else."""
    beside = None if size(table.tail) else table.getnext()
    while beside is not None and beside.tag == "div":
        full = [child for child in beside if len(child) or size(child.text) or size(child.tail)]
        beside = full[0] if len(full) == 1 and not size(beside.text) else None
    return beside if beside is not None and beside.tag == "table" else None
