"""The reading order of a page: pieces of lines, columns by the gaps between them, and tables in their places.

A gap between two pieces side by side is that of columns if it goes on over several lines. What lies above such a gap is
read first, then the pieces on one side of it, then those on the other, then what lies below; each part again so. Where
the pieces on the two sides are cells, the part is a table.
"""

import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product, takewhile
from statistics import mean, median

from webdata.pages._pdf.words import PdfRule, PdfSheet, PdfWord

APART = 0.9
"""The gap that parts two pieces of a line, in sizes of their font; columns of journals are that close."""
MOST_JUSTIFIED = 40
"""Words of a line that has such gaps."""
JUSTIFIED = 1.6
JUSTIFIED_SENTENCES = 3.5
"""How much wider the widest gap of a justified line is than its narrowest one, also after a sentence, at most."""
NARROWEST = 0.5
"""The gap that must go on over all lines of two columns, in sizes of the font."""
COLUMN_LINES = 3
"""Lines side by side that make columns; fewer do where pages before have the same columns."""
CERTAIN_LINES = 10
"""Lines side by side from which columns are expected on the pages that follow."""
GOES_ON = 2.5
"""The space after which lines on one side of a gap are of its columns no more, in sizes of the font."""
MOST_PIECES = 2_000
"""Pieces of a page whose columns are looked for; beyond it they are read row by row."""
NEAREST = 60
"""Pieces among which the one beside a piece is looked for, in the order of their tops."""
DEEPEST = 30
"""Parts within parts of a page whose columns are looked for."""
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
BULLETS = "•‣◦▪▫●○■□◆➢➤✓❖–—-*·∙⁃\uf0b7\uf0a7"
MARKER = re.compile(rf"(?:[{re.escape(BULLETS)}]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]|\.\d{{1,3}})")
"""What begins an item of a list."""
SENTENCE_ENDS = ".!?:;。！？…"
"""What ends a sentence or a clause, in most scripts."""
CLOSE = 0.35
"""The space between the lines of one cell at most, in sizes of the font."""
RIGHT_TO_LEFT = ("R", "AL")
"""Classes of characters: https://www.unicode.org/reports/tr9/"""


@dataclass(slots=True)
class PdfPiece:
    """Words of one line without a wide gap among them, or a table."""

    left: float
    top: float
    right: float
    bottom: float
    size: float
    words: list[PdfWord] = field(default_factory=list)
    cells: list[list[list[PdfWord]]] | None = None
    """The rows of a table, of cells of words."""

    @property
    def bold(self) -> bool:
        return self.words[0].bold and self.words[-1].bold

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def add(self, other: "PdfPiece") -> None:
        """Put the words of another piece after one's own."""
        self.words = [*self.words, *other.words]
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.top, self.bottom = min(self.top, other.top), max(self.bottom, other.bottom)
        self.size = max(self.size, other.size)


@dataclass(slots=True)
class PdfGap:
    """An empty strip between pieces side by side."""

    left: float
    right: float
    top: float
    bottom: float
    pairs: int = 1

    @property
    def width(self) -> float:
        return self.right - self.left

    def has_left(self, piece: PdfPiece) -> bool:
        """Whether a piece is on the left side."""
        return piece.left + piece.right < self.left + self.right

    def is_crossed(self, piece: PdfPiece) -> bool:
        """Whether a piece lies over the gap, by more than letters of another font do."""
        return piece.left < self.right - 1 and piece.right > self.left + 1

    def shared(self, other: "PdfGap") -> float:
        """The width that is of two gaps."""
        return min(other.right, self.right) - max(other.left, self.left)

    def is_over(self, other: "PdfGap") -> bool:
        """Whether another gap is within this one."""
        return self.left <= other.left + 1 and self.right >= other.right - 1


PdfColumn = list[PdfPiece]
"""Lines and tables that are read from top to bottom."""


def columns(sheet: PdfSheet, parts: Sequence[PdfPiece], from_right: bool, known: list[PdfGap]) -> list[PdfColumn]:
    """The columns of a page in reading order, of pieces and ruled tables; text that is not upright comes last.

    `known` are the gaps of columns on the pages before, to which those of this page are added.
    """
    found = [lines(parts, from_right)] if len(parts) > MOST_PIECES else [*_ordered(parts, from_right, known, 0)]
    turned = [word for word in sheet.words if not word.upright]
    return [*found, [_piece(turned)]] if turned else found


