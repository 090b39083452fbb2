"""Decompression of bodies: gzip, deflate of both kinds, Brotli and Zstandard, in several layers too.

https://www.rfc-editor.org/rfc/rfc9110#name-content-codings
"""

import logging
import zlib
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from typing import NamedTuple, cast

import brotli

from webdata.domain.errors import UpstreamError
from webdata.runtime.wire.zstandard import zstd

logger = logging.getLogger(__name__)

WAS_ENCODED = "Content-Encoding: "
"""The beginning of the flag of a response that was decompressed: the value of the header that it had follows."""
LAYERS = 3
"""Encodings that one body may have: each layer is decompressed up to the limit."""
CHUNK = 64 * 1024
"""Bytes that a step of decompression makes at most."""
WINDOW = 16 * 1024
"""Bytes that a step reads at most: a decompressor copies those that it is given after the end of its member, so that
a body of many small members would else be copied once for each."""
MEMBERS = 1000
"""Members of gzip, or frames of Zstandard, that one body may have; a page has one."""
WINDOW_LOG = 23
"""Zstandard's window as a power of two: 8 MiB, the largest that HTTP allows (RFC 9659)."""

GZIP = b"\x1f\x8b"
GZIP_HEAD = 10
"""Bytes of a member's header, without the fields that its flags name (RFC 1952 2.3)."""
HEADER_CRC, EXTRA, NAME, COMMENT = 2, 4, 8, 16
"""The flags of a gzip header."""
PRESET = 0x20
"""The flag of a preset dictionary in zlib's header (RFC 1950 2.2)."""

Chunks = Iterator[bytes]
"""Each is the output of one step, which may be empty."""
Steps = Generator[None, None, "Decompressed"]
"""A decompression that pauses after each step; measured, most take 0.1 ms, none more than 10."""


class Decompressed(NamedTuple):
    """A decompressed body, and whether it is complete."""

    body: bytes
    whole: bool


def decompressed(body: bytes, content_encoding: str, limit: int) -> Decompressed:
    """The decompressed body; that of a truncated body is as much as could be read, which is logged.

    Raises UpstreamError for a body of more than `limit` bytes (kind `too_large`), before all of it is in memory, for
    one in another encoding than its header names (kind `content_encoding`), in more than LAYERS or with more than
    MEMBERS (kind `too_many_encodings`), and for one of which nothing could be read (kind `truncated`). The time grows
    with the sizes alone: measured, 20 MB take 0.1 s a layer, and those that were made to be slow 0.4 s.
    """
    return _result(decompression(body, content_encoding, limit))


def leniently_decompressed(body: bytes, content_encoding: str, limit: int) -> Decompressed:
    """The decompressed body; the body itself where its encoding is unknown, or neither the declared one nor evident.

    Raises the other errors of `decompressed`.
    """
    return _result(lenient_decompression(body, content_encoding, limit))


def decompression(body: bytes, content_encoding: str, limit: int, *, lenient: bool = False) -> Steps:
    """The steps of `decompressed`, whose result and errors are those of the generator.

    A `lenient` one leaves out the encodings that are unknown, or in which the body is not: a server may name them
    twice, or name what is none.
    """
    names = [part.partition(";")[0].strip().lower() for part in content_encoding.split(",")]
    layers = [name for name in names if name not in ("", "identity", "none")]
    if len(layers) > LAYERS:
        raise UpstreamError(f"the page has {len(layers)} encodings: at most {LAYERS} are read", "too_many_encodings")
    whole, is_plain = True, True
    for name in reversed(layers):
        try:
            body, complete = yield from _layer(body, _reader(name), limit)
        except UpstreamError as error:
            if not lenient or error.kind != "content_encoding":
                raise
        else:
            whole, is_plain = whole and complete, False
    if layers and is_plain and (name := next((one for sign, one in SIGNS.items() if body.startswith(sign)), "")):
        body, whole = yield from _layer(body, READERS[name], limit)
    return Decompressed(body, whole)


def _reader(name: str) -> Callable[[memoryview], Chunks]:
    if name not in READERS:
        raise UpstreamError("the page is sent in an encoding that is not known", "content_encoding")
    return READERS[name]


def lenient_decompression(body: bytes, content_encoding: str, limit: int) -> Steps:
    """The steps of `leniently_decompressed`."""
    try:
        return (yield from decompression(body, content_encoding, limit, lenient=True))
    except UpstreamError as error:
        if error.kind != "content_encoding":
            raise
        return Decompressed(body, whole=True)


