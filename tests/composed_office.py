"""Documents of offices and books composed by hand, and hostile ones."""

import io
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SLIDE = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE}"'
)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>A composed document</dc:title><dc:creator>Ann</dc:creator>"
    "<dcterms:created>2026-05-01T12:00:00Z</dcterms:created></cp:coreProperties>"
)
TYPES = "application/vnd.openxmlformats-officedocument."


def package(parts: Mapping[str, str | bytes], stored: tuple[str, ...] = ()) -> bytes:
    """A ZIP archive of parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in parts.items():
            made.writestr(name, content, zipfile.ZIP_STORED if name in stored else None)
    return file.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """The relationships `r0`, `r1`, … of a part: their kinds and targets; those with a scheme are outside."""
    modes = {True: ' TargetMode="External"', False: ""}
    rows = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"{modes[":" in target]}/>'
        for number, (kind, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def open_xml(main: str, kind: str, parts: Mapping[str, str | bytes]) -> bytes:
    """A package of Office whose main part is of a kind."""
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{TYPES}{kind}.main+xml"/></Types>'
    )
    first = {"[Content_Types].xml": types, "_rels/.rels": relations(("officeDocument", main))}
    return package({**first, "docProps/core.xml": CORE, **parts})


def paragraph(text: str, style: str = "", inner: str = "") -> str:
    """A paragraph of DOCX."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r>{inner}</w:p>"


