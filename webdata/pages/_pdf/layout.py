"""The reading order of a page: columns by the gaps between pieces of lines, and tables in their places.

A gap between two pieces side by side is that of columns if it goes on over several lines. What lies above such a gap is
read first, then the pieces on one side of it, then those on the other, then what lies below; each part again so. Where
the pieces on the two sides are cells, the part is a table.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import median

from webdata.pages._pdf.aligned import COLUMN_LINES, aligned_table
from webdata.pages._pdf.pieces import MOST_PIECES, NARROWEST, PdfColumn, PdfPiece, is_beside, lines, piece_of
from webdata.pages._pdf.words import PdfSheet

CERTAIN_LINES = 10
"""Lines side by side from which columns are expected on the pages that follow."""
GOES_ON = 2.5
"""The space after which lines on one side of a gap are of its columns no more, in sizes of the font."""
NEAREST = 60
"""Pieces among which the one beside a piece is looked for, in the order of their tops."""
DEEPEST = 30
"""Parts within parts of a page whose columns are looked for."""


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


def columns(sheet: PdfSheet, parts: Sequence[PdfPiece], from_right: bool, known: list[PdfGap]) -> list[PdfColumn]:
    """The columns of a page in reading order, of pieces and ruled tables; text that is not upright comes last.

    `known` are the gaps of columns on the pages before, to which those of this page are added.
    """
    found = [lines(parts, from_right)] if len(parts) > MOST_PIECES else [*_ordered(parts, from_right, known, 0)]
    turned = [word for word in sheet.words if not word.upright]
    return [*found, [piece_of(turned)]] if turned else found


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
        if other.left >= piece.right and is_beside(piece, other) and (nearest is None or other.left < nearest.left):
            nearest = other
    return nearest
