"""Paragraphs, items of lists, headings and tables of a document, from the lines of its columns."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from webdata.pages._pdf.pieces import BULLETS, MARKER, SENTENCE_ENDS, PdfColumn, PdfPiece
from webdata.pages._pdf.words import PdfWord

LARGER = 1.1
"""How much larger than the text a heading's font is."""
SAME = 0.08
"""The share by which sizes of one paragraph, or of headings of one level, differ."""
LOOSE = 1.3
"""The distance of two lines from which they are of two paragraphs, in those of lines of one paragraph."""
LEADING = 1.3
"""The distance of two lines where nothing else is known, in sizes of the font."""
INDENT = 0.8
"""The indent of a paragraph's first line, in sizes of its font, and at most WIDE_INDENT."""
WIDE_INDENT = 6.0
LONGEST_HEADING = 250
"""Characters of a heading, and its lines."""
MOST_LINES = 4
DEEPEST = 6


@dataclass(slots=True)
class PdfBlock:
    """Lines that belong together, or the cells of a table."""

    lines: list[PdfPiece]
    level: int = 0
    """The rank of a heading, from 1 to 6."""
    marker: str = ""
    """The marker of an item of a list."""
    depth: int = 0
    """How many items an item of a list is within."""

    @property
    def size(self) -> float:
        return self.lines[0].size

    @property
    def cells(self) -> list[list[list[PdfWord]]] | None:
        return self.lines[0].cells

    @property
    def letters(self) -> int:
        return sum(len(word.text) for line in self.lines for word in line.words)


@dataclass(frozen=True)
class PdfStyle:
    """What is usual in a document: the size of its text, whether that is bold, the distance of its lines."""

    size: float
    bold: bool
    leading: float
    levels: Sequence[float] = field(default=())
    """The sizes of its headings, from the largest."""


def style(pages: Iterable[Sequence[PdfColumn]]) -> PdfStyle:
    """What is usual in a document of some pages."""
    sizes: Counter[tuple[float, bool]] = Counter()
    in_tables: Counter[tuple[float, bool]] = Counter()
    distances: list[float] = []
    for column in (column for page in pages for column in page):
        for line in column:
            counted = sizes if line.cells is None else in_tables
            counted[line.size, line.bold] += sum(len(word.text) for word in line.words)
        distances += _distances(column)
    if sizes.total() < LONGEST_HEADING:  # there may be headings only
        sizes += in_tables
    size, bold = sizes.most_common(1)[0][0] if sizes else (1.0, False)
    return PdfStyle(size, bold, _usual(distances, LEADING))


def blocks(page: Sequence[PdfColumn], usual: PdfStyle, from_right: bool) -> list[PdfBlock]:
    """The blocks of a page in reading order, of which none is a heading yet."""
    found: list[PdfBlock] = []
    for column in page:
        inside = [*_column_blocks(column, usual, from_right)]
        if found and inside and _goes_on(found[-1], inside[0]):
            found[-1].lines += inside.pop(0).lines
        found += inside
    _set_depths(found)
    return found


def set_headings(pages: Sequence[Sequence[PdfBlock]], usual: PdfStyle) -> None:
    """Give the headings among the blocks of a document their levels, in place."""
    found = [block for page in pages for block in _headings(page, usual)]
    sizes: list[float] = []
    for size in sorted((block.size for block in found), reverse=True):
        if not sizes or size < sizes[-1] * (1 - SAME / 2):
            sizes.append(size)
    for block in found:
        rank = next(index for index, size in enumerate(sizes) if block.size >= size * (1 - SAME / 2))
        block.level = min(rank + 1, DEEPEST)
        block.marker = ""


def _distances(column: PdfColumn) -> list[float]:
    """The distances of lines of one size, in sizes of their font."""
    return [
        (following.bottom - line.bottom) / line.size
        for line, following in pairwise(column)
        if _same_size(line, following) and 0.5 * line.size < following.bottom - line.bottom < 3 * line.size
    ]


