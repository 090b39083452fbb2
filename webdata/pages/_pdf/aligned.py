"""Tables without lines: cells that the gaps between them tell."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from statistics import mean, median

from webdata.pages._pdf.pieces import PdfPiece, piece_around, rows
from webdata.pages._pdf.words import PdfWord

COLUMN_LINES = 3
"""Lines side by side that make columns; fewer do where pages before have the same columns."""
FILLED = 0.75
FILLED_OF_TWO = 0.55
"""The share of their columns, also if there are two, that most cells fill at most; lines of text fill nearly all."""
FILLED_IN_ORDER = 0.88
"""The same where the page's own order goes from cell to cell."""
RAGGED = 1.5
"""How much higher the highest cell of a row is than its lowest one where they have different numbers of lines."""
MOST_CELL_LINES = 5
"""Lines of the cells of a table, on average; more are columns of text."""
MOST_WIDE_ROWS = 4
"""Rows of text above or below a table that may be beside the same gap as its cells."""
ALIGNED = 0.8
"""The share of the rows of a table whose cells are on one line."""
CLOSE = 0.35
"""The space between the lines of one cell at most, in sizes of the font."""


def aligned_table(band: list[PdfPiece], from_right: bool) -> PdfPiece | None:
    """The table that some pieces are; None for columns of text."""
    if any(piece.cells is not None for piece in band):
        return None
    band = _without_wide_ends(band)
    extents = _extents(band)
    if len(extents) < 2:
        return None
    kept = _without_short_ends(_rows_in_order(band, extents, from_right))
    if kept and _are_in_order(kept, extents):
        return _table(kept, extents, from_right)
    limit = FILLED if len(extents) > 2 else FILLED_OF_TWO
    for kept in map(_without_short_ends, (_spaced_rows(band, extents), rows(band))):
        if kept and _are_cells(kept, extents, limit):
            return _table(kept, extents, from_right)
    return None


def _without_short_ends(found: list[list[PdfPiece]]) -> list[list[PdfPiece]]:
    """The rows from the first to the last that has several cells, or none if they are too few for a table."""
    whole = [index for index, row in enumerate(found) if len(row) > 1]
    kept = found[whole[0] : whole[-1] + 1] if whole else []
    return kept if len(kept) >= COLUMN_LINES and len(whole) >= 0.6 * len(kept) else []


def _without_wide_ends(band: list[PdfPiece]) -> list[PdfPiece]:
    """The pieces without the rows above and below a table that lie over several of its columns, such as a heading."""
    found, best, number = rows(band), band, len(_extents(band))
    for begin, end in product(range(MOST_WIDE_ROWS + 1), repeat=2):
        inner = [piece for row in found[begin : len(found) - end] for piece in row]
        if len(found) - begin - end >= COLUMN_LINES and len(_extents(inner)) > number:
            best, number = inner, len(_extents(inner))
    inside = {*map(id, best)}
    return [piece for piece in band if id(piece) in inside]


def _table(found: list[list[PdfPiece]], extents: list[tuple[float, float]], from_right: bool) -> PdfPiece:
    table = piece_around([piece for row in found for piece in row])
    cells = _unwrapped(found, [[_cell(row, extent) for extent in extents] for row in found])
    table.cells = [row[::-1] for row in cells] if from_right else cells
    table.words = [word for row in table.cells for cell in row for word in cell]
    return table


def _spaced_rows(band: list[PdfPiece], extents: list[tuple[float, float]]) -> list[list[PdfPiece]]:
    """The rows of a table with space between them, whose cells may have several lines: each cell is one piece."""
    cells: list[PdfPiece] = []
    for left, right in extents:
        for piece in sorted((piece for piece in band if left <= piece.left <= right), key=lambda piece: piece.top):
            if cells and cells[-1].right > left and piece.top - cells[-1].bottom < CLOSE * piece.size:
                cells[-1].add(piece)
            else:
                cells.append(replace(piece))
    found: list[list[PdfPiece]] = []
    bottom = 0.0
    for cell in sorted(cells, key=lambda cell: cell.top):
        if found and cell.top < bottom - 1:
            found[-1].append(cell)
        else:
            found.append([cell])
        bottom = max(bottom, cell.bottom)
    return found


