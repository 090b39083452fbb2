"""Files other than HTML, and HTML with another Content-Type."""

import zlib
from collections.abc import Mapping
from functools import partial

import orjson

from webdata.sandbox.exchange import Reply, SandboxRequest
from webdata.sandbox.sites._web_pages import Trial, article_markup

PDF = b"""%PDF-1.4
%\xe2\xe3\xcf\xd3
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 42>>stream
BT /F1 12 Tf 20 50 Td (The sandbox) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R/Size 6>>
%%EOF
"""
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
RSS = b"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>The sandbox's news</title><link>http://example.com/</link>
<item><title>Nothing happened</title><link>http://example.com/article</link>
<description>All day &amp; night.</description></item>
</channel></rss>
"""
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<inventory><item id="1"><name>Teapot</name><price>12.50</price></item></inventory>
"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><circle cx="5" cy="5" r="4"/></svg>\n'
JSON = orjson.dumps({"title": "The sandbox", "rows": [{"n": 1, "text": "Übung <b>"}, {"n": 2, "text": None}]})
CSV = 'name,price\nTeapot,12.50\n"Kettle, large",30\nCafé,1\n'.encode()
TEXT = b"The sandbox's plain text.\n\n  Its lines stay as they are:\n\t* one\n\t* two <not a tag> & so on\n"
MARKDOWN = b"# The sandbox\n\nMarkdown *as it is*.\n"


def png() -> bytes:
    """A picture of one grey pixel."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in (
            (b"IHDR", b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"),
            (b"IDAT", zlib.compress(b"\0\x80")),
            (b"IEND", b""),
        )
    )


FILES: Mapping[str, tuple[str, str, bytes]] = {
    "paper.pdf": ("application/pdf", "a PDF", PDF),
    "picture.png": ("image/png", "a picture", png()),
    "archive.zip": ("application/zip", "an empty archive", EMPTY_ZIP),
    "drawing.svg": ("image/svg+xml", "a drawing in SVG", SVG),
    "data.json": ("application/json", "JSON", JSON),
    "table.csv": ("text/csv; charset=utf-8", "CSV", CSV),
    "inventory.xml": ("application/xml", "XML", XML),
    "news.rss": ("application/rss+xml", "an RSS feed", RSS),
    "notes.txt": ("text/plain; charset=utf-8", "plain text", TEXT),
    "readme.md": ("text/markdown", "Markdown", MARKDOWN),
    "picture.html": ("text/html", "a picture, said to be HTML", png()),
    "paper.bin": ("application/octet-stream", "a PDF, said to be anything", PDF),
    "paper.txt": ("", "a PDF without Content-Type", PDF),
    "data.txt": ("text/plain", "JSON, said to be plain text", JSON),
}
"""By name: the Content-Type, a description, the bytes."""
TYPES = {
    "plain": ("text/plain; charset=utf-8", "said to be plain text"),
    "octet": ("application/octet-stream", "said to be anything"),
    "xhtml": ("application/xhtml+xml", "said to be XHTML"),
    "upper": ("TEXT/HTML; Charset=UTF-8", "in capital letters"),
    "quoted": ('text/html; charset="utf-8"', "with quotes around the charset"),
    "broken": ("text/html; charset=", "with an empty charset"),
    "unheard": ("text/html; charset=klingon-8", "with a charset that nobody knows"),
    "nonsense": ("nonsense", "no type at all"),
}
"""By name: the Content-Type of an article, and a description."""


def typed(content_type: str, request: SandboxRequest) -> Reply:
    """The article with a Content-Type, or without one for ""."""
    return _reply(content_type, article_markup(request.url).encode())


def file(name: str, _request: SandboxRequest) -> Reply:
    """A file with its Content-Type."""
    content_type, _, data = FILES[name]
    return _reply(content_type, data)


def _reply(content_type: str, body: bytes) -> Reply:
    return Reply(200, (("Content-Type", content_type),) if content_type else (), body)


TRIALS = (
    *(Trial(f"/file/{name}", text, partial(file, name)) for name, (_, text, _) in FILES.items()),
    *(Trial(f"/type/{name}", f"an article, {text}", partial(typed, kind)) for name, (kind, text) in TYPES.items()),
    Trial("/type/none", "an article without Content-Type", partial(typed, "")),
)
