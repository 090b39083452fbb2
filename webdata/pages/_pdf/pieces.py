"""The pieces of a page: words of one line without a wide gap among them, and the lines that they make."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from webdata.pages._pdf.words import PdfRule, PdfWord

APART = 0.9
"""The gap that parts two pieces of a line, in sizes of their font; columns of journals are that close."""
MOST_JUSTIFIED = 40
"""Words of a line that has such gaps."""
JUSTIFIED = 1.6
JUSTIFIED_SENTENCES = 3.5
"""How much wider the widest gap of a justified line is than its narrowest one, also after a sentence, at most."""
NARROWEST = 0.5
"""The gap that must go on over all lines of two columns, in sizes of the font."""
MOST_PIECES = 2_000
"""Pieces of a page whose columns are looked for; beyond it they are read row by row."""
BULLETS = "•‣◦▪▫●○■□◆➢➤✓❖–—-*·∙⁃\uf0b7\uf0a7"
MARKER = re.compile(rf"(?:[{re.escape(BULLETS)}]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]|\.\d{{1,3}})")
"""What begins an item of a list."""
SENTENCE_ENDS = ".!?:;。！？…"
"""What ends a sentence or a clause, in most scripts."""
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


PdfColumn = list[PdfPiece]
"""Lines and tables that are read from top to bottom."""


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
            found.append(piece_of(words[begin:index]))
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
        if found and is_beside(found[-1][0], piece):
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
        yield [piece_of([word for piece in line for word in piece.words])] if is_one else line


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


def piece_of(words: Sequence[PdfWord]) -> PdfPiece:
    piece = piece_around(words)
    piece.words = [*words]
    return piece


def piece_around(parts: Sequence[PdfWord] | Sequence[PdfPiece]) -> PdfPiece:
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
        if before and len(before.words) == 1 and MARKER.fullmatch(before.words[0].text) and is_beside(before, piece):
            gap = max(piece.left - before.right, before.left - piece.right)
            if 0 <= gap < 4 * before.size:
                before.add(piece)
                continue
        joined.append(piece)
    return joined


def is_beside(first: PdfPiece, second: PdfPiece) -> bool:
    """Whether two pieces are in one row."""
    overlap = min(first.bottom, second.bottom) - max(first.top, second.top)
    return overlap > 0.5 * min(first.bottom - first.top, second.bottom - second.top)