def is_from_right(words: Iterable[PdfWord]) -> bool:
    """Whether most of the words are of a script that is written from right to left."""
    kinds = [unicodedata.bidirectional(word.text[0]) for word in words]
    return sum(kind in RIGHT_TO_LEFT for kind in kinds) > kinds.count("L")


def pieces(words: Sequence[PdfWord]) -> list[PdfPiece]:
    """The pieces of lines, in the page's own order of its words."""
    found: list[PdfPiece] = []
    begin = 0
    for index in range(1, len(words) + 1):
        if index == len(words) or _parts(words[index - 1], words[index]):
            found.append(_piece(words[begin:index]))
            begin = index
    return _with_markers([piece for row in _justified(found) for piece in row])


def add_marks(parts: Sequence[PdfPiece], dots: Sequence[PdfRule]) -> None:
    """Put a bullet before each piece that has a dot beside its beginning."""
    for dot in dots[:MOST_PIECES]:
        middle = (dot.top + dot.bottom) / 2
        for piece in parts[:MOST_PIECES]:
            gap = max(piece.left - dot.right, dot.left - piece.right)
            if piece.top < middle < piece.bottom and 0 < gap < 2 * piece.size and piece.words[0].text != "•":
                first = piece.words[0]
                mark = first._replace(text="•", left=dot.left, right=dot.right)
                piece.words.insert(0, mark)
                piece.left, piece.right = min(piece.left, dot.left), max(piece.right, dot.right)
                break


def lines(parts: Iterable[PdfPiece], from_right: bool) -> PdfColumn:
    """The lines of one column from top to bottom, each of the pieces side by side."""
    found: PdfColumn = []
    for row in rows(parts):
        row.sort(key=lambda piece: -piece.right if from_right else piece.left)
        line = row[0]
        for piece in row[1:]:
            if line.cells is None and piece.cells is None:
                line.add(piece)
            else:
                found.append(line)
                line = piece
        found.append(line)
    return found


def rows(parts: Iterable[PdfPiece]) -> list[list[PdfPiece]]:
    """The pieces that are side by side, from top to bottom."""
    found: list[list[PdfPiece]] = []
    for piece in sorted(parts, key=lambda piece: piece.middle):
        if found and _beside(found[-1][0], piece):
            found[-1].append(piece)
        else:
            found.append([piece])
    return found


def _parts(word: PdfWord, following: PdfWord) -> bool:
    """Whether two words in a row are of two pieces."""
    if abs(word.bottom - following.bottom) < 1 and 0 <= following.left - word.right <= APART * word.size:
        return False  # as most words are
    overlap = min(word.bottom, following.bottom) - max(word.top, following.top)
    if overlap < 0.4 * min(word.bottom - word.top, following.bottom - following.top):
        return True
    size = max(word.size, following.size, 1.0)
    gap = max(following.left - word.right, word.left - following.right)
    return gap > APART * size or gap < -size * len(word.text)


def _justified(found: Iterable[PdfPiece]) -> Iterator[list[PdfPiece]]:
    """The pieces of each line, as one where only its justification has parted them.

    The gaps of a justified line are alike, and the lines above and below have theirs at other places.
    """
    in_lines: list[list[PdfPiece]] = []
    for piece in found:
        if in_lines and _is_right_after(in_lines[-1][-1], piece):
            in_lines[-1].append(piece)
        else:
            in_lines.append([piece])
    for before, line, after in zip([[], *in_lines], in_lines, [*in_lines[1:], []], strict=False):
        is_one = len(line) > 1 and _has_even_gaps(line) and not (_continues(before, line) or _continues(after, line))
        yield [_piece([word for piece in line for word in piece.words])] if is_one else line


def _is_right_after(piece: PdfPiece, following: PdfPiece) -> bool:
    """Whether a piece is on the line of another, at the side to which that line goes."""
    first, last, other = piece.words[0], piece.words[-1], following.words[0]
    if abs(last.bottom - other.bottom) >= 1 or abs(last.size - other.size) >= 1:
        return False
    goes_left = last.right < first.left or (len(piece.words) == 1 and other.right < last.left)
    return other.right <= last.left if goes_left else other.left >= last.right


