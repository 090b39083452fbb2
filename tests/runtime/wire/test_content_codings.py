"""Decompression: each encoding, several layers, truncated bodies, bombs and wrong encodings."""

import contextlib
import gzip
import random
import time
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from webdata.domain.errors import UpstreamError
from webdata.runtime.wire.content_codings import MEMBERS, READERS, decompressed, leniently_decompressed

TEXT = b"".join(b"line %d of a page\n" % number for number in range(20_000))
MUCH = 10_000_000


def raw(data):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT),
    "deflate": zlib.compress(TEXT),
    "DEFLATE ": raw(TEXT),
    "br": brotli.compress(TEXT, quality=3),
    "zstd": zstd.compress(TEXT),
    "identity": TEXT,
    "gzip, deflate": zlib.compress(gzip.compress(TEXT)),
}


@pytest.mark.parametrize("name", PACKED)
def test_every_encoding_is_decompressed(name):
    """Each encoding, and two of them in layers, give the body."""
    assert decompressed(PACKED[name], name, MUCH).body == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate", "DEFLATE ", "br", "zstd"])
def test_a_truncated_body_is_decompressed_as_far_as_possible(name, caplog):
    """A truncated body gives its beginning, which is logged."""
    caplog.set_level("INFO")
    got = decompressed(PACKED[name][: len(PACKED[name]) * 2 // 3], name, MUCH).body
    assert TEXT.startswith(got)
    if name != "zstd":
        assert len(got) > 1000
        assert "ends early" in caplog.text


def with_fields(flags, fields, text=b"text"):
    """A gzip member with optional fields in its header."""
    packed = gzip.compress(text, mtime=0)
    return packed[:3] + bytes([flags]) + packed[4:10] + fields + packed[10:]


WRONG_TRAILERS = {
    "a checksum": ("gzip", PACKED["gzip"][:-8] + b"\1\2\3\4" + PACKED["gzip"][-4:]),
    "a length": ("gzip", PACKED["gzip"][:-4] + b"\1\2\3\4"),
    "zeros": ("gzip", PACKED["gzip"][:-8] + bytes(8)),
    "no trailer": ("gzip", PACKED["gzip"][:-8]),
    "half a trailer": ("gzip", PACKED["gzip"][:-4]),
    "of zlib": ("deflate", PACKED["deflate"][:-4] + bytes(4)),
    "none of zlib": ("deflate", PACKED["deflate"][:-4]),
}


@pytest.mark.parametrize("name", WRONG_TRAILERS)
def test_a_wrong_trailer_gives_the_page(name, caplog):
    """All of the page is there, as in browsers, which look at no checksum; it does not count as whole."""
    caplog.set_level("INFO")
    encoding, body = WRONG_TRAILERS[name]
    assert decompressed(body, encoding, MUCH) == (TEXT, False)
    assert "wrong checksum or length" in caplog.text


def test_a_wrong_trailer_of_an_empty_page_and_of_a_member():
    """An empty page is empty, and what follows a member with a wrong trailer is read."""
    wrong = gzip.compress(b"")[:-8] + b"12345678"
    assert decompressed(wrong, "gzip", MUCH) == (b"", False)
    assert decompressed(gzip.compress(b"a")[:-8] + bytes(8) + gzip.compress(b"b"), "gzip", MUCH) == (b"ab", False)


@pytest.mark.parametrize(
    ("flags", "fields"),
    [(0, b""), (1, b""), (2, b"cc"), (4, b"\3\0abc"), (8, b"a.html\0"), (16, b"words\0"), (30, b"\1\0xn\0c\0cc")],
)
def test_the_fields_of_a_header_of_gzip(flags, fields):
    """A name, a comment, a checksum and other fields precede the data."""
    assert decompressed(with_fields(flags, fields), "gzip", MUCH) == (b"text", True)


@pytest.mark.parametrize(
    "body", [b"\x1f\x8b", with_fields(0, b"")[:9], with_fields(8, b"")[:12], with_fields(4, b"\xff\xff")]
)
def test_a_header_of_gzip_that_does_not_end_is_an_error(body):
    """Nothing can be read of it."""
    with pytest.raises(UpstreamError):
        decompressed(body, "gzip", MUCH)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_too_large(name):
    """Decompression stops at the limit."""
    with pytest.raises(UpstreamError) as caught:
        decompressed(PACKED[name], name, 100_000)
    assert caught.value.kind == "too_large"


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 200_000, 3_000_000])
@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_body_of_any_length_is_whole(size, compress):
    """The end of a stream is found wherever the steps of its decompression end."""
    name = "gzip" if compress is gzip.compress else "deflate"
    for plain in (b"a" * size, random.Random(size).randbytes(size)):
        assert decompressed(compress(plain), name, 4_000_000) == (plain, True)


def test_all_members_of_gzip_are_decompressed():
    """A body may have several gzip members."""
    assert decompressed(gzip.compress(b"a") + gzip.compress(b"b"), "gzip", MUCH).body == b"ab"


def test_an_unknown_encoding_is_an_error():
    """The error is one of the upstream."""
    with pytest.raises(UpstreamError):
        decompressed(b"x", "pack200-gzip", MUCH)


