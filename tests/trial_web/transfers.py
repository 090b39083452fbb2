"""Replies that arrive in pieces, never end, are malformed, or have unusual headers or content types."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat

from webdata.runtime.wire.exchange import HTML, SandboxRequest, SiteReply
from webdata.runtime.wire.wire import head_bytes
from webdata.sandbox.sites.url import Trial, article, constant, file, small_page

NESTED_ELEMENTS = 200_000
PIECE_BYTES = 16 * 1024
DRIP_BYTES = 40
PLAIN_HEAD = (*HTML, ("Connection", "close"))
CHUNKED = (*PLAIN_HEAD, ("Transfer-Encoding", "chunked"))
REPEATED = (("X-Repeated", "one"), ("X-Repeated", "two"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2; Path=/"))
STRANGE = (("X-Utf-8", "café"), ("X-Latin-1", "caf\udce9"), ("X-Empty", ""), ("x-lower", "tab\tinside"))

HEADS = {
    "repeated": ("repeated headers", (*HTML, *REPEATED)),
    "bytes": ("headers with bytes beyond ASCII, some of them not UTF-8", (*HTML, *STRANGE)),
    "many": ("300 headers", (*HTML, *((f"X-Number-{n}", str(n)) for n in range(300)))),
    "long": ("a header of 12 KB", (*HTML, ("X-Long", "a" * 12_000))),
}


def typed(content_type: str, request: SandboxRequest) -> SiteReply:
    """The article with a Content-Type, or without one for ""."""
    return SiteReply(200, (("Content-Type", content_type),) if content_type else (), article(request).body)


def in_pieces(pieces: Sequence[bytes], pause: float = 0) -> SiteReply:
    """Pieces of raw bytes with a pause (seconds) between them."""
    return SiteReply(pieces=lambda: iter(pieces), pause=pause)


def chunked(request: SandboxRequest) -> SiteReply:
    """The article in chunks (RFC 9112, 7.1)."""
    return in_pieces([*_chunks(request), b"0\r\n\r\n"])


def chunked_cut(request: SandboxRequest) -> SiteReply:
    """The article in chunks, without the last ones."""
    pieces = _chunks(request)
    return in_pieces(pieces[: len(pieces) // 2])


def until_closed(request: SandboxRequest) -> SiteReply:
    """The article without a Content-Length; the end of the connection ends it."""
    return in_pieces([head_bytes(200, PLAIN_HEAD), article(request).body])


def slow_head(_request: SandboxRequest) -> SiteReply:
    """The response head, one line every half second."""
    lines = head_bytes(200, (*HTML, *((f"X-{n}", "late") for n in range(4)), ("Content-Length", "0"))).splitlines(True)
    return in_pieces(lines, pause=0.5)


def drip(_request: SandboxRequest) -> SiteReply:
    """A body of one byte every half second."""
    body = small_page("Drip", "One byte after the other.")[:DRIP_BYTES]
    head = head_bytes(200, (*HTML, ("Content-Length", str(len(body)))))
    return in_pieces([head, *(bytes([byte]) for byte in body)], pause=0.5)


def endless(_request: SandboxRequest) -> SiteReply:
    """A body that never ends."""

    def pieces() -> Iterator[bytes]:
        yield head_bytes(200, PLAIN_HEAD)
        yield from repeat(b"<p>and so on</p>".ljust(PIECE_BYTES))

    return SiteReply(pieces=pieces, pause=0.001)


def deep(_request: SandboxRequest) -> SiteReply:
    """A page of deeply nested elements."""
    body = b"<div>" * NESTED_ELEMENTS + b"the bottom" + b"</div>" * NESTED_ELEMENTS
    return SiteReply(200, HTML, b"<title>Deep</title>" + body)


def broken_markup() -> dict[str, tuple[str, bytes]]:
    """Malformed bodies that are hard for parsers, by name: description and bytes."""
    page = small_page("Odd bytes", "Some of them are odd.")
    return {
        "nul": ("NULs in the text", page.replace(b"odd.", b"o\0d\0d.\0")),
        "controls": (
            "control characters and invalid UTF-8",
            page.replace(b"odd.", b"odd\x01\x08\x7f\xff\xfe\xc0\xaf."),
        ),
        "unclosed": (
            "nothing is closed",
            b"<html><body><h1>Unclosed<p>one<p>two<table><tr><td>three<!-- and a comment",
        ),
        "fragment": ("no html, head or body", b"<h1>A fragment</h1><p>Nothing around it.</p>"),
        "blank": ("white space alone", b" \r\n\t " * 100),
        "frames": (
            "a frameset",
            b'<html><frameset cols="*,*"><frame src="/article"><frame src="/empty"></frameset></html>',
        ),
        "script": (
            "a shell that scripts would fill",
            b'<html><body><div id="root"></div><script src="/app.js"></script></body></html>',
        ),
    }


def _chunks(request: SandboxRequest) -> list[bytes]:
    body = article(request).body
    parts = [body[start : start + 700] for start in range(0, len(body), 700)]
    return [head_bytes(200, CHUNKED), *(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)]


TYPES = {
    "plain": ("text/plain; charset=utf-8", "said to be plain text"),
    "octet": ("application/octet-stream", "said to be anything"),
    "xhtml": ("application/xhtml+xml", "said to be XHTML"),
    "upper": ("TEXT/HTML; Charset=UTF-8", "in capital letters"),
    "quoted": ('text/html; charset="utf-8"', "with quotes around the charset"),
    "broken": ("text/html; charset=", "with an empty charset"),
    "unheard": ("text/html; charset=klingon-8", "with a charset that nobody knows"),
    "nonsense": ("nonsense", "no type at all"),
    "none": ("", "without Content-Type"),
}
"""By name: the Content-Type of an article, and a description."""
PAPER, PICTURE = (file(name, None).body for name in ("paper.pdf", "picture.png"))
FILES = {
    "picture.html": ("a picture, said to be HTML", SiteReply(200, (("Content-Type", "text/html"),), PICTURE)),
    "paper.bin": ("a PDF, said to be anything", SiteReply(200, (("Content-Type", "application/octet-stream"),), PAPER)),
    "paper.txt": ("a PDF without Content-Type", SiteReply(200, (), PAPER)),
    "data.txt": ("JSON, said to be plain text", SiteReply(200, (("Content-Type", "text/plain"),), b'{"title": 1}')),
}

TRIALS = (
    Trial("/slow/head", "a head that comes line by line", slow_head),
    Trial("/slow/drip", f"{DRIP_BYTES} bytes, each after half a second", drip),
    Trial("/endless", "a body without an end", endless),
    Trial("/deep", f"{NESTED_ELEMENTS:,} nested elements", deep),
    Trial("/chunked/whole", "an article in chunks", chunked),
    Trial("/chunked/cut", "an article in chunks, of which the last are missing", chunked_cut),
    Trial("/until-closed", "an article without Content-Length", until_closed),
    *(
        Trial(f"/headers/{name}", text, constant(SiteReply(200, head, small_page("Headers", text))))
        for name, (text, head) in HEADS.items()
    ),
    *(
        Trial(f"/odd/{name}", text, constant(SiteReply(200, HTML, body)))
        for name, (text, body) in broken_markup().items()
    ),
    *(Trial(f"/type/{name}", f"an article, {text}", partial(typed, kind)) for name, (kind, text) in TYPES.items()),
    *(Trial(f"/file/{name}", text, constant(reply)) for name, (text, reply) in FILES.items()),
)