def _gaps(line: Sequence[PdfPiece]) -> list[tuple[float, float, str]]:
    """The gaps between the words of a line, and the last character of the word before each."""
    return [
        (*((word.right, other.left) if other.left >= word.right else (other.right, word.left)), word.text[-1])
        for word, other in pairwise([word for piece in line for word in piece.words])
    ]


def _has_even_gaps(line: Sequence[PdfPiece]) -> bool:
    gaps = _gaps(line)[:MOST_JUSTIFIED]
    least = min(right - left for left, right, _ in gaps)
    most = {end: JUSTIFIED_SENTENCES if end in SENTENCE_ENDS else JUSTIFIED for _, _, end in gaps}
    return 1 < len(gaps) < MOST_JUSTIFIED and all(right - left <= least * most[end] for left, right, end in gaps)


def _continues(other: Sequence[PdfPiece], line: Sequence[PdfPiece]) -> bool:
    """Whether all gaps of a line go on in another, as those between columns do."""
    others = _gaps(other) if len(other) > 1 else []
    least = NARROWEST * line[0].size
    return bool(others) and all(
        any(min(right, end) - max(left, begin) >= least for begin, end, _ in others) for left, right, _ in _gaps(line)
    )


def _piece(words: Sequence[PdfWord]) -> PdfPiece:
    piece = _around(words)
    piece.words = [*words]
    return piece


