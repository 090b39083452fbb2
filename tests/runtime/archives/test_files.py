"""Archives as this program writes them, read by other readers."""

import errno
import os
from contextlib import redirect_stdout
from io import StringIO

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.cli import main as warcio

from tests.runtime.archives.archived import HTML, archive_of, exchange
from webdata.runtime.archives.files import ArchiveFiles
from webdata.runtime.archives.reader import ArchiveReader


def records(path):
    """What fastwarc reads: the type, the address and whether the digest of the body is right, of each record."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            is_response = record.record_type == WarcRecordType.response
            right = record.verify_payload_digest() if is_response else None
            yield str(record.record_type), record.headers.get("WARC-Target-URI"), right


def test_another_reader_reads_it(tmp_path):
    """An exchange is a response and its request, after a record about the file; the digest of the body is right."""
    [path] = archive_of(tmp_path, exchange())
    url = "https://example.com/a"
    assert [*records(path)] == [("warcinfo", None, None), ("response", url, True), ("request", url, None)]


def test_warcio_finds_it_valid(tmp_path):
    """`warcio check` reports nothing, also for headers and addresses that are not ASCII, and for empty bodies."""
    odd = (*HTML, ("X-Odd", "caf\xe9\r\nX-More: 1"), ("Content-Encoding", "gzip"))
    [path] = archive_of(
        tmp_path,
        exchange("https://example.com/é?q=ü#x", headers=odd, status=599),
        exchange("https://example.com", b""),
        exchange("https://example.com/é?q=ü#x", headers=odd),
    )
    with redirect_stdout(StringIO()) as told, pytest.raises(SystemExit) as end:
        warcio(["check", str(path)])
    assert not end.value.code
    assert told.getvalue() == ""
    [first, *_] = ArchiveReader(path)
    assert first.header("x-odd") == "caf\xe9X-More: 1"


def test_a_body_is_stored_once(tmp_path):
    """The second response with a body is a revisit, which the reader gives that body again."""
    body = os.urandom(50_000)
    [path] = archive_of(tmp_path, exchange("https://example.com/a", body), exchange("https://example.com/b", body))
    assert [kind for kind, _, _ in records(path)] == ["warcinfo", "response", "request", "revisit", "request"]
    assert path.stat().st_size < 60_000
    assert [(page.url, page.body) for page in ArchiveReader(path)] == [
        ("https://example.com/a", body),
        ("https://example.com/b", body),
    ]


def test_each_file_is_whole_in_itself(tmp_path):
    """A file that is full is followed by another, in which no record refers to the one before."""
    body = os.urandom(2000)
    paths = archive_of(tmp_path, *(exchange(f"https://example.com/{n}", body) for n in range(3)), most_bytes=1500)
    assert [len([*ArchiveReader(path)]) for path in paths] == [1, 1, 1]
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}


def test_all_but_the_last_exchange_is_readable_after_a_kill(tmp_path):
    """A file that ends anywhere has all exchanges that end before."""
    [path] = archive_of(tmp_path, *(exchange(f"https://example.com/{n}", os.urandom(500)) for n in range(3)))
    whole = path.read_bytes()
    for length in range(len(whole) - 900, len(whole), 37):
        path.write_bytes(whole[:length])
        assert len([*ArchiveReader(path)]) >= 2


def test_a_full_disk_leaves_whole_records(tmp_path, monkeypatch):
    """An exchange that is written in part is removed, and the next one follows the one before."""
    files, write = ArchiveFiles(tmp_path, "webdata"), os.write
    files.write(exchange("https://example.com/1"))
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:100]))
    with pytest.raises(OSError, match="not written as a whole"):
        files.write(exchange("https://example.com/2", b"2"))
    monkeypatch.setattr(os, "write", write)
    files.write(exchange("https://example.com/3", b"3"))
    files.close()
    [path] = tmp_path.iterdir()
    assert [page.url[-1] for page in ArchiveReader(path)] == ["1", "3"]


def test_a_body_of_an_exchange_that_was_lost_is_stored_again(tmp_path, monkeypatch):
    """No record refers to a response that could not be written."""
    files, write = ArchiveFiles(tmp_path, "webdata"), os.write
    files.write(exchange("https://example.com/1"))

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="full"):
        files.write(exchange("https://example.com/2", b"2"))
    monkeypatch.setattr(os, "write", write)
    files.write(exchange("https://example.com/3", b"2"))
    files.close()
    [path] = tmp_path.iterdir()
    assert [page.url[-1] for page in ArchiveReader(path)] == ["1", "3"]