STYLES = (
    f'<w:styles {WORD}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
    '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>'
)
NUMBERS = (
    f'<w:numbering {WORD}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>'
    '</w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)
NOTE = paragraph("The note.")
DOCUMENT_PARTS = (
    ("styles", "styles.xml"),
    ("numbering", "numbering.xml"),
    ("footnotes", "footnotes.xml"),
    ("hyperlink", "https://example.com/a?b=(1)"),
    ("hyperlink", "javascript:alert(1)"),
)


def docx(body: str, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """A DOCX of this body; `r3` is a link to a page, `r4` one to a script."""
    parts: dict[str, str | bytes] = {
        "word/document.xml": f'<w:document {WORD} xmlns:r="{OFFICE}"><w:body>{body}</w:body></w:document>',
        "word/_rels/document.xml.rels": relations(*DOCUMENT_PARTS),
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERS,
        "word/footnotes.xml": f'<w:footnotes {WORD}><w:footnote w:id="2">{NOTE}</w:footnote></w:footnotes>',
    }
    return open_xml("word/document.xml", "wordprocessingml.document", {**parts, **(more or {})})


def item(text: str) -> str:
    """An item of a list of DOCX."""
    mark = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    return f"<w:p>{mark}<w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """A table of DOCX."""
    cells = ("".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def xlsx(
    rows: str, more: Mapping[str, str | bytes] | None = None, rest: str = "", names: Sequence[str] = ("Sales",)
) -> bytes:
    """An XLSX with these rows on each of its sheets."""
    sheets = "".join(f'<sheet name="{name}" sheetId="{number}" r:id="r0"/>' for number, name in enumerate(names, 1))
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook {SHEET} xmlns:r="{OFFICE}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{rows}</sheetData>{rest}</worksheet>",
    }
    return open_xml("xl/workbook.xml", "spreadsheetml.sheet", {**parts, **(more or {})})


def row(number: int, *values: str | float) -> str:
    """A row of XLSX."""
    cells = (
        f'<c t="inlineStr"><is><t>{value}</t></is></c>' if isinstance(value, str) else f"<c><v>{value}</v></c>"
        for value in values
    )
    return f'<row r="{number}">{"".join(cells)}</row>'


def pptx(shapes: str, slides: int = 1) -> bytes:
    """A PPTX with these shapes on its slide, which it shows so many times."""
    shown = "".join(f'<p:sldId id="{256 + number}" r:id="r0"/>' for number in range(slides))
    parts = {
        "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{shown}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(("slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": f"<p:sld {SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
    }
    return open_xml("ppt/presentation.xml", "presentationml.presentation", parts)


def shape(*lines: str, kind: str = "body") -> str:
    """A shape of a slide with text; its title has the kind `title`."""
    texts = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    place = f'<p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:spPr/><p:txBody><a:bodyPr/>{texts}</p:txBody></p:sp>"


def epub(*chapters: str, more: Mapping[str, str | bytes] | None = None, repeated: int = 1) -> bytes:
    """An EPUB of chapters, each of which its spine has so many times."""
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    listed = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names) * repeated
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "b.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>A book</dc:title><dc:creator>Bob</dc:creator></metadata><manifest>{listed}</manifest>"
        f"<spine>{spine}</spine></package>",
    }
    texts = {
        name: f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{text}</body></html>'
        for name, text in zip(names, chapters, strict=True)
    }
    return package({**parts, **texts, **(more or {})}, stored=("mimetype",))


WORDS = paragraph("Some words of the document.")
PLAIN = docx(WORDS)


def _changed(seed: int) -> bytes:
    """A document of which some bytes are others."""
    chosen = random.Random(seed)
    wrong = bytearray((PLAIN, epub("<p>x</p>"), xlsx(row(1, 1)))[seed % 3])
    for _ in range(40):
        wrong[chosen.randrange(len(wrong))] = chosen.randrange(256)
    return bytes(wrong)


ENTITIES = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
CELLS = '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="{}"/></w:tcPr>' + paragraph("x") + "</w:tc></w:tr>"
OLD = bytes.fromhex("D0CF11E0A1B11AE1")
"""The beginning of a compound file."""
LOCKED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
    '<CipherReference URI="c0.xhtml"/></CipherData></EncryptedData></encryption>'
)
HOSTILE: dict[str, Callable[[], bytes]] = {
    "entities of entities": lambda: docx("", {"word/document.xml": f'<!DOCTYPE x [<!ENTITY a "aaaa">{ENTITIES}]>'
        f"<w:document {WORD}><w:body>{paragraph('&j;')}</w:body></w:document>"}),
    "a file as entity": lambda: docx("", {"word/document.xml": '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
        f"<w:document {WORD}><w:body>{paragraph('&f;')}</w:body></w:document>"}),
    "150 MB of text": lambda: docx(paragraph("a" * 150_000_000)),
    "many paragraphs": lambda: docx(paragraph("a") * 200_000),
    "tables in tables": lambda: docx("<w:tbl><w:tr><w:tc>" * 50_000 + WORDS + "</w:tc></w:tr></w:tbl>" * 50_000),
    "elements without end": lambda: docx("<w:sdt><w:sdtContent>" * 100_000),
    "wide cells": lambda: docx(f"<w:tbl>{CELLS.format(2_000_000_000) * 1000}</w:tbl>"),
    "many wide cells": lambda: docx(f"<w:tbl>{CELLS.format(60_000) * 5000}</w:tbl>"),
    "half a file": lambda: PLAIN[: len(PLAIN) // 2],
    "no document": lambda: open_xml("word/document.xml", "wordprocessingml.document", {"word/styles.xml": STYLES}),
    "no text": lambda: docx(""),
    "broken markup": lambda: docx("<w:p><w:r>"),
    "only a signature": lambda: b"PK\x03\x04" + b"[Content_Types].xml word/",
    "many parts": lambda: docx(WORDS, {f"w/{number}": b"" for number in range(20_000)}),
    "styles of each other": lambda: docx(paragraph("x", "A"), {"word/styles.xml": f'<w:styles {WORD}>'
        '<w:style w:type="paragraph" w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>'}),
    "a far cell": lambda: xlsx(f'{row(1, 1)}<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'),
    "far cells": lambda: xlsx("".join(f'<row r="{n}001"><c r="XFD{n}001"><v>2</v></c></row>' for n in range(1, 1000))),
    "many cells": lambda: xlsx("".join(row(n, *[1] * 100) for n in range(1, 9_000))),
    "one merged cell": lambda: xlsx(row(1, 1), rest='<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    "a row that is none": lambda: xlsx('<row r="4294967295"><c r="A4294967295"/></row><row r="0"><c r="A0"/></row>'),
    "shapes in shapes": lambda: pptx("<p:grpSp>" * 20_000 + "</p:grpSp>" * 20_000),
    "one chapter over and over": lambda: epub("<p>x</p>", repeated=100_000),
    "a chapter of another folder": lambda: epub("<p>x</p>", more={"b.opf": '<package xmlns="http://www.idpf.org/2007/opf">'
        '<manifest><item id="a" href="../../etc/passwd"/></manifest><spine><itemref idref="a"/></spine></package>'}),
    "elements in elements": lambda: epub("<div>" * 300_000 + "x" + "</div>" * 300_000),
    "lists in lists": lambda: epub("<ul><li>" * 100_000 + "x" + "</li></ul>" * 100_000),
    "wide rows": lambda: epub("<table>" + '<tr><td colspan="1000000" rowspan="65000">x</td></tr>' * 1000 + "</table>"),
    "a locked book": lambda: epub("<p>x</p>", more={"META-INF/encryption.xml": LOCKED}),
    "an old file of nothing": lambda: OLD + bytes(5000),
    "an encrypted package": lambda: OLD + bytes(500) + "EncryptedPackage".encode("utf-16-le"),
    **{f"wrong bytes {seed}": partial(_changed, seed) for seed in range(6)},
}  # fmt: skip
"""Documents that are broken, locked, or made to take long, by what is odd about them."""
ENDLESS = {
    "one slide over and over": lambda: pptx(shape("x"), slides=200_000),
    "one text in many cells": lambda: xlsx(
        "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 20_000)),
        {"xl/sharedStrings.xml": f"<sst {SHEET}><si><t>{'x' * 1_000_000}</t></si></sst>"},
    ),
}
"""Documents that take more time or memory than the process has that reads them."""