def _around(parts: Sequence[PdfWord] | Sequence[PdfPiece]) -> PdfPiece:
    """A piece without words, of the place and the size of some words or pieces."""
    return PdfPiece(
        min(part.left for part in parts),
        min(part.top for part in parts),
        max(part.right for part in parts),
        max(part.bottom for part in parts),
        sorted(part.size for part in parts)[len(parts) // 2],
    )


def _with_markers(found: list[PdfPiece]) -> list[PdfPiece]:
    """The pieces, of which each marker of a list's item is one with the text beside it."""
    joined: list[PdfPiece] = []
    for piece in found:
        before = joined[-1] if joined else None
        if before and len(before.words) == 1 and MARKER.fullmatch(before.words[0].text) and _beside(before, piece):
            gap = max(piece.left - before.right, before.left - piece.right)
            if 0 <= gap < 4 * before.size:
                before.add(piece)
                continue
        joined.append(piece)
    return joined


def _beside(first: PdfPiece, second: PdfPiece) -> bool:
    """Whether two pieces are in one row."""
    overlap = min(first.bottom, second.bottom) - max(first.top, second.top)
    return overlap > 0.5 * min(first.bottom - first.top, second.bottom - second.top)


def _ordered(parts: Sequence[PdfPiece], from_right: bool, known: list[PdfGap], depth: int) -> Iterator[PdfColumn]:
    """The columns of some pieces."""
    gap = _widest_gap(parts, known) if depth < DEEPEST else None
    if gap is None:
        if parts:
            yield lines(parts, from_right)
        return
    band = [piece for piece in parts if gap.top <= piece.middle <= gap.bottom]
    table = aligned_table(band, from_right)
    if table is not None:
        inside = {*map(id, table.words)}
        others = [piece for piece in parts if id(piece.words[0]) not in inside]
        yield from _ordered([piece for piece in others if piece.middle < table.middle], from_right, known, depth + 1)
        yield [table]
        yield from _ordered([piece for piece in others if piece.middle >= table.middle], from_right, known, depth + 1)
        return
    if gap.pairs >= CERTAIN_LINES:
        known.append(gap)
    _stretch(gap, parts, from_right)
    band = [piece for piece in parts if gap.top <= piece.middle <= gap.bottom]
    left, right = [piece for piece in band if gap.has_left(piece)], [piece for piece in band if not gap.has_left(piece)]
    above = [piece for piece in parts if piece.middle < gap.top]
    below = [piece for piece in parts if piece.middle > gap.bottom]
    if from_right and not _precedes(left, right, parts):
        left, right = right, left
    for part in (above, left, right, below):
        yield from _ordered(part, from_right, known, depth + 1)


def _stretch(gap: PdfGap, parts: Sequence[PdfPiece], from_right: bool) -> None:
    """Make the gap of columns as long as the page's own order has one column after the other, over figures too."""
    places = {id(piece): place for place, piece in enumerate(parts)}
    band = [piece for piece in parts if gap.top <= piece.middle <= gap.bottom]
    first = [places[id(piece)] for piece in band if gap.has_left(piece) != from_right]
    second = [places[id(piece)] for piece in band if gap.has_left(piece) == from_right]
    if not first or not second or max(first) > min(second):
        return
    for piece in sorted((piece for piece in parts if piece.middle > gap.bottom), key=lambda piece: piece.top):
        is_first = gap.has_left(piece) != from_right
        if gap.is_crossed(piece) or (is_first and places[id(piece)] > min(second)):
            break
        gap.bottom = max(gap.bottom, piece.bottom)
    top = gap.top
    for piece in sorted((piece for piece in parts if piece.middle < top), key=lambda piece: -piece.bottom):
        is_first = gap.has_left(piece) != from_right
        if gap.is_crossed(piece) or not (is_first or places[id(piece)] > max(first)):
            break
        gap.top = min(gap.top, piece.top)


def _precedes(some: Iterable[PdfPiece], others: Iterable[PdfPiece], parts: Iterable[PdfPiece]) -> bool:
    """Whether the page's own order has some pieces before others."""
    places = {id(piece): place for place, piece in enumerate(parts)}
    return max(places[id(piece)] for piece in some) < min(places[id(piece)] for piece in others)


def _widest_gap(parts: Sequence[PdfPiece], known: Sequence[PdfGap]) -> PdfGap | None:
    """The gap with the most lines beside it; None where there are no columns."""
    tall = sorted(parts, key=lambda piece: piece.top)
    size = median(piece.size for piece in parts) if parts else 1.0
    open_gaps: list[PdfGap] = []
    closed: list[PdfGap] = []
    for index, piece in enumerate(tall):
        going: list[PdfGap] = []
        for gap in open_gaps:
            (going if _goes_on(gap, piece, size) else closed).append(gap)
        open_gaps = going
        neighbour = _neighbour(tall, index)
        if neighbour is None or neighbour.left - piece.right < NARROWEST * size:
            continue
        gap = PdfGap(piece.right, neighbour.left, min(piece.top, neighbour.top), max(piece.bottom, neighbour.bottom))
        same = [other for other in open_gaps if gap.shared(other) >= NARROWEST * size]
        for other in same:
            other.left, other.right = max(other.left, gap.left), min(other.right, gap.right)
            other.bottom, other.pairs = max(other.bottom, gap.bottom), other.pairs + 1
        if not same:
            open_gaps.append(gap)
    found = [gap for gap in (*closed, *open_gaps) if gap.pairs >= COLUMN_LINES or any(map(gap.is_over, known))]
    widest = max(found, key=lambda gap: (gap.pairs, gap.width), default=None)
    if widest:
        above = (piece for piece in reversed(tall) if piece.top < widest.top)
        deque(takewhile(lambda piece: _goes_up(widest, piece, size), above), maxlen=0)
    return widest


def _goes_on(gap: PdfGap, piece: PdfPiece, size: float) -> bool:
    """Whether a gap goes on beside a piece, which may make it narrower and longer."""
    if piece.top - gap.bottom > GOES_ON * size:
        return False
    left, right = gap.left, gap.right
    if piece.left < left:
        left = max(left, piece.right)
    elif piece.right > right:
        right = min(right, piece.left)
    elif gap.is_crossed(piece):
        return False
    if right - left < NARROWEST * size:
        return False
    gap.left, gap.right = left, right
    gap.bottom = max(gap.bottom, piece.bottom)
    return True


def _goes_up(gap: PdfGap, piece: PdfPiece, size: float) -> bool:
    """Whether a gap goes on beside a piece above it, which may make it longer."""
    if gap.top - piece.bottom > GOES_ON * size or gap.is_crossed(piece):
        return False
    gap.top = min(gap.top, piece.top)
    return True


def _neighbour(tall: list[PdfPiece], index: int) -> PdfPiece | None:
    """The nearest piece to the right in the row of a piece; `tall` are ordered by their tops."""
    piece = tall[index]
    nearest: PdfPiece | None = None
    above = takewhile(lambda other: other.top > piece.top - piece.size, reversed(tall[max(index - NEAREST, 0) : index]))
    below = takewhile(lambda other: other.top < piece.bottom, tall[index + 1 : index + NEAREST])
    for other in (*above, *below):
        if other.left >= piece.right and _beside(piece, other) and (nearest is None or other.left < nearest.left):
            nearest = other
    return nearest


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
    table = _around([piece for row in found for piece in row])
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
