"""The words, links and ruled lines of a page, by PDFium's text and page objects, in points from the top left corner."""

import ctypes
import math
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

MOST_CHARACTERS = 100_000
"""Characters of a page that are read; a page of small print has ten thousand."""
MOST_LINKS = 1_000
MOST_OBJECTS = 50_000
"""Objects of a page among which ruled lines are looked for; in some files each letter is one."""
MOST_SEGMENTS = 400
"""Segments of a path that are looked at: a grid has some hundreds, a map many thousands."""
ROW = 12
"""Points of a row of the page in which links are looked up."""
THIN = 3.0
"""Points up to which a filled shape is a ruled line."""
DOT = 0.8
"""How high a dot is at least if it is wide, or how wide if it is high."""
LONG = 8.0
"""Points from which a straight line may be of a table."""
HYPHENS = "\x02\ufffe\xad"
"""What PDFium gives for a hyphen at the end of a line."""
ALIKE = 0.1
"""Points by which the boxes of words of one font on one line differ at most; asking for the font takes long."""
TOUCHING = 0.1
"""The space between letters of one word at most, in sizes of their font."""
WEIGHT = 600
"""The weight from which a font is bold: https://www.w3.org/TR/css-fonts-4/#font-weight-numeric-values"""
LINKED = ("http://", "https://", "mailto:")

_FROM_RIGHT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2,}")
_WORD = re.compile(r"[^\s\0-\x1f\ufffe][^\s\0\x02\ufffe]*[\x02\ufffe]?|[\x02\ufffe]")
_BREAK = re.compile(r"[\r\n\x02\ufffe]")
_STRETCH = re.compile(r"(?<=[^\W\d_])\u0640+(?=[^\W\d_])")
"""What lengthens the letters of Arabic in justified lines: https://www.unicode.org/charts/PDF/U0600.pdf"""
_BETWEEN_LETTERS = re.compile(r"(?<=[\u0620-\u06ff])[^ \t\r\n\u0600-\u06ff_–—]{1,9}(?=[\u0620-\u06ff])")


class PdfWord(NamedTuple):
    """Text without spaces and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """The size of its font, in points."""
    bold: bool
    link: str | None
    breaks: bool
    """Whether the page's own order begins a line with it."""
    upright: bool


class PdfRule(NamedTuple):
    """A straight line, horizontal or vertical."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class PdfSheet:
    """What is on a page."""

    width: float
    height: float
    words: list[PdfWord]
    rules: list[PdfRule]
    dots: list[PdfRule]
    """Small filled shapes, such as the marks of a list's items."""


Corners = tuple[float, float, float, float]


class _Frame(NamedTuple):
    """The visible part of a page, and by how many quarters it is turned clockwise."""

    left: float
    bottom: float
    right: float
    top: float
    turned: int

    def placed(self, x: float, y: float) -> tuple[float, float]:
        """A point of the page's own coordinates as it is displayed, from the top left corner."""
        match self.turned:
            case 1:
                return y - self.bottom, x - self.left
            case 2:
                return self.right - x, y - self.bottom
            case 3:
                return self.top - y, self.right - x
            case _:
                return x - self.left, self.top - y

    def box(self, first: Corners, last: Corners) -> Corners:
        """The box around two boxes of the page's own coordinates."""
        left, top, right, bottom = first
        if first is not last:
            left, right = min(left, last[0]), max(right, last[2])
            top, bottom = max(top, last[1]), min(bottom, last[3])
        if not self.turned:
            return left - self.left, self.top - top, right - self.left, self.top - bottom
        x, y = self.placed(left, bottom)
        other_x, other_y = self.placed(right, top)
        return min(x, other_x), min(y, other_y), max(x, other_x), max(y, other_y)

    def upright(self, a: float, b: float) -> bool:
        """Whether text along the direction (a, b) is displayed from left to right."""
        for _ in range(self.turned):
            a, b = b, -a
        return a > 0 and abs(b) < a / 4