def test_the_layers_of_a_body_are_bounded():
    """Three encodings are decompressed, four are an error; `identity` does not count."""
    body = gzip.compress(gzip.compress(gzip.compress(b"text")))
    assert decompressed(body, "gzip, identity, gzip, gzip", MUCH).body == b"text"
    with pytest.raises(UpstreamError, match="has 4 encodings: at most 3 are read") as caught:
        decompressed(gzip.compress(body), "gzip, gzip, gzip, gzip", MUCH)
    assert caught.value.kind == "too_many_encodings"


SLOW = {
    "gzip of empty members": ("gzip", gzip.compress(b"") * 900_000),
    "gzip of empty members in gzip": ("gzip, gzip", gzip.compress(gzip.compress(b"") * 900_000, 1)),
    "gzip of a thousand members": ("gzip", gzip.compress(bytes(19_000), 0) * 1000),
    "zstd of frames to be skipped": ("zstd", b"\x50\x2a\x4d\x18\0\0\0\0" * 2_300_000),
    "zstd of empty frames": ("zstd", zstd.compress(b"") * 1_400_000),
    "zstd of frames of a byte": ("zstd", zstd.compress(b"a") * 1_400_000),
    "deflate of empty blocks": ("deflate", b"\0\0\0\xff\xff" * 3_800_000),
    "deflate of empty Huffman blocks": ("deflate", b"\x02\x08\x20\x80\0" * 3_800_000),
    "br of empty blocks": ("br", b"\x0c" + b"\x06" * 19_000_000),
}
"""Bodies of up to 19 MB whose decompression takes long, where each part is copied with all that follows it."""


@pytest.mark.timed
@pytest.mark.parametrize("name", SLOW)
def test_a_body_of_many_parts_ends_soon(name):
    """The time grows with the size of a body, not with that times the number of its parts."""
    encodings, body = SLOW[name]
    began = time.process_time()
    with contextlib.suppress(UpstreamError):
        decompressed(body, encodings, 20_000_000)
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "zstd"])
def test_the_parts_of_a_body_are_bounded(name):
    """Of gzip's members and Zstandard's frames as many are read as any page has, and no more."""
    part = zstd.compress(b"a") if name == "zstd" else gzip.compress(b"a")
    assert decompressed(part * MEMBERS, name, MUCH) == (b"a" * MEMBERS, True)
    with pytest.raises(UpstreamError, match="compressed in more than 1000 parts") as caught:
        decompressed(part * (MEMBERS + 1), name, MUCH)
    assert caught.value.kind == "too_many_encodings"


def test_a_window_of_zstandard_is_bounded():
    """A frame whose window is larger than HTTP allows would take that much memory: it is not read."""
    large = zstd.compress(TEXT, options={zstd.CompressionParameter.window_log: 27})
    frame = large[:4] + bytes([large[4] & ~0x20, (27 - 10) << 3]) + large[5:]
    assert zstd.decompress(frame) == TEXT
    with pytest.raises(UpstreamError) as caught:
        decompressed(frame, "zstd", MUCH)
    assert caught.value.kind == "content_encoding"


@settings(deadline=None)
@given(st.binary(), st.sampled_from([*READERS]))
def test_any_bytes_give_a_body_or_an_error(body, name):
    """Any bytes in any encoding raise no other exception."""
    try:
        assert isinstance(decompressed(body, name, 1_000_000).body, bytes)
    except UpstreamError as error:
        assert error.kind in ("content_encoding", "too_large", "truncated")  # noqa: PT017  both ends are right


@pytest.mark.captures
def test_real_bodies_are_decompressed(captures):
    """Saved bodies are decompressed as checked by hand."""
    for file in (captures / "fetch").glob("compressed-html-*.bin"):
        name = file.stem.removeprefix("compressed-html-").replace("-", ", ").replace("rawdeflate", "deflate")
        name = "zstd" if "zstd" in name else name.replace("zlibdeflate", "deflate")
        truth = (captures / "fetch" / "truth" / f"{file.stem}.truth.html").read_bytes()
        got = decompressed(file.read_bytes(), name, MUCH).body.replace(b"`deflate'", b"`gzip'")
        assert got == truth, file.name


@pytest.mark.captures
def test_a_truncated_real_body_is_decompressed_as_far_as_possible(captures):
    """The expected text of the gzip body without its end is in Latin-1."""
    body = (captures / "fetch" / "compressed-unexpected-eof.gz").read_bytes()
    truth = (captures / "fetch" / "truth" / "compressed-unexpected-eof.truth.txt").read_text()
    assert decompressed(body, "gzip", MUCH) == (truth.encode("latin-1"), False)


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("gzip, gzip", gzip.compress(TEXT)),
        ("UTF-8, gzip", gzip.compress(TEXT)),
        ("aws-chunked", TEXT),
        ("gzip;q=1.0", gzip.compress(TEXT)),
        ("br", gzip.compress(TEXT)),
        ("gzip", zlib.compress(TEXT)),
        ("utf-8", zstd.compress(TEXT)),
    ],
)
def test_a_body_under_a_wrong_name_is_read(name, packed):
    """What is no encoding, or is named once too often, is left out; what a body begins with tells its encoding."""
    assert leniently_decompressed(packed, name, MUCH) == (TEXT, True)