def _rows_in_order(band: list[PdfPiece], extents: list[tuple[float, float]], from_right: bool) -> list[list[PdfPiece]]:
    """The rows of a table whose cells the page's own order has one after the other: each cell is one piece."""
    found: list[list[list[PdfPiece]]] = []
    before, bottom = len(extents), 0.0
    for piece in band:
        column = next(index for index, extent in enumerate(extents) if piece.left < extent[1])
        column = len(extents) - 1 - column if from_right else column
        if column < before or piece.top > bottom + piece.size:
            found.append([[piece]])
            bottom = piece.bottom
        elif column == before:
            found[-1][-1].append(piece)
        else:
            if len(found[-1]) == 1 and piece.top > found[-1][0][-1].top - 1:  # the lines above are rows of one cell
                found[-1:] = [[[line]] for line in found[-1][0]]
            found[-1].append([piece])
        before, bottom = column, max(bottom, piece.bottom)
    return [[*map(_joined, row)] for row in found]


def _joined(parts: Sequence[PdfPiece]) -> PdfPiece:
    joined = replace(parts[0])
    for piece in parts[1:]:
        joined.add(piece)
    return joined


def _are_in_order(found: list[list[PdfPiece]], extents: list[tuple[float, float]]) -> bool:
    """Whether rows in the page's own order are a table's: one below the other, of few lines, not full or ragged."""
    tops = [min(piece.top for piece in row) for row in found]
    bottoms = [max(piece.bottom for piece in row) for row in found]
    if any(top + found[0][0].size / 2 < bottom for top, bottom in zip(tops[1:], bottoms, strict=False)):
        return False
    heights = [[piece.bottom - piece.top for piece in row] for row in found]
    if mean(map(mean, heights)) > MOST_CELL_LINES * min(map(min, heights)):
        return False
    ragged = sum(max(row) > RAGGED * min(row) for row in heights)
    limit = FILLED_IN_ORDER if len(extents) > 2 else FILLED_OF_TWO
    return _are_cells(found, extents, math.inf if ragged >= len(found) / 5 else limit)


def _extents(parts: list[PdfPiece]) -> list[tuple[float, float]]:
    """The columns of a table, from left to right: what its pieces cover together."""
    found: list[tuple[float, float]] = []
    for piece in sorted(parts, key=lambda piece: piece.left):
        if found and piece.left < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], piece.right)
        else:
            found.append((piece.left, piece.right))
    return found


def _are_cells(found: list[list[PdfPiece]], extents: list[tuple[float, float]], limit: float) -> bool:
    """Whether pieces are cells: they fill at most a share of their columns, and those of a row are aligned."""
    pitches = [following[0] - extent[0] for extent, following in pairwise(extents)]
    pitches.append(max(extents[-1][1] - extents[-1][0], min(pitches)))
    shares = []
    for row in found:
        for piece in row:
            column = next(index for index, extent in enumerate(extents) if piece.left < extent[1])
            shares.append((piece.right - piece.left) / pitches[column])
    return median(shares) < limit and sum(map(_are_aligned, found)) >= ALIGNED * len(found)


def _are_aligned(row: list[PdfPiece]) -> bool:
    """Whether the tops, the middles or the bottoms of pieces are on one line."""
    edges = zip(*((piece.top, piece.middle, piece.bottom) for piece in row), strict=True)
    return any(max(edge) - min(edge) < 2 for edge in edges)


def _cell(row: list[PdfPiece], extent: tuple[float, float]) -> list[PdfWord]:
    inside = [piece for piece in row if piece.left < extent[1] and piece.right > extent[0]]
    return [word for piece in sorted(inside, key=lambda piece: piece.left) for word in piece.words]


def _unwrapped(found: list[list[PdfPiece]], cells: list[list[list[PdfWord]]]) -> list[list[list[PdfWord]]]:
    """The rows of cells; a row close below another, without a first cell, goes on with it."""
    joined = [cells[0]]
    for (before, row), words in zip(pairwise(found), cells[1:], strict=True):
        close = row[0].top - max(piece.bottom for piece in before) < CLOSE * row[0].size
        if close and not words[0] and any(joined[-1]) and not any(map(_are_numbers, joined[-1], words)):
            joined[-1] = [[*cell, *more] for cell, more in zip(joined[-1], words, strict=True)]
        else:
            joined.append(words)
    return joined


def _are_numbers(above: list[PdfWord], below: list[PdfWord]) -> bool:
    """Whether two cells are numbers, of which neither goes on with the other."""
    texts = ["".join(word.text for word in cell) for cell in (above, below)]
    return all(any(map(str.isdecimal, text)) and not any(map(str.isalpha, text)) for text in texts)
