"""A PDF as Markdown or text, a page after the other."""

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from pypdfium2 import PdfDocument, PdfiumError, PdfPage
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._documents import DocumentText
from webdata.pages._pdf.blocks import blocks, set_headings, style
from webdata.pages._pdf.layout import PdfGap, columns
from webdata.pages._pdf.pieces import PdfPiece, add_marks, is_from_right, pieces
from webdata.pages._pdf.tables import ruled_tables
from webdata.pages._pdf.text import joined_blocks, words_of
from webdata.pages._pdf.words import PdfSheet, sheet
from webdata.pages._url.literal import inert
from webdata.resources.terms.page_ranges import MOST_PAGES, PageRange
from webdata.resources.url_request import DocumentFacts

MEDIA = "application/pdf"
MOST_LETTERS = 1_000_000
"""Characters of the pages that are read, about as many as a hundred pages of small print have."""
MARGIN = 0.12
"""The share of a page at its top and at its bottom in which the lines that all pages have are."""
REPEATED = 0.4
"""The share of pages that have such a line: some are on left pages only."""
FEWEST_PAGES = 3
OPEN_PAGES = 3
"""Pages that stay open while the next one is read: the fonts that it shares with them are not read again."""
LONGEST_FACT = 1_000
"""Characters of what a document says of itself."""

NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(Z|[+-]\d\d'?(?:\d\d)?)?")


@dataclass
class _ReadPage:
    """A page, and the pieces of its lines that are in no ruled table."""

    number: int
    sheet: PdfSheet
    tables: list[PdfPiece]
    parts: list[PdfPiece]
    from_right: bool
    is_broken: bool = False


def converted(body: bytes, asked: PageRange | None, *, marked: bool = True) -> DocumentText:
    """The text of the pages of a PDF that are asked for, as Markdown if it is `marked`.

    Raises UnsupportedContentError for a document that is encrypted, broken or without text, or has no such page.
    """
    with _opened(body) as document:
        first, last = _range(asked, len(document))
        read = [*_read(document, first, last)]
        facts = _facts(document, first, read[-1].number)
    words = sum(len(page.sheet.words) for page in read)
    if not words and any(page.is_broken for page in read):
        raise UnsupportedContentError(MEDIA, "which is broken and has no page that can be read")
    if not words:
        raise UnsupportedContentError(MEDIA, "which has no text, only pictures of it, as scanned documents do")
    left_out = _without_running_lines(read) / words
    return DocumentText(_text(read, marked) + (_rest(facts, asked) if marked else ""), left_out, facts)


def raw_text(body: bytes, asked: PageRange | None) -> DocumentText:
    """The text of a PDF in the order in which its pages have it, without markup, for one that is too complex."""
    with _opened(body) as document:
        first, last = _range(asked, len(document))
        texts: list[str] = []
        while first + len(texts) <= last and sum(map(len, texts)) < MOST_LETTERS:
            texts.append(_raw_page(document, first + len(texts)))
        facts = _facts(document, first, first + len(texts) - 1)
    if not any(texts):
        raise UnsupportedContentError(MEDIA, "which has no text that can be read")
    text = inert("\n\n".join(texts).replace("\r\n", "\n"))
    return DocumentText(f"{text}\n", 0.0, facts)


def _raw_page(document: PdfDocument, number: int) -> str:
    try:
        with closing(document[number - 1]) as page, closing(page.get_textpage()) as textpage:
            return str(textpage.get_text_range(0, min(textpage.count_chars(), MOST_LETTERS)))
    except PdfiumError:
        return ""


def _opened(body: bytes) -> "closing[PdfDocument]":
    try:
        return closing(PdfDocument(body))
    except PdfiumError as error:
        if error.err_code in (FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY):
            raise UnsupportedContentError(MEDIA, "which is encrypted and opens with a password only") from None
        raise UnsupportedContentError(MEDIA, "which is broken and cannot be opened") from None


def _range(asked: PageRange | None, count: int) -> PageRange:
    """The first and the last page to read, of so many."""
    if not count:
        raise UnsupportedContentError(MEDIA, "which is broken and has no page")
    first, last = asked or (1, count)
    if first > count:
        raise UnsupportedContentError(MEDIA, f"which has no page {first}", f"ask for pages from 1 to {count}")
    return first, min(last, count, first + MOST_PAGES - 1)


def _read(document: PdfDocument, first: int, last: int) -> Iterator[_ReadPage]:
    """The pages, until there are too many letters on them."""
    letters = 0
    opened = deque[PdfPage]()
    for number in range(first, last + 1):
        if len(opened) > OPEN_PAGES:
            opened.popleft().close()
        try:
            opened.append(document[number - 1])
            found = sheet(opened[-1])
        except PdfiumError:
            yield _ReadPage(number, PdfSheet(1.0, 1.0, [], [], []), [], [], from_right=False, is_broken=True)
            continue
        letters += sum(len(word.text) for word in found.words)
        if letters > MOST_LETTERS and number > first:
            return
        from_right = is_from_right(found.words)
        tables, placed = ruled_tables(found, from_right)
        parts = pieces([word for index, word in enumerate(found.words) if word.upright and index not in placed])
        add_marks(parts, found.dots)
        yield _ReadPage(number, found, tables, parts, from_right)


def _without_running_lines(read: Sequence[_ReadPage]) -> int:
    """Take the lines that pages repeat at their tops and bottoms from their pieces; how many words they have.

    Where pages have nothing else, nothing is taken.
    """
    seen = Counter(key for page in read for key in {_place(piece, page.sheet) for piece in page.parts})
    least = max(FEWEST_PAGES, REPEATED * len(read))
    seen[None] = 0
    kept = [[piece for piece in page.parts if seen[_place(piece, page.sheet)] < least] for page in read]
    if not any(kept):
        return 0
    lost = sum(len(piece.words) for page in read for piece in page.parts)
    for page, parts in zip(read, kept, strict=True):
        page.parts = parts
    return lost - sum(len(piece.words) for parts in kept for piece in parts)


def _place(piece: PdfPiece, on: PdfSheet) -> tuple[int, str] | None:
    """The place of a piece at the top or the bottom of a page, and its text without numbers."""
    if MARGIN * on.height < piece.middle < (1 - MARGIN) * on.height:
        return None
    return round(piece.middle / 2), NUMBER.sub("#", " ".join(word.text for word in piece.words))


def _text(read: Sequence[_ReadPage], marked: bool) -> str:
    gaps: list[PdfGap] = []
    found = [columns(page.sheet, [*page.parts, *page.tables], page.from_right, gaps) for page in read]
    usual = style(found)
    pages = [blocks(page, usual, of.from_right) for page, of in zip(found, read, strict=True)]
    set_headings(pages, usual)
    vocabulary = words_of(block for page in pages for block in page)
    parts: list[str] = []
    for page, of in zip(pages, read, strict=True):
        if marked:
            parts.append(f"<!-- page {of.number}{' is broken' if of.is_broken else ''} -->")
        parts += joined_blocks(page, vocabulary, marked)
    return "\n\n".join(parts) + "\n"


def _rest(facts: DocumentFacts, asked: PageRange | None) -> str:
    """What says which pages are left, where more are asked for than are read."""
    last = min(asked[1], facts["pages"]) if asked else facts["pages"]
    begin = facts["last"] + 1
    if begin > last:
        return ""
    then = f"{begin}-{min(last, begin + MOST_PAGES - 1)}"
    return f'\n<!-- pages {begin} to {last} are not here: ask for them with "pages": "{then}" -->\n'


def _facts(document: PdfDocument, first: int, last: int) -> DocumentFacts:
    """What the document says of itself, and which of its pages are read."""
    said = document.get_metadata_dict()
    return {
        "pages": len(document),
        "first": first,
        "last": last,
        "title": said["Title"].strip()[:LONGEST_FACT] or None,
        "author": said["Author"].strip()[:LONGEST_FACT] or None,
        "subject": said["Subject"].strip()[:LONGEST_FACT] or None,
        "keywords": said["Keywords"].strip()[:LONGEST_FACT] or None,
        "created": _date(said["CreationDate"]),
        "modified": _date(said["ModDate"]),
    }


def _date(text: str) -> str | None:
    """A date of a document in ISO 8601: ISO 32000-2, 7.9.4."""
    if not (found := DATE.match(text)):
        return None
    year, month, day, hour, minute, second, offset = found.groups()
    zone = "" if offset is None else "Z" if offset == "Z" else f"{offset[:3]}:{offset[-2:] if offset[4:] else '00'}"
    date = "-".join(filter(None, (year, month, day)))
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}" if hour else date