def sheet(page: PdfPage) -> PdfSheet:
    """The words and rules of a page."""
    left, bottom, right, top = page.get_cropbox()
    frame = _Frame(left, bottom, right, top, page.get_rotation() // 90)
    width, height = page.get_size()
    words = [word for word in _words(page, frame) if word.right > 0 and word.left < width and word.bottom > 0]
    rules, dots = _shapes(page, frame)
    return PdfSheet(width, height, [word for word in words if word.top < height], rules, dots)


def _words(page: PdfPage, frame: _Frame) -> list[PdfWord]:
    links = _links(page, frame)
    words: list[PdfWord] = []
    with closing(page.get_textpage()) as textpage:
        text, places = _in_reading_order(textpage.raw, _text(textpage.raw))
        text = _with_stretches(textpage.raw, text)
        spans = [found.span() for found in _WORD.finditer(text)]
        ends = [index for start, end in spans for index in (start, end - 1)]
        boxes = _boxes(textpage.raw, [places.get(index, index) for index in ends] if places else ends)
        fonts = _Fonts(textpage.raw, frame)
        is_stretched = _STRETCH.search(text) is not None
        before, shape, font = 0, (math.inf, math.inf), (0.0, False, True)
        for (start, end), first, last in zip(spans, boxes[::2], boxes[1::2], strict=True):
            left, top, right, bottom = frame.box(first, last)
            breaks = start - before != 1 and _BREAK.search(text, max(before - 1, 0), start) is not None
            is_alike = abs(top - shape[0]) < ALIKE and abs(bottom - shape[1]) < ALIKE
            if breaks or not is_alike or text[end : end + 1] == "\r":  # the last word tells whether all are bold
                font, shape = fonts.at(start), (top, bottom)
            link = _link_at(links, (left + right) / 2, (top + bottom) / 2) if links else None
            shown = text[start:end].translate(_SHOWN)
            shown = _STRETCH.sub("", shown) if is_stretched else shown
            word = PdfWord(shown, left, top, right, bottom, *font[:2], link, breaks, font[2])
            if breaks and words and _touches(words[-1], word):
                words[-1] = words[-1]._replace(text=words[-1].text + shown, right=right)
            else:
                words.append(word)
            before = end
    return words


def _touches(word: PdfWord, following: PdfWord) -> bool:
    """Whether two words are parts of one: PDFium breaks lines after each letter of what it takes for vertical text."""
    overlap = min(word.bottom, following.bottom) - max(word.top, following.top)
    is_level = abs(word.bottom - following.bottom) < 1 or (
        word.size == following.size and overlap > 0.5 * min(word.bottom - word.top, following.bottom - following.top)
    )  # the box of a ligature may be another font's
    return is_level and abs(following.left - word.right) < TOUCHING * word.size and word.upright


_SHOWN = dict.fromkeys(range(0x20)) | dict.fromkeys(map(ord, HYPHENS), "\xad")


def _text(textpage: pdfium.FPDF_TEXTPAGE) -> str:
    """The characters of a page, each at the index that PDFium's other functions take."""
    count = min(pdfium.FPDFText_CountChars(textpage), MOST_CHARACTERS)
    units = (ctypes.c_ushort * (count + 1))()
    pdfium.FPDFText_GetText(textpage, 0, count, units)
    text = bytes(units)[: 2 * count].decode("utf-16-le", "replace")
    if len(text) == count and "\0" not in text:
        return text
    codes = map(pdfium.FPDFText_GetUnicode, repeat(textpage), range(count))  # where it leaves some out
    return "".join(chr(code) if code < 0xD800 or 0xE000 <= code <= 0x10FFFF else "\ufffd" for code in codes)


def _in_reading_order(textpage: pdfium.FPDF_TEXTPAGE, text: str) -> tuple[str, dict[int, int]]:
    """The text with its words from right to left in the order in which they are read; some files have them reversed.

    Beside it, for the first and the last character of what was reversed, the index that PDFium has for it.
    """
    runs = [found.span() for found in _FROM_RIGHT.finditer(text)]
    boxes = _boxes(textpage, [index for start, end in runs for index in (start, end - 1)])
    parts, done, places = [], 0, dict[int, int]()
    for (start, end), first, last in zip(runs, boxes[::2], boxes[1::2], strict=True):
        if first[0] < last[0]:
            parts += [text[done:start], text[start:end][::-1]]
            places |= {start: end - 1, end - 1: start}
            done = end
    return "".join([*parts, text[done:]]), places


def _with_stretches(textpage: pdfium.FPDF_TEXTPAGE, text: str) -> str:
    """The text with the character of a stretch where a font has another for it, as those of LibreOffice do."""
    indices = [index for found in _BETWEEN_LETTERS.finditer(text) for index in range(*found.span())]
    stretches = [index for index in indices if _fills_its_width(textpage, index)]
    if not stretches:
        return text
    chars = [*text]
    for index in stretches:
        chars[index] = "\u0640"
    return "".join(chars)


def _fills_its_width(textpage: pdfium.FPDF_TEXTPAGE, index: int) -> bool:
    """Whether a character has no space at its sides, as what joins letters has none."""
    left, right, bottom, top = (ctypes.c_double(0) for _ in range(4))
    pdfium.FPDFText_GetCharBox(textpage, index, left, right, bottom, top)
    ((begin, _, end, _),) = _boxes(textpage, [index])
    return begin < end and left.value - begin < TOUCHING and end - right.value < TOUCHING


def _boxes(textpage: pdfium.FPDF_TEXTPAGE, indices: Sequence[int]) -> list[Corners]:
    """The boxes of characters: left, top, right, bottom in the page's own coordinates.

    All are filled in one array: reading the fields of structures takes longer than PDFium's function does.
    """
    rects = (pdfium.FS_RECTF * len(indices))()
    deque(map(pdfium.FPDFText_GetLooseCharBox, repeat(textpage), indices, rects), maxlen=0)
    values = iter(memoryview(rects).cast("B").cast("f").tolist())
    return [*zip(values, values, values, values, strict=True)]


class _Fonts:
    """Size, weight and direction of the text at an index."""

    def __init__(self, textpage: pdfium.FPDF_TEXTPAGE, frame: _Frame):
        self._textpage = textpage
        self._frame = frame
        self._bold: dict[int | None, bool] = {}

    def at(self, index: int) -> tuple[float, bool, bool]:
        """The size of a character, whether it is bold, and whether it is displayed upright."""
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._textpage, index, matrix)
        size = pdfium.FPDFText_GetFontSize(self._textpage, index) * math.hypot(matrix.c, matrix.d)
        return round(size, 1), self._is_bold(index), self._frame.upright(matrix.a, matrix.b)

    def _is_bold(self, index: int) -> bool:
        font = pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(self._textpage, index))
        address = ctypes.addressof(font.contents) if font else None
        if address not in self._bold:
            name = ctypes.create_string_buffer(100)
            pdfium.FPDFFont_GetBaseFontName(font, name, len(name))
            self._bold[address] = b"bold" in name.value.lower() or pdfium.FPDFFont_GetWeight(font) >= WEIGHT
        return self._bold[address]


