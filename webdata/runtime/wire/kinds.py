"""The kind of a body: markup, JSON, XML, plain text, or binary data."""

import json
import re
from enum import StrEnum

import orjson
from w3lib.encoding import read_bom


class Kind(StrEnum):
    """The kinds of bodies, each of which is converted to Markdown differently."""

    HTML = "html"
    JSON = "json"
    XML = "xml"
    TEXT = "text"
    BINARY = "binary"


PDF = "application/pdf"
ZIP = "application/zip"
OLE = "application/x-ole-storage"
"""A compound file: [MS-CFB], 2.2. Those of the web are documents of old versions of Office, or encrypted ones."""
OPEN_XML = "application/vnd.openxmlformats-officedocument."
PARTS = {
    b"word/": f"{OPEN_XML}wordprocessingml.document",
    b"ppt/": f"{OPEN_XML}presentationml.presentation",
    b"xl/": f"{OPEN_XML}spreadsheetml.sheet",
}
"""The folders of packages of Office, with or without macros, and their types: ECMA-376-1, 11 to 13."""
DECLARED = re.compile(rb"PK\x03\x04.{26}mimetype(application/[a-z.+-]{1,60})", re.DOTALL)
"""The type that a package declares in its first member: EPUB 3.3, 4.2.1; OpenDocument 1.3, part 2, 3.3."""
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
OFFICE = frozenset([
    OLE, *PARTS.values(), "application/epub+zip", f"{OPEN_DOCUMENT}text", f"{OPEN_DOCUMENT}spreadsheet",
    f"{OPEN_DOCUMENT}presentation",
])  # fmt: skip
"""The types of documents of offices and books."""
DIRECTORY = 65_536
"""Bytes at the end of a package in which the names of its parts are looked for."""
SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": OLE,
    b"\x1f\x8b": "application/gzip",
    b"7z\xbc\xaf\x27\x1c": "application/x-7z-compressed",
    b"Rar!\x1a\x07": "application/vnd.rar",
    b"BZh": "application/x-bzip2",
    b"\xfd7zXZ\0": "application/x-xz",
    b"\x28\xb5\x2f\xfd": "application/zstd",
    b"wOFF": "font/woff",
    b"wOF2": "font/woff2",
    b"\0\x01\0\0": "font/ttf",
    b"OTTO": "font/otf",
    b"OggS": "application/ogg",
    b"ID3": "audio/mpeg",
    b"fLaC": "audio/flac",
    b"\x1aE\xdf\xa3": "video/webm",
    b"\0asm": "application/wasm",
    b"\x7fELF": "application/x-executable",
    b"SQLite format 3\0": "application/vnd.sqlite3",
}
"""The first bytes of common binary formats: https://mimesniff.spec.whatwg.org and the formats' own definitions."""
TYPES = ("image/", "audio/", "video/", "font/", "application/octet-stream")
UNKNOWN = ("unknown/unknown", "application/unknown", "*/*", "application/octet-stream")
"""Types that say nothing: https://mimesniff.spec.whatwg.org/#supplied-mime-type-detection-algorithm"""
DOCUMENTS = ("application/pdf", "application/zip", "application/vnd.openxmlformats-", "application/msword", *TYPES[:4])
"""Types of binary data only, whose beginning may look like text."""
FEED = re.compile(
    rb"(?:\s++|<!--.*?-->|<[!?][^>]*+>)*+<(?:(rss)\b|(feed)\b|rdf:RDF\b(?=.*http://(?:purl\.org/rss/1\.0|my\.netscape\.com/rdf/simple/0\.9)/))",
    re.DOTALL,
)
"""The beginning of a feed that is declared as HTML: https://mimesniff.spec.whatwg.org/#rules-for-identifying-a-feed"""
PAGE = re.compile(rb"(?:\s++|<!--.*?-->|<\?[^>]*+>)*+<(?:!doctype\s++html|html)(?=[\s>])", re.DOTALL | re.IGNORECASE)
"""The beginning of an HTML page, whatever its type; in the midst of a text it is what that text is about."""
GUARD = re.compile(rb"(?:\)\]\}'?,?|(?:while|for) ?\((?:1|;;)\);|\{\}&&)\s*+")
"""What keeps other sites' pages from running an answer of JSON as a script."""
FEEDS = {1: "application/rss+xml", 2: "application/atom+xml", None: "application/rss+xml"}
HEADER = 1445
"""Bytes that tell the type of a body: https://mimesniff.spec.whatwg.org/#read-the-resource-header"""
LONGEST_JSON = 1_000_000
CONTROLS = bytes({*range(9), 11, *range(14, 27), *range(28, 32)})
"""Bytes that no text contains: https://mimesniff.spec.whatwg.org/#binary-data-byte"""
FEW_CONTROLS = 0.01


