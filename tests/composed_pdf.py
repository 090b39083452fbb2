"""PDFs composed by hand: of pages with text at given places, and hostile ones."""

import random
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

FONTS = b"<< /Font << /F1 3 0 R /F2 4 0 R >> >>"


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """An object with a stream."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def packed(data: bytes, entries: bytes = b"") -> bytes:
    """An object with a compressed stream."""
    return stream(zlib.compress(data, 9), b"/Filter /FlateDecode " + entries)


def pdf(objects: Mapping[int, bytes], trailer: bytes = b"", root: int = 1) -> bytes:
    """A file of numbered objects, with their table."""
    body, places = bytearray(b"%PDF-1.7\n"), {}
    for number, content in objects.items():
        places[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(body)
    size = max(objects) + 1
    body += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        body += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    return bytes(body) + b"trailer << /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (
        size,
        root,
        trailer,
        table,
    )


def with_pages(contents: Sequence[bytes], entries: bytes = b"", more: Mapping[int, bytes] | None = None) -> bytes:
    """A file whose pages have these content streams; `entries` are of each page, `more` are further objects."""
    first = 10
    kids = b" ".join(b"%d 0 R" % (first + 2 * index) for index in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 600 800] >>" % (kids, len(contents)),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    }
    for index, content in enumerate(contents):
        number = first + 2 * index
        resources = b"" if b"/Resources" in entries else b"/Resources " + FONTS
        page = b"<< /Type /Page /Parent 2 0 R /Contents %d 0 R %s %s >>" % (number + 1, resources, entries)
        objects |= {number: page, number + 1: stream(content)}
    objects |= more or {}
    objects.setdefault(8, b"<< /Title (A composed document) /CreationDate (D:20260501120000+02'00') >>")
    return pdf(objects, b"/Info 8 0 R")


def text(left: float, top: float, words: str, size: float = 10, bold: bool = False) -> bytes:
    """Operators that show words at a place, counted from the top left corner of a page of 600 by 800 points."""
    shown = words.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    font = b"/F2" if bold else b"/F1"
    return b"BT %s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n" % (font, size, left, 800 - top, shown)


def lines(left: float, top: float, rows: Sequence[str], pitch: float = 12, size: float = 10) -> bytes:
    """Operators that show lines under each other."""
    return b"".join(text(left, top + pitch * index, row, size) for index, row in enumerate(rows))


PLAIN = text(50, 100, "Plain words on a page.")


@cache
def hostile() -> dict[str, bytes]:
    """Files that loop, grow, lie or are broken, by what is wrong with them."""
    return {**_broken(), **_looping(), **_growing(), **_odd()}


def _broken() -> dict[str, bytes]:
    whole = with_pages([PLAIN] * 3)
    noise = random.Random(5)
    return {
        "a header alone": b"%PDF-1.7\n",
        "noise": b"%PDF-1.7\n" + noise.randbytes(20_000),
        "half of a file": whole[: len(whole) // 2],
        "no table": whole[: whole.index(b"xref")],
        "wrong places in the table": whole.replace(b"%PDF-1.7\n", b"%PDF-1.7\n" + b"%" * 99 + b"\n"),
        "bytes changed": bytes(noise.randrange(256) if noise.random() < 0.02 else byte for byte in whole),
        "a string without an end": with_pages([b"BT /F1 10 Tf (never ends " + b"x" * 50_000]),
        "a wrong length": whole.replace(b"/Length 6", b"/Length 9"),
        "an unknown filter": with_pages([PLAIN], more={11: stream(PLAIN, b"/Filter /Unknown")}),
        "a page that is none": whole.replace(b"/Type /Page ", b"/Type /Pagx "),
        "no root": pdf({1: b"<< >>"}, root=9),
        "no pages": pdf({1: b"<< /Type /Catalog >>"}),
        "no page": pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>"}),
        "encrypted": pdf(
            {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>"},
            b"/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt "
            b"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <%s> /U <%s> >>" % (b"11" * 32, b"22" * 32),
        ),
        "pictures alone": with_pages([b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"]),
    }


def _looping() -> dict[str, bytes]:
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    table = pdf({1: catalog, 2: b"<< /Type /Pages /Kids [] /Count 0 >>"})
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /X %d 0 R >> >>"
    uses = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X 5 0 R >> >>"
    glyphs = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << /a 6 0 R >> "
        b"/Encoding << /Type /Encoding /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [1] "
        b"/Resources << /Font << /F1 3 0 R >> >> >>"
    )
    return {
        "pages within themselves": pdf({1: catalog, 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"}),
        "a page whose parent is itself": with_pages([PLAIN], b"/Parent 10 0 R"),
        "a table before itself": table.replace(b"/Root", b"/Prev %d /Root" % table.index(b"xref")),
        "a length that is itself": with_pages([PLAIN], more={11: b"<< /Length 11 0 R >>\nstream\nx\nendstream"}),
        "a form within itself": with_pages([b"/X Do"], uses, {5: stream(b"/X Do " + PLAIN, form % 5)}),
        "glyphs of their own font": with_pages(
            [text(9, 99, "aaaa")], more={3: glyphs, 6: stream(b"1 0 d0 BT /F1 1 Tf (aa) Tj ET")}
        ),
        "a font that is itself": with_pages([PLAIN], more={3: b"3 0 R"}),
    }


def _growing() -> dict[str, bytes]:
    resources = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X %d 0 R >> >>"
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] " + resources
    uses = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X 100 0 R >> >>"
    laughs = {100 + level: stream(b"/X Do " * 10, form % (101 + level)) for level in range(10)}
    nested = {100 + level: b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (101 + level) for level in range(20_000)}
    twice = zlib.compress(zlib.compress(b"0 0 m " * 5_000_000, 9), 9)
    return {
        "ten thousand pages": with_pages([PLAIN] * 10_000),
        "a billion pages by its own word": with_pages([PLAIN]).replace(b"/Count 1 ", b"/Count 999999999 "),
        "forms of forms of forms": with_pages([b"/X Do"], uses, {**laughs, 110: stream(PLAIN, form % 5)}),
        "pages twenty thousand deep": pdf({1: b"<< /Type /Catalog /Pages 100 0 R >>", **nested}),
        "a bomb": with_pages([b""], more={11: packed(b"q " * 60_000_000)}),
        "a bomb in a bomb": with_pages([b""], more={11: stream(twice, b"/Filter [/FlateDecode /FlateDecode]")}),
        "a million letters": with_pages([b"BT /F1 1 Tf 9 99 Td (%s) Tj ET" % (b"word " * 200_000)]),
        "a million places": with_pages([b""], more={11: packed(b"BT /F1 9 Tf 1 0 0 1 9 99 Tm (a) Tj ET " * 200_000)}),
        "words all over each other": with_pages([PLAIN * 5_000]),
        "a million lines": with_pages([b""], more={11: packed(b"9 9 m 90 9 l S 9 9 m 9 90 l S " * 300_000)}),
        "a path of a million lines": with_pages(
            [b""], more={11: packed(b"9 9 m " + b"90 9 l 9 90 l " * 500_000 + b"S")}
        ),
        "arrays in arrays": with_pages([b"[" * 500_000 + PLAIN]),
        "arrays in an object": with_pages([PLAIN], more={9: b"[" * 500_000}),
        "a hundred thousand links": with_pages(
            [PLAIN], b"/Annots [%s]" % (b"<< /Subtype /Link /Rect [0 0 9 9] >> " * 100_000)
        ),
        "a title of ten megabytes": with_pages([PLAIN]).replace(b"(A composed", b"(" + b"A" * 10_000_000),
    }


def _odd() -> dict[str, bytes]:
    return {
        "a script": with_pages([PLAIN]).replace(
            b"/Catalog", b"/Catalog /OpenAction << /S /JavaScript /JS (while(1);) >>"
        ),
        "a program to start": with_pages([PLAIN]).replace(
            b"/Catalog", b"/Catalog /OpenAction << /S /Launch /F (/bin/sh) >>"
        ),
        "a link to a script": with_pages(
            [PLAIN], b"/Annots [<< /Subtype /Link /Rect [0 0 600 800] /A << /S /URI /URI (javascript:go\\(\\)) >> >>]"
        ),
        "a page without an area": with_pages([PLAIN], b"/MediaBox [0 0 0 0]"),
        "a page of light years": with_pages([PLAIN], b"/MediaBox [-1e30 -1e30 1e30 1e30]"),
        "numbers that are none": with_pages([b"BT /F1 1e999 Tf nan inf --5 0 0 1e400 Tm (Plain words) Tj ET"]),
        "text of size 0": with_pages([text(9, 99, "Plain words", 0)]),
        "text of a million points": with_pages([text(9, 99, "Plain words", 1_000_000)]),
        "no font": with_pages([PLAIN], b"/Resources << >>"),
        "markup": with_pages([text(9, 99, "<script>alert(1)</script> ![x](javascript:y) -->")]),
    }