LinkRows = dict[int, list[tuple[Corners, str]]]


def _links(page: PdfPage, frame: _Frame) -> LinkRows:
    """The boxes of links to other documents, by the rows of the page that they touch."""
    rows: LinkRows = defaultdict(list)
    position, link, rect = ctypes.c_int(0), pdfium.FPDF_LINK(), pdfium.FS_RECTF()
    for _ in range(MOST_LINKS):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            break
        address = _address(page, link)
        if address is None or not pdfium.FPDFLink_GetAnnotRect(link, rect):
            continue
        box = frame.box(corners := (rect.left, rect.top, rect.right, rect.bottom), corners)
        if 0 <= box[1] <= box[3] < 100 * ROW:
            for row in range(int(box[1] // ROW), int(box[3] // ROW) + 1):
                rows[row].append((box, address))
    return rows


def _address(page: PdfPage, link: pdfium.FPDF_LINK) -> str | None:
    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return None
    address = ctypes.create_string_buffer(2048)
    length = pdfium.FPDFAction_GetURIPath(page.pdf.raw, action, address, len(address))
    text = address.value.decode("utf-8", "replace").strip()
    return text if length <= len(address) and text.lower().startswith(LINKED) else None


def _link_at(links: LinkRows, x: float, y: float) -> str | None:
    for (left, top, right, bottom), address in links.get(int(y // ROW), ()):
        if left <= x <= right and top <= y <= bottom:
            return address
    return None


def _shapes(page: PdfPage, frame: _Frame) -> tuple[list[PdfRule], list[PdfRule]]:
    """The straight lines and the dots of a page's own paths; those of figures, which are objects, are of no table."""
    rules: list[PdfRule] = []
    dots: list[PdfRule] = []
    edges = [ctypes.c_float(0) for _ in range(4)]
    fill, stroke = ctypes.c_int(0), ctypes.c_int(0)
    for path in _paths(page):
        count = pdfium.FPDFPath_CountSegments(path)
        if not 2 <= count <= MOST_SEGMENTS or not pdfium.FPDFPath_GetDrawMode(path, fill, stroke):
            continue
        if stroke.value:
            rules += _segments(path, count, frame)
        elif fill.value and pdfium.FPDFPageObj_GetBounds(path, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            shape = PdfRule(*frame.box(corners := (left, top, right, bottom), corners))
            short, long = sorted((right - left, top - bottom))
            if short <= THIN and long >= LONG:
                rules.append(shape)
            elif 1 <= long <= LONG and short > DOT * long:
                dots.append(shape)
    return rules, dots


_object_at = ctypes.cast(pdfium.FPDFPage_GetObject, ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int))
_type_of = ctypes.cast(pdfium.FPDFPageObj_GetType, ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p))


def _paths(page: PdfPage) -> list[pdfium.FPDF_PAGEOBJECT]:
    """The paths among the objects of a page; addresses are numbers, since making pointers takes longer than PDFium."""
    address = ctypes.cast(page.raw, ctypes.c_void_p).value
    count = min(pdfium.FPDFPage_CountObjects(page.raw), MOST_OBJECTS)
    types = map(_type_of, map(_object_at, repeat(address), range(count)))
    indices = [index for index, found in enumerate(types) if found == pdfium.FPDF_PAGEOBJ_PATH]
    return [pdfium.FPDFPage_GetObject(page.raw, index) for index in indices]


def _segments(path: pdfium.FPDF_PAGEOBJECT, count: int, frame: _Frame) -> Iterator[PdfRule]:
    """The straight lines of a path that are horizontal or vertical."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(0), ctypes.c_float(0)
    start = before = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = frame.placed(
            matrix.a * x.value + matrix.c * y.value + matrix.e, matrix.b * x.value + matrix.d * y.value + matrix.f
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _straight(before, point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _straight(point, start)
        before = point


def _straight(first: tuple[float, float], last: tuple[float, float]) -> Iterator[PdfRule]:
    (left, right), (top, bottom) = sorted((first[0], last[0])), sorted((first[1], last[1]))
    if min(right - left, bottom - top) < 1 and max(right - left, bottom - top) >= LONG:
        yield PdfRule(left, top, right, bottom)
