"""Documents of offices and books as Markdown or text: DOCX, PPTX, XLSX, EPUB, OpenDocument, and old DOC, PPT, XLS.

They are parsed by a library with limits of its own (unpacked bytes, depth, nodes, cells), which reads no entity and no
macro, into one model of blocks. The model is written as HTML, which becomes Markdown as that of pages does.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, cast

from lxml import etree

from webdata.domain.errors import UnsupportedContentError
from webdata.pages._documents import DocumentText
from webdata.pages._url.markdown import composed
from webdata.resources.url_request import DocumentFacts

if TYPE_CHECKING:
    from anydoc import Block, Cell, Document, Inline, Table

FORMATS = frozenset(["doc", "docx", "epub", "odp", "ods", "odt", "ppt", "pptx", "xls", "xlsx"])
"""The formats that are read; the library has others, which come as other kinds of content here."""
MOST_TAGS = 250_000
"""Tags of a document as HTML: those of a hundred thousand cells, which take three seconds."""
MOST_PIECES = 2 * MOST_TAGS
"""Pieces of HTML: so many have more tags than are read, since two of the three pieces of a cell are tags."""
LOCKS = "META-INF/encryption.xml"
"""The part of a book that says which of its parts are encrypted: EPUB Open Container Format 3.3, 4.2.6.3.2."""
LOCKED_TEXT = re.compile(rb"""URI\s*=\s*["'][^"']*\.x?html?["'#]""", re.IGNORECASE)
"""A text among them; often they are fonts, which a text does without."""
FACTS = ("docProps/core.xml", "meta.xml")
"""The parts of a package with what it says of itself: ECMA-376-2, 8; OpenDocument 1.3, part 2, 3.1.3."""
NAMES = {
    "title": ("title",),
    "author": ("creator", "initial-creator"),
    "subject": ("subject", "description"),
    "keywords": ("keywords", "keyword"),
    "created": ("created", "creation-date", "date"),
    "modified": ("modified",),
}
"""The elements with each fact, by their local names, the best first."""
MOST_MEMBERS = 10_000
LONGEST_PART = 1_000_000
"""Bytes of a part with facts."""
LONGEST_FACT = 1_000
"""Characters of what a document says of itself."""
REFERENCE = re.compile('"#note-([^"]*)"')
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LISTS = {"decimal": "1", "lower_alpha": "a", "upper_alpha": "A", "lower_roman": "i", "upper_roman": "I"}
ENCRYPTED_PART = "EncryptedPackage".encode("utf-16-le")
"""The stream of a package that is encrypted: [MS-OFFCRYPTO], 2.3."""


def converted(body: bytes, media: str, url: str, *, marked: bool = True) -> DocumentText:
    """A document as Markdown if it is `marked`, or else as text.

    Raises UnsupportedContentError for one that is encrypted, broken, too large or without text.
    """
    html = _page(_parsed(body, media))
    if html.count("<") > MOST_TAGS:
        raise UnsupportedContentError(media, "which has more paragraphs or cells than the 100,000 that are read")
    text = composed(html, url, as_text=not marked)
    if not text.strip():
        raise UnsupportedContentError(media, "which has no text")
    return DocumentText(text, 0.0, _facts(body))


def _parsed(body: bytes, media: str) -> "Document":
    import anydoc  # noqa: PLC0415 - it takes 14 MB of a process

    refused = partial(UnsupportedContentError, media)
    form = anydoc.format_from_bytes(body)
    if form == "epub" and any(LOCKED_TEXT.search(part) for part in _members(body, LOCKS.__eq__)):
        raise refused("which is protected: its texts are encrypted")
    if form not in FORMATS and ENCRYPTED_PART in body:
        raise refused("which is encrypted and opens with a password only")
    if form not in FORMATS:
        raise refused("which is broken, or no document of a known format")
    try:
        return anydoc.to_document(body, form)
    except anydoc.EncryptedError:
        raise refused("which is encrypted and opens with a password only") from None
    except anydoc.ResourceLimitError:
        raise refused("which unpacks to more, or nests deeper, than is read here") from None
    except anydoc.ConvertError:
        raise refused("which is broken and cannot be read") from None


def _page(document: "Document") -> str:
    """A document as the HTML of a page; the notes that it refers to are a list at the end, as those of pages."""
    text = "".join(islice(_blocks(document.blocks), MOST_PIECES))
    named = set(REFERENCE.findall(text)) if document.notes else set()
    notes = [note for note in document.notes if escape(note.id) in named]
    items = (f'<li id="note-{escape(note.id)}">{"".join(_content(note.blocks))}</li>' for note in notes)
    return f"<body>{text}<ol>{''.join(items)}</ol></body>" if notes else f"<body>{text}</body>"


def _blocks(blocks: "Iterable[Block]") -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _block(block: "Block") -> Iterator[str]:
    match block.kind:
        case "heading":
            yield f"<h{block.level}>{_inline(block.content or ())}</h{block.level}>"
        case "paragraph":
            yield f"<p>{_inline(block.content or ())}</p>"
        case "list":
            yield from _list(block)
        case "table" if block.table:
            yield from _table(block.table)
        case "block_quote":
            yield "<blockquote>"
            yield from _blocks(block.blocks or ())
            yield "</blockquote>"
        case "code_block":
            yield f"<pre>{escape(block.text or '')}</pre>"
        case "rule":
            yield "<hr>"
        case "math":
            yield f"<p>{_formula(block.text)}</p>"


def _list(block: "Block") -> Iterator[str]:
    found = block.list
    if found is None:
        return
    mark = LISTS.get(found.marker)
    yield f'<ol type="{mark}" start="{found.start}">' if mark else "<ul>"
    for item in found.items:
        yield "<li>"
        yield escape(f"{item.marker_label} " if item.marker_label else "")
        yield from _content(item.blocks)
        yield "</li>"
    yield "</ol>" if mark else "</ul>"


def _table(table: "Table") -> Iterator[str]:
    """A table; the cells that another one covers are left to its span."""
    yield "<table>"
    for number, row in enumerate(table.grid):
        yield "<tr>"
        for slot in row:
            if slot.cell is not None:
                yield from _cell(slot.cell, "th" if number < table.header_rows else "td")
        yield "</tr>"
    yield "</table>"


def _cell(cell: "Cell", tag: str) -> Iterator[str]:
    spans = f' colspan="{cell.col_span}"' if cell.col_span > 1 else ""
    spans += f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
    yield f"<{tag}{spans}>"
    yield from _content(cell.blocks)
    yield f"</{tag}>"


def _content(blocks: "Sequence[Block]") -> Iterator[str]:
    """The blocks of a cell or an item; its first paragraph is its own text."""
    begins = bool(blocks) and blocks[0].kind == "paragraph"
    yield _inline(blocks[0].content or ()) if begins else ""
    yield from _blocks(blocks[1:] if begins else blocks)


def _inline(parts: "Iterable[Inline]") -> str:
    return "".join(map(_part, parts))


def _part(part: "Inline") -> str:
    if part.kind == "link" and part.target:
        inner = _inline(part.content or ())
        return f'<a href="{escape(part.target.value)}">{inner}</a>' if part.target.kind == "external" else inner
    if part.kind == "image" and part.source and part.source.url:
        return f'<img src="{escape(part.source.url)}" alt="{escape(part.alt or "")}">'
    if part.kind == "note_ref":
        identity = part.note_id or ""
        return f'<sup><a href="#note-{escape(identity)}">{escape(identity.lstrip(LETTERS))}</a></sup>'
    return _styled(part) if part.kind == "text" else _mark(part)


def _mark(part: "Inline") -> str:
    marks = {"line_break": "<br>", "checkbox": "[x] " if part.checked else "[ ] ", "image": escape(part.alt or "")}
    return _formula(part.text) if part.kind == "math" else marks.get(part.kind, "")


def _styled(part: "Inline") -> str:
    text, style = escape(part.text or ""), part.style
    if style is None or not text.strip():
        return text
    tags = [("code", style.code), ("strong", style.bold), ("em", style.italic), ("del", style.strike)]
    for tag, is_so in tags:
        text = f"<{tag}>{text}</{tag}>" if is_so else text
    return text


def _formula(text: str | None) -> str:
    return f'<math><annotation encoding="application/x-tex">{escape(text or "")}</annotation></math>'


def _facts(body: bytes) -> DocumentFacts:
    """What a package says of itself; nothing for one that is none, or is too large to be searched."""
    said = {element: text for part in _members(body, _has_facts) for element, text in reversed([*_texts(part)])}
    found = {fact: next((said[name] for name in names if said.get(name)), None) for fact, names in NAMES.items()}
    return cast(DocumentFacts, found)


def _has_facts(name: str) -> bool:
    return name in FACTS or name.endswith(".opf")


def _members(body: bytes, wanted: Callable[[str], bool]) -> Iterator[bytes]:
    """The small parts of a package whose names are wanted."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as package:
            members = package.infolist() if len(package.filelist) <= MOST_MEMBERS else []
            for member in members:
                if wanted(member.filename) and member.file_size <= LONGEST_PART:
                    with package.open(member) as part:
                        yield part.read(LONGEST_PART)
    except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError, zlib.error):
        return


def _texts(part: bytes) -> Iterator[tuple[str, str]]:
    """The local names and the texts of the elements of a part."""
    try:
        root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return
    for element in root.iter("{*}*"):
        text = " ".join((element.text or "").split())[:LONGEST_FACT]
        if text:
            yield etree.QName(element).localname, text
