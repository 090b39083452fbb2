"""Decompression of bodies: gzip, deflate of both kinds, Brotli and Zstandard, in several layers too.

https://www.rfc-editor.org/rfc/rfc9110#name-content-codings
"""

import logging
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from typing import NamedTuple

import brotli

from webdata.domain.errors import UpstreamError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

logger = logging.getLogger(__name__)

DECOMPRESSED = "decompressed"
"""The flag of a response whose body is decompressed already, whatever its headers are."""
LAYERS = 3
"""Encodings that one body may have: each layer is decompressed up to the limit."""
CHUNK = 64 * 1024
"""Bytes that are decompressed at a time."""

GZIP = b"\x1f\x8b"

Chunks = Iterator[bytes]


class Decompressed(NamedTuple):
    """A decompressed body, and whether it is complete."""

    body: bytes
    whole: bool


def decompressed(body: bytes, content_encoding: str, limit: int) -> Decompressed:
    """The decompressed body; that of a truncated body is as much as could be read, which is logged.

    Raises UpstreamError for a body of more than `limit` bytes (kind `too_large`), before all of it is in memory, for
    one in another encoding than its header names (kind `content_encoding`), in more than LAYERS (kind
    `too_many_encodings`), and for one of which nothing could be read (kind `truncated`).
    """
    names = [part.strip().lower() for part in content_encoding.split(",")]
    layers = [name for name in names if name not in ("", "identity", "none")]
    if len(layers) > LAYERS:
        raise UpstreamError(f"the page has {len(layers)} encodings: at most {LAYERS} are read", "too_many_encodings")
    whole = True
    for name in reversed(layers):
        if name not in READERS:
            raise UpstreamError("the page is sent in an encoding that is not known", "content_encoding")
        body, complete = _layer(body, READERS[name], limit)
        whole = whole and complete
    return Decompressed(body, whole)


def _layer(body: bytes, reader: Callable[[bytes], Chunks], limit: int) -> Decompressed:
    """The body without one of its encodings."""
    read, length = BytesIO(), 0
    try:
        for chunk in reader(body):
            length += read.write(chunk)
            if length > limit:
                read.close()  # a stored error would hold this frame and its bytes
                raise UpstreamError("the page is larger than what is read", "too_large")
    except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as error:
        if not length and body and isinstance(error, EOFError):
            raise UpstreamError("the page was cut off before anything of it could be read", "truncated") from error
        if not length and body:
            raise UpstreamError("the page is not in the encoding that it names", "content_encoding") from error
        logger.info("a compressed body ends early: %d bytes of it are read", length)
        return Decompressed(read.getvalue(), whole=False)
    return Decompressed(read.getvalue(), whole=True)


def _inflated(body: bytes, bits: int) -> Generator[bytes, None, bytes]:
    """The chunks of one stream; returns the bytes after it."""
    reader = zlib.decompressobj(bits)
    while body and not reader.eof:
        yield reader.decompress(body, CHUNK)
        body = reader.unconsumed_tail
    while not reader.eof and (chunk := reader.decompress(body, CHUNK)):
        yield chunk
        body = reader.unconsumed_tail
    if not reader.eof:
        raise EOFError
    return reader.unused_data


def _gzip(body: bytes) -> Chunks:
    """The chunks of all members; bytes after the last member are ignored (RFC 1952)."""
    if not body.startswith(GZIP):
        raise zlib.error("no gzip")
    while body.startswith(GZIP):
        body = yield from _inflated(body, zlib.MAX_WBITS | 16)


def _deflate(body: bytes) -> Chunks:
    """Deflate with zlib's header, as RFC 9110 requires, or without it, as some servers send it."""
    wrapped = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _inflated(body, zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)


def _brotli(body: bytes) -> Chunks:
    reader = brotli.Decompressor()
    yield reader.process(body, output_buffer_limit=CHUNK)
    while not reader.is_finished():
        chunk = reader.process(b"", output_buffer_limit=CHUNK)
        if not chunk and reader.can_accept_more_data():
            raise EOFError
        yield chunk


def _zstandard(body: bytes) -> Chunks:
    """The chunks of all frames (RFC 8878)."""
    while body:
        reader = zstd.ZstdDecompressor()
        yield reader.decompress(body, CHUNK)
        while not reader.eof:
            if reader.needs_input:
                raise EOFError
            yield reader.decompress(b"", CHUNK)
        body = reader.unused_data


READERS: dict[str, Callable[[bytes], Chunks]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstandard,
}
