"""The tables of a page whose cells are ruled."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from webdata.pages._pdf.pieces import PdfPiece
from webdata.pages._pdf.words import PdfRule, PdfSheet, PdfWord

NEAR = 3.0
"""Points within which two lines meet, or are one."""
MOST_RULES = 2_000
"""Rules of a page among which grids are looked for; a drawing has more."""
SMALLEST_TABLE = 2
"""Rows and columns of a table; a frame around a text has one."""


def ruled_tables(sheet: PdfSheet, from_right: bool) -> tuple[list[PdfPiece], set[int]]:
    """The ruled tables of a page, and the indices of the words in them."""
    tables, placed = [], set[int]()
    if not 4 <= len(sheet.rules) <= MOST_RULES:
        return [], placed
    for grid in _grids(sheet.rules):
        upright = [rule for rule in grid if rule.bottom - rule.top > rule.right - rule.left]
        level = [rule for rule in grid if rule.bottom - rule.top <= rule.right - rule.left]
        if not upright or not level:
            continue
        ends = [edge for rule in level for edge in (rule.left, rule.right)]  # many tables have no outer lines
        columns = _positions([*(rule.left for rule in upright), min(ends), max(ends)])
        ends = [edge for rule in upright for edge in (rule.top, rule.bottom)]
        rows = _positions([*(rule.top for rule in level), min(ends), max(ends)])
        if len(columns) <= SMALLEST_TABLE or len(rows) <= SMALLEST_TABLE:
            continue
        found = [*_inside(sheet.words, columns, rows, placed)]
        cells: list[list[list[PdfWord]]] = [[[] for _ in columns[1:]] for _ in rows[1:]]
        for index, row, column in found:
            cells[row][column].append(sheet.words[index])
        if sum(any(row) for row in cells) < SMALLEST_TABLE or sum(map(any, zip(*cells, strict=True))) < SMALLEST_TABLE:
            continue
        if from_right:
            cells = [row[::-1] for row in cells]
        placed |= {index for index, _, _ in found}
        tables.append(_table(columns, rows, cells))
    return tables, placed


def _positions(values: Sequence[float]) -> list[float]:
    """The places of lines, of which those near to each other are one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > NEAR:
            found.append(value)
    return found


def _grids(rules: Sequence[PdfRule]) -> Iterator[list[PdfRule]]:
    """The groups of rules that meet."""
    parents = [*range(len(rules))]

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    order = sorted(range(len(rules)), key=lambda index: rules[index].top)
    open_rules: list[int] = []
    for index in order:
        open_rules = [other for other in open_rules if rules[other].bottom + NEAR >= rules[index].top]
        for other in open_rules:
            if _meet(rules[index], rules[other]):
                parents[root(index)] = root(other)
        open_rules.append(index)
    groups = defaultdict(list)
    for index in order:
        groups[root(index)].append(rules[index])
    yield from groups.values()


def _meet(first: PdfRule, second: PdfRule) -> bool:
    across = first.left <= second.right + NEAR and second.left <= first.right + NEAR
    return across and first.top <= second.bottom + NEAR and second.top <= first.bottom + NEAR


def _inside(
    words: Sequence[PdfWord], columns: list[float], rows: list[float], placed: set[int]
) -> Iterator[tuple[int, int, int]]:
    """The words of a grid: their indices, rows and columns."""
    for index, word in enumerate(words):
        x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
        if columns[0] < x < columns[-1] and rows[0] < y < rows[-1] and index not in placed and word.upright:
            yield index, bisect_right(rows, y) - 1, bisect_right(columns, x) - 1


def _table(columns: list[float], rows: list[float], cells: list[list[list[PdfWord]]]) -> PdfPiece:
    """The table without rows and columns that have no word: they are between the lines of double rules."""
    used = [any(column) for column in zip(*cells, strict=True)]
    kept = [[cell for cell, is_used in zip(row, used, strict=True) if is_used] for row in cells if any(row)]
    words = [word for row in kept for cell in row for word in cell]
    size = max((word.size for word in words), default=1.0)
    return PdfPiece(columns[0], rows[0], columns[-1], rows[-1], size, words, kept)
