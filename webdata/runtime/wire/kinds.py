"""The kind of a body: markup, JSON, XML, plain text, or binary data."""

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
DOCUMENTS = ("application/pdf", "application/zip", "application/vnd.openxmlformats-", "application/msword", *TYPES[:4])
"""Types of binary data only, whose beginning may look like text."""
FEED = re.compile(
    rb"(?:\s++|<!--.*?-->|<[!?][^>]*+>)*+<(?:(rss)\b|(feed)\b|rdf:RDF\b(?=.*http://purl\.org/rss/1\.0/))", re.DOTALL
)
"""The beginning of a feed that is declared as HTML: https://mimesniff.spec.whatwg.org/#rules-for-identifying-a-feed"""
FEEDS = {1: "application/rss+xml", 2: "application/atom+xml", None: "application/rss+xml"}
HEADER = 1445
"""Bytes that tell the type of a body: https://mimesniff.spec.whatwg.org/#read-the-resource-header"""
LONGEST_JSON = 1_000_000
CONTROLS = bytes({*range(9), 11, *range(14, 27), *range(28, 32)})
"""Bytes that no text contains: https://mimesniff.spec.whatwg.org/#binary-data-byte"""
FEW_CONTROLS = 0.01


def kind(body: bytes, content_type: str) -> tuple[Kind, str]:
    """The kind of a body and its media type, by its first bytes, else by its header."""
    media = content_type.partition(";")[0].strip().lower()
    if sniffed := _signature(body):
        return Kind.BINARY, sniffed
    if _is_binary(body):
        return Kind.BINARY, media or "application/octet-stream"
    start = body[:HEADER].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n").replace(b"\0", b"")
    if media in ("", "text/html") and (feed := FEED.match(start)):
        return Kind.XML, FEEDS[feed.lastindex]
    form = Kind.JSON if media in ("", "text/html") and _is_json(body, start) else _textual(start.lower(), media)
    is_document = form is not Kind.HTML and media.startswith(DOCUMENTS) and not media.endswith("+xml")
    return Kind.BINARY if is_document else form, media or "text/html"


def _is_json(body: bytes, start: bytes) -> bool:
    """Whether a body of a megabyte at most is an object or a list of JSON."""
    if start[:1] not in (b"{", b"[") or len(body) > LONGEST_JSON:
        return False
    try:
        orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
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
    if media.endswith(("/json", "+json", "/x-ndjson")):
        return Kind.JSON
    marked = b"<html" in start or b"<!doctype html" in start
    if "html" in media or marked:
        return Kind.HTML
    if media.endswith(("/xml", "+xml")) or start.startswith(b"<?xml"):
        return Kind.XML
    if media.startswith("text/") or (media and not media.startswith(TYPES)):
        return Kind.TEXT
    if start[:1] in (b"{", b"["):
        return Kind.JSON
    return Kind.HTML if b"<" in start else Kind.TEXT
