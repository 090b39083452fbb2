"""Compressed pages: valid, truncated, mislabelled, and bombs that are small on the wire and decode to 1 GB.

A bomb repeats the compressed form of one block of zeros, so it is made in milliseconds.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial

import brotli

from webdata.runtime.wire.exchange import HTML, SandboxRequest, SiteReply
from webdata.sandbox.sites.url import Trial, article

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BOMB_BYTES = 1 << 30
BLOCK = 1 << 20
CRC_OF_BOMB = 0x5B64C2B0
"""CRC-32 of 1 GiB of zeros."""

Compress = Callable[[bytes], bytes]


def gzipped(data: bytes) -> bytes:
    """A gzip member (RFC 1952) without a modification time, so that its bytes never change."""
    return gzip.compress(data, mtime=0)


def raw_deflated(data: bytes) -> bytes:
    """Deflate (RFC 1951) without the zlib header of `Content-Encoding: deflate` (RFC 9110, 8.4.1.2)."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def zstandard_streamed(data: bytes) -> bytes:
    """A Zstandard frame (RFC 8878) without its content size."""
    packer = zstd.ZstdCompressor()
    return packer.compress(data) + packer.flush()


COMPRESSED: Mapping[str, tuple[str, str, Compress]] = {
    "gzip": ("gzip", "gzip", gzipped),
    "x-gzip": ("x-gzip", "gzip by its old name", gzipped),
    "deflate": ("deflate", "deflate with zlib's head", zlib.compress),
    "deflate-raw": ("deflate", "deflate without zlib's head", raw_deflated),
    "br": ("br", "Brotli", brotli.compress),
    "zstd": ("zstd", "Zstandard, without the size of its content", zstandard_streamed),
    "double": ("gzip, br", "gzip in Brotli", lambda data: brotli.compress(gzipped(data))),
    "upper": ("GZip", "gzip, named in other letters", gzipped),
    "cut": ("gzip", "gzip that ends in the middle", lambda data: gzipped(data)[: len(gzipped(data)) // 2]),
    "wrong-gzip": ("gzip", "plain, but said to be gzip", bytes),
    "wrong-br": ("br", "plain, but said to be Brotli", bytes),
    "unknown": ("sandbox", "plain, in an encoding that nobody knows", bytes),
    "identity": ("identity", "plain, and said to be", bytes),
}
"""By last segment of the path: the Content-Encoding, a description, and the compressor."""


@cache
def gzip_bomb() -> bytes:
    """A gzip member of 1 GiB of zeros with a valid checksum."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    end = packer.flush() + CRC_OF_BOMB.to_bytes(4, "little") + BOMB_BYTES.to_bytes(4, "little")
    return head + block * (BOMB_BYTES // BLOCK) + end


@cache
def brotli_bomb() -> bytes:
    """A Brotli stream of 1 GiB of zeros: from the second block on its flushed blocks are the same bytes."""
    packer = brotli.Compressor(quality=5)
    first, following = (packer.process(bytes(BLOCK)) + packer.flush() for _ in range(2))
    return bytes(first + following * (BOMB_BYTES // BLOCK - 1) + packer.finish())


@cache
def zstandard_bomb() -> bytes:
    """A frame (RFC 8878) of run-length blocks, each 128 KB of zeros."""
    size = 1 << 17
    count = BOMB_BYTES // size
    block = (1 << 1 | size << 3).to_bytes(3, "little") + b"\0"
    last = (1 | 1 << 1 | size << 3).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd" + b"\x00\x38" + block * (count - 1) + last


BOMBS: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "gzip": ("gzip", gzip_bomb),
    "br": ("br", brotli_bomb),
    "zstd": ("zstd", zstandard_bomb),
    "double": ("gzip, gzip", lambda: gzipped(gzip_bomb())),
}


def compressed(name: str, request: SandboxRequest) -> SiteReply:
    """The article, compressed by an entry of `COMPRESSED`."""
    encoding, _, compress = COMPRESSED[name]
    return SiteReply(200, (*HTML, ("Content-Encoding", encoding)), compress(article(request).body))


def bomb(name: str, _request: SandboxRequest) -> SiteReply:
    """A bomb, sent as HTML."""
    encoding, make = BOMBS[name]
    return SiteReply(200, (*HTML, ("Content-Encoding", encoding)), make())


TRIALS = (
    *(Trial(f"/compressed/{name}", text, partial(compressed, name)) for name, (_, text, _) in COMPRESSED.items()),
    *(
        Trial(f"/bomb/{name}", f"1 GB of zeros in {encoding}", partial(bomb, name))
        for name, (encoding, _) in BOMBS.items()
    ),
)