def _usual(distances: list[float], otherwise: float) -> float:
    """The distance of lines of one paragraph: most are, but the lines of short ones are not."""
    return sorted(distances)[len(distances) // 4] if len(distances) >= 8 else otherwise


def _same_size(line: PdfPiece, other: PdfPiece) -> bool:
    return line.cells is None and other.cells is None and abs(line.size - other.size) <= SAME * max(line.size, 1.0)


def _column_blocks(column: PdfColumn, usual: PdfStyle, from_right: bool) -> Iterator[PdfBlock]:
    leading = _usual(_distances(column), usual.leading)
    edge = max(line.right for line in column) if from_right else min(line.left for line in column)
    block: PdfBlock | None = None
    for index, line in enumerate(column):
        marker = _marker(line, block)
        ahead = column[index + 1 : index + 3]
        stands_out = line.size >= usual.size * LARGER or (line.bold and not usual.bold)
        if block is None or marker or _begins(block, line, ahead, leading, edge, from_right, stands_out):
            if block is not None:
                yield block
            block = PdfBlock([line], marker=marker)
        else:
            block.lines.append(line)
    if block is not None:
        yield block


def _marker(line: PdfPiece, block: PdfBlock | None) -> str:
    """The marker of a line that begins an item."""
    if line.cells is not None or len(line.words) < 2 or not MARKER.fullmatch(line.words[0].text):
        return ""
    first = line.words[0].text
    if first in BULLETS or block is None or block.marker or block.lines[-1].words[-1].text[-1] in SENTENCE_ENDS:
        return first
    before = block.lines[-1]
    return first if line.bottom - before.bottom > LOOSE * LEADING * line.size or not _same_size(line, before) else ""


def _begins(
    block: PdfBlock,
    line: PdfPiece,
    ahead: Sequence[PdfPiece],
    leading: float,
    edge: float,
    from_right: bool,
    stands_out: bool,
) -> bool:
    """Whether a line begins a block of its own; a line that stands out, as those of headings do, has no indent."""
    before = block.lines[-1]
    if not _same_size(before, line) or before.bold != line.bold:
        return True
    if not 0 < line.bottom - before.bottom <= LOOSE * leading * line.size:
        return True
    if block.marker:
        text = block.lines[0].words[1]
        outdent = line.right - text.right if from_right else text.left - line.left
        return outdent > INDENT * line.size / 2 and len(block.lines[0].words) > 1
    if stands_out:
        return False
    indent, indent_before = _indent(line, edge, from_right), _indent(before, edge, from_right)
    if INDENT * line.size < indent - indent_before and indent < WIDE_INDENT * line.size and indent_before < 1:
        return len(block.lines) > 1 or _is_flush(line, ahead, from_right)
    return _had_room(block, line, ahead, from_right)


def _indent(line: PdfPiece, edge: float, from_right: bool) -> float:
    return edge - line.right if from_right else line.left - edge


def _is_flush(line: PdfPiece, ahead: Sequence[PdfPiece], from_right: bool) -> bool:
    """Whether the line after a line has not its indent."""
    return not ahead or abs(_indent(ahead[0], 0, from_right) - _indent(line, 0, from_right)) > 1


def _had_room(block: PdfBlock, line: PdfPiece, ahead: Sequence[PdfPiece], from_right: bool) -> bool:
    """Whether a line's first word had room on the line before: then the line does not go on with it."""
    before, first = block.lines[-1], line.words[0]
    around = [*block.lines[-3:], line, *(other for other in ahead if _same_size(other, line))]
    if from_right:
        room = before.left - min(other.left for other in around)
    else:
        room = max(other.right for other in around) - before.right
    return room > first.right - first.left + line.size


def _goes_on(block: PdfBlock, following: PdfBlock) -> bool:
    """Whether the first block of a column goes on with the last one of the column before."""
    before, after = block.lines[-1], following.lines[0]
    if following.marker or not _same_size(before, after) or before.bold != after.bold:
        return False
    last, first = before.words[-1].text[-1], after.words[0].text[0]
    return last not in SENTENCE_ENDS and (first.islower() or unicodedata.category(first) == "Lo")


def _set_depths(found: list[PdfBlock]) -> None:
    """Give items that follow each other their depths, by their indents."""
    for is_item, group in groupby(found, lambda block: bool(block.marker)):
        if not is_item:
            continue
        indents: list[float] = []
        for block in group:
            left = block.lines[0].left
            while indents and left < indents[-1] - 2:
                indents.pop()
            if not indents or left > indents[-1] + 2:
                indents.append(left)
            block.depth = len(indents) - 1


def _headings(page: Sequence[PdfBlock], usual: PdfStyle) -> Iterator[PdfBlock]:
    """The headings of a page; lines of one size that follow each other are none, such as the names of authors."""
    likely = [_is_heading(block, following, usual) for block, following in zip(page, [*page, None][1:], strict=True)]
    runs = groupby(zip(page, likely, strict=True), lambda found: found[1] and (found[0].size, found[0].lines[0].bold))
    for is_likely, group in runs:
        alike = [block for block, _ in group]
        if is_likely and len(alike) == 1:
            yield alike[0]


def _is_heading(block: PdfBlock, following: PdfBlock | None, usual: PdfStyle) -> bool:
    if block.cells is not None or len(block.lines) > MOST_LINES or block.letters > LONGEST_HEADING:
        return False
    text = "".join(word.text for line in block.lines for word in line.words)
    if not any(char.isalpha() for char in text) or (block.marker and block.marker in BULLETS):
        return False
    if block.size >= usual.size * LARGER:
        return True
    is_bold = not usual.bold and all(line.bold for line in block.lines)
    if not is_bold or len(block.lines) > 2 or text[-1] in ".,;" or following is None:
        return False
    return following.cells is not None or not following.lines[0].bold or following.size < block.size