def kind(body: bytes, content_type: str) -> tuple[Kind, str]:
    """The kind of a body and its media type, by its first bytes, else by its header."""
    media = _media(content_type)
    if (sniffed := _signature(body)) and (sniffed == PDF or not _is_plain(body[:HEADER])):
        return Kind.BINARY, sniffed
    start = body[:HEADER].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").replace(b"\0", b"")
    is_page = PAGE.match(start) is not None
    if _is_binary(body) and not is_page:
        return Kind.BINARY, media or "application/octet-stream"
    known = "" if media in UNKNOWN else media
    if known in ("", "text/html") and (feed := FEED.match(start)):
        return Kind.XML, FEEDS[feed.lastindex]
    is_json = known in ("", "text/html") and not is_page and _is_json(body)
    form = Kind.HTML if is_page else Kind.JSON if is_json else _textual(start, known)
    is_document = form is not Kind.HTML and media.startswith(DOCUMENTS) and not media.endswith("+xml")
    return Kind.BINARY if is_document else form, media or "text/html"


def _media(content_type: str) -> str:
    """The type that a header says, the last one of several.

    https://fetch.spec.whatwg.org/#concept-header-extract-mime-type
    """
    types = [part.partition(";")[0].strip().lower() for part in content_type.split(",")]
    return next((media for media in reversed(types) if "/" in media), types[0])


def _is_plain(start: bytes) -> bool:
    """Whether it is ASCII text, which may begin with the letters of a signature."""
    return start.isascii() and start == start.translate(None, CONTROLS)


def _is_json(body: bytes) -> bool:
    """Whether a body of a megabyte at most is objects or lists of JSON, one or one a line."""
    if len(body) > LONGEST_JSON:
        return False
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    text = text[guard.end() :] if (guard := GUARD.match(text)) else text
    return text[:1] in (b"{", b"[") and (_parses(text) or all(map(_parses, filter(None, text.splitlines()))))


def _parses(text: bytes) -> bool:
    """Whether it is JSON as Python reads it: `NaN` and halves of surrogates are in real answers."""
    try:
        orjson.loads(text)
    except ValueError:
        return _parses_leniently(text)
    return True


def _parses_leniently(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _signature(body: bytes) -> str | None:
    if body[:4] == b"RIFF" and body[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(body[8:12], "video/avi")
    if body[4:8] == b"ftyp":
        return "image/avif" if body[8:12] == b"avif" else "video/mp4"
    if body[:HEADER].lstrip().startswith(b"%PDF-"):
        return PDF
    found = next((media for start, media in SIGNATURES.items() if body.startswith(start)), None)
    return _package(body) if found == ZIP else found


def _package(body: bytes) -> str:
    """The type of a ZIP archive, which may be that of a document."""
    if declared := DECLARED.match(body):
        return declared[1].decode()
    end = body[-DIRECTORY:]
    if b"[Content_Types].xml" not in end and b"[Content_Types].xml" not in body[:DIRECTORY]:
        return ZIP
    return next((media for folder, media in PARTS.items() if folder in end), ZIP)


def _is_binary(body: bytes) -> bool:
    sample = body[:4096]
    if read_bom(body)[0] or not sample:
        return False
    zeros = sample.count(0)
    if zeros and max(sample[::2].count(0), sample[1::2].count(0)) == zeros and zeros > len(sample) / 8:
        return False
    return len(sample) - len(sample.translate(None, CONTROLS)) > 2 + FEW_CONTROLS * len(sample)


def _textual(start: bytes, media: str) -> Kind:
    if media.endswith(("json", "jsonl", "jsonlines")):
        return Kind.JSON
    if "html" in media:
        return Kind.HTML
    if media.endswith(("/xml", "+xml")) or start.startswith((b"<?xml", b"<svg")):
        return Kind.XML
    if media.startswith("text/") or (media and not media.startswith(TYPES)):
        return Kind.TEXT
    if start[:1] in (b"{", b"["):
        return Kind.JSON
    return Kind.HTML if b"<" in start else Kind.TEXT