def _result(steps: Steps) -> Decompressed:
    """What the steps come to."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(Decompressed, end.value)


def _layer(body: bytes, reader: Callable[[memoryview], Chunks], limit: int) -> Steps:
    """The body without one of its encodings."""
    read, length = BytesIO(), 0
    try:
        for chunk in reader(memoryview(body)):
            length += read.write(chunk)
            if length > limit:
                read.close()  # a stored error would hold this frame and its bytes
                raise UpstreamError("the page is larger than what is read", "too_large")
            yield
    except WrongTrailerError:
        logger.info("a compressed body has a wrong checksum or length: all %d bytes of it are read", length)
        return Decompressed(read.getvalue(), whole=False)
    except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as error:
        if not length and body and isinstance(error, EOFError):
            raise UpstreamError("the page was cut off before anything of it could be read", "truncated") from error
        if not length and body:
            raise UpstreamError("the page is not in the encoding that it names", "content_encoding") from error
        logger.info("a compressed body ends early: %d bytes of it are read", length)
        return Decompressed(read.getvalue(), whole=False)
    return Decompressed(read.getvalue(), whole=True)


class WrongTrailerError(Exception):
    """The data of a stream is there, but is not what its checksum says; browsers do not look at that."""


class Inflated(NamedTuple):
    """What follows from a stream of deflate."""

    checksum: int
    length: int
    rest: memoryview
    """The bytes after it."""


def _inflated(
    body: memoryview, checksum_of: Callable[[bytes, int], int], checksum: int
) -> Generator[bytes, None, Inflated]:
    """The chunks of one stream without header and trailer, whose checksum begins with this number."""
    reader, length = zlib.decompressobj(-zlib.MAX_WBITS), 0
    while not reader.eof:
        given = body[:WINDOW]
        chunk = reader.decompress(given, CHUNK)
        if not given and not chunk:
            raise EOFError
        checksum, length = checksum_of(chunk, checksum), length + len(chunk)
        yield chunk
        left = reader.unused_data if reader.eof else reader.unconsumed_tail  # at the end it may be in both
        body = body[len(given) - len(left) :]
    return Inflated(checksum, length, body)


def _gzip(body: memoryview) -> Chunks:
    """The chunks of all members; bytes after the last member are ignored (RFC 1952)."""
    if body[:2] != GZIP:
        raise zlib.error("no gzip")
    is_right = True
    for _ in range(MEMBERS):
        checksum, length, body = yield from _inflated(body[_gzip_header(bytes(body[:WINDOW])) :], zlib.crc32, 0)
        trailer = checksum.to_bytes(4, "little") + (length % 2**32).to_bytes(4, "little")
        is_right = is_right and body[: len(trailer)] == trailer
        body = body[len(trailer) :]
        if body[:2] != GZIP:
            break
    else:
        raise _too_many_members()
    if not is_right:
        raise WrongTrailerError


def _gzip_header(body: bytes) -> int:
    """How many bytes the header of a member has (RFC 1952 2.3)."""
    if len(body) < GZIP_HEAD:
        raise EOFError
    method, flags, end = body[2], body[3], GZIP_HEAD
    if method != zlib.DEFLATED:
        raise zlib.error("no deflate in gzip")
    if flags & EXTRA:
        end += 2 + int.from_bytes(body[end : end + 2], "little")
    for flag in (NAME, COMMENT):
        if flags & flag:
            end = body.find(b"\0", end) + 1
            if not end:
                raise zlib.error("a name or comment of gzip without an end")
    return end + (2 if flags & HEADER_CRC else 0)


def _deflate(body: memoryview) -> Chunks:
    """Deflate with zlib's header, as RFC 9110 requires, or without it, as some servers send it."""
    wrapped = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    if wrapped and body[1] & PRESET:
        raise zlib.error("a preset dictionary, which HTTP has not")
    checksum, _, rest = yield from _inflated(body[2:] if wrapped else body, zlib.adler32, 1)
    if wrapped and rest[:4] != checksum.to_bytes(4, "big"):
        raise WrongTrailerError


def _brotli(body: memoryview) -> Chunks:
    reader = brotli.Decompressor()
    while not reader.is_finished():
        given = body[:WINDOW] if reader.can_accept_more_data() else body[:0]
        body = body[len(given) :]
        chunk = reader.process(given, output_buffer_limit=CHUNK)
        if not given and not chunk and reader.can_accept_more_data():
            raise EOFError
        yield chunk


def _zstandard(body: memoryview) -> Chunks:
    """The chunks of all frames (RFC 8878)."""
    at = 0
    for _ in range(MEMBERS):
        reader = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})
        while not reader.eof:
            given = body[at : at + WINDOW] if reader.needs_input else body[:0]
            if reader.needs_input and not given:
                raise EOFError
            at += len(given)
            yield reader.decompress(given, CHUNK)
        at -= len(reader.unused_data)
        if at == len(body):
            return
    raise _too_many_members()


def _too_many_members() -> UpstreamError:
    return UpstreamError(
        f"the page is compressed in more than {MEMBERS} parts: so many are read at most", "too_many_encodings"
    )


READERS: dict[str, Callable[[memoryview], Chunks]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstandard,
}
SIGNS = {
    GZIP: "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x78\x01": "deflate",
    b"\x78\x9c": "deflate",
    b"\x78\xda": "deflate",
}
"""The first bytes of encodings that a server may send under the name of another."""
