"""Archives of others, and those that were made to harm."""

import gzip
import random
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from tests.runtime.archives.archived import archive_of, exchange, response, written
from webdata.domain.errors import ConfigError
from webdata.runtime.archives.reader import ArchiveReader, is_archive


def read(path, **options):
    reader = ArchiveReader(path, **options)
    return [*reader], dict(reader.left_out)


def test_chunks_are_joined_and_the_coding_of_the_content_stays(tmp_path):
    """A response as wget stores it, in chunks and compressed, has its compressed body."""
    body = gzip.compress(b"<p>page</p>")
    chunked = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, body[:10], len(body) - 10, body[10:])
    record = response(chunked, "Transfer-Encoding: chunked", "Content-Encoding: gzip", "Content-Type: text/html")
    [page], _ = read(written(tmp_path / "wget.warc.gz", record))
    assert page.body == body
    assert page.headers == (("Content-Encoding", "gzip"), ("Content-Type", "text/html"))


@pytest.mark.parametrize("head", ["HTTP/2 200", "HTTP/2.0 200 OK", "HTTP/1.0 200"])
def test_versions_of_http_are_read(tmp_path, head):
    """Browsers' archives name HTTP/2, and have its pseudo-headers."""
    [page], _ = read(written(tmp_path / "a.warc.gz", response(b"page", ":status: 200", "x: y", head=head)))
    assert (page.status, page.headers, page.body) == (200, (("x", "y"),), b"page")


def test_a_file_without_gzip_is_read(tmp_path):
    """Records follow one another without members, too."""
    records = [response(b"one"), response(b"two", url="<http://example.com/2>")]
    pages, _ = read(written(tmp_path / "a.warc", *records, packed=False))
    assert [(page.url, page.body) for page in pages] == [
        ("http://example.com/", b"one"),
        ("http://example.com/2", b"two"),
    ]


def test_other_records_are_passed_over(tmp_path):
    """Requests, metadata and records of other schemes are no pages, and are not counted."""
    others = [response(b"", kind=kind) for kind in ("request", "metadata", "conversion")]
    dns = response(b"example.com. 1 IN A 192.0.2.1", url="dns:example.com")
    assert read(written(tmp_path / "a.warc.gz", *others, dns, response(b"page")))[1] == {}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (response(b"x" * 3000), "longer than 0 MiB"),
        (response(b"page", length=10 << 30), "longer than 0 MiB"),
        (response(b"page", length=900), "cut off"),
        (response(b"page", head="GARBAGE"), "without a response of HTTP"),
        (response(b"page", length=-5), "broken records"),
        (response(b"page", length="many"), "broken records"),
        (response(b"page", "x: " + "y" * 300_000), "with heads of more than 256 KiB"),
        (response(b"page", kind="revisit"), "found again, with the page in another archive"),
    ],
)
def test_a_record_that_cannot_be_read_is_counted(tmp_path, record, reason):
    """A record is left out by a reason, and those behind it are read."""
    path = written(tmp_path / "a.warc.gz", response(b"first"), record, response(b"last"))
    pages, left_out = read(path, longest=1000)
    assert [page.body for page in pages] == [b"first", b"last"]
    assert left_out[reason] == 1


def test_a_page_behind_a_broken_record_has_its_place(tmp_path):
    """It is found there again, as a later record may refer to it."""
    reader = ArchiveReader(written(tmp_path / "a.warc.gz", b"broken", response(b"first"), response(b"last")))
    found = [*reader.found()]
    assert [reader.at(one.offset).body for one in found] == [one.page.body for one in found] == [b"first", b"last"]


def test_a_bomb_takes_little_memory(tmp_path):
    """A member of 300 MiB of zeros is passed over without being in memory."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = response(b"", length=300 << 20).removesuffix(b"\r\n\r\n")
    bomb = packing.compress(head) + b"".join(packing.compress(bytes(1 << 20)) for _ in range(300)) + packing.flush()
    path = tmp_path / "a.warc.gz"
    path.write_bytes(bomb + gzip.compress(response(b"last")))
    pages, left_out = read(path)
    assert [page.body for page in pages] == [b"last"]
    assert left_out == {"longer than 32 MiB": 1}


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive at all\n" * 5, gzip.compress(gzip.compress(response(b"page"))), bytes(70_000), b"\n" * 300_000],
)
def test_what_is_no_archive_is_refused(tmp_path, content):
    """A file without a record is refused by a message that says what would be right."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is no archive: give a WARC file"):
        read(path)


def test_any_bytes_are_read_or_refused(tmp_path):
    """Archives with changed bytes give pages or the one error."""
    [path] = archive_of(tmp_path, *(exchange(f"https://example.com/{n}", b"<p>%d" % n) for n in range(5)))
    whole, chance = path.read_bytes(), random.Random(1)
    plain = b"".join(response(b"page %d" % n) for n in range(5))
    for source in [whole] * 150 + [plain] * 150:
        changed = bytearray(source)
        for _ in range(chance.randint(1, 5)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        path.write_bytes(changed)
        with suppress(ConfigError):
            assert len(read(path)[0]) <= 6


def test_a_file_that_is_compressed_as_one_is_told(tmp_path):
    """Its first record is read, and the reason says how the others can be."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(response(b"first") + response(b"second")))
    pages, left_out = read(path)
    assert [page.body for page in pages] == [b"first"]
    assert "write the file anew with warcio recompress" in next(iter(left_out))


def test_the_older_format_is_read(tmp_path):
    """ARC has a line before each response."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\npage"
    first = b"1 0 webdata\nURL IP-address Archive-date Content-type Archive-length\n"
    head = b"filedesc://a.arc 0.0.0.0 20261126000000 text/plain %d\n%b\n" % (len(first), first)
    path = tmp_path / "a.arc"
    path.write_bytes(head + b"http://example.com/ 192.0.2.1 20261126000000 text/html %d\n%b\n" % (len(answer), answer))
    [page], _ = read(path)
    assert (page.url, page.status, page.body) == ("http://example.com/", 200, b"page")


def test_archives_are_known_by_their_names():
    """The ends of names tell, in any case."""
    assert is_archive(Path("a.WARC.gz"))
    assert is_archive(Path("a.warc"))
    assert not is_archive(Path("warc.html"))


def test_nothing_of_a_file_comes_into_the_log(tmp_path, caplog):
    """An address that is none is read as it is: a log with it would have a stranger's control characters."""
    [page], _ = read(written(tmp_path / "a.warc.gz", response(b"page", url="http://example.com/ \x1b[31m")))
    assert (page.url, caplog.records) == ("http://example.com/%20\x1b[31m", [])
