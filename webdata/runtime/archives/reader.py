"""The pages of archives, ours and others': of `wget --warc-file`, of browsertrix, of warcio; also ARC.

An archive comes from anywhere: no record of it takes more memory than the longest page.
"""

import logging
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader, DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

from webdata.domain.errors import ConfigError
from webdata.runtime.archives.exchange import MARK, ArchivedPage, pairs_without_transfer

logging.getLogger("warcio.recordloader").setLevel(logging.ERROR)  # its warnings quote the file: any text, of any length

LONGEST_PAGE = 32 << 20
"""Bytes of a page, as it was sent; the longest that is downloaded."""
LONGEST_HEAD = 256 << 10
"""Bytes of the heads of a record: its own, and that of HTTP."""
MOST_CHUNKS = 400_000
"""Lines of a chunked body; one of so many takes two seconds."""
MOST_FOUND_AGAIN = 1_000_000
"""Responses whose bodies later records may refer to."""
BEHIND = "behind a record in one member of gzip (write the file anew with warcio recompress)"
NAMES = (".warc", ".warc.gz", ".arc", ".arc.gz")
"""How the names of archives end."""


class BrokenArchiveError(ValueError):
    """A record that cannot be read."""


class _LeftOutError(Exception):
    """A response that is no page that can be read: why."""


class FoundPage(NamedTuple):
    """A page, and where the record begins that has its body."""

    offset: int
    page: ArchivedPage


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, by its name."""
    return path.name.lower().endswith(NAMES)


class ArchiveReader:
    """Reads the responses of an archive, one after another.

    Records that are no responses of the web (requests, the tools' own) are passed over. `left_out` counts the others
    that are, by the reason.
    """

    def __init__(self, path: Path, longest: int = LONGEST_PAGE) -> None:
        self.left_out: Counter[str] = Counter()
        self._path = path
        self._longest = longest
        self._offsets: dict[str, int] = {}
        """Of responses, by the digests of their bodies."""

    def __iter__(self) -> Iterator[ArchivedPage]:
        return (found.page for found in self.found())

    def found(self) -> Iterator[FoundPage]:
        """The pages; raises ConfigError for a file that is no archive."""
        try:
            with self._path.open("rb") as file:
                yield from self._pages(file)
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be read: {error.strerror}") from error

    def at(self, offset: int) -> ArchivedPage | None:
        """The page whose record begins there; None where the file has changed."""
        with self._path.open("rb") as file, suppress(_LeftOutError):
            file.seek(offset)
            return next((_response(found.record, self._longest) for found in _Records(file)), None)
        return None

    def _pages(self, file: BinaryIO) -> Iterator[FoundPage]:
        records = _Records(file)
        for offset, record in records:
            try:
                found = self._page(record, offset)
            except _LeftOutError as error:
                self.left_out[str(error)] += 1
            else:
                if found:
                    yield found
        self.left_out.update(records.broken)
        if not records.count:
            raise ConfigError(f"{self._path} is no archive: give a WARC file, with a member of gzip for each record")

    def _page(self, record: Any, offset: int) -> FoundPage | None:
        if record.rec_type not in ("response", "revisit") or not _is_of_web(record):
            return None
        if not record.http_headers and record.rec_type == "response":
            raise _LeftOutError("without a response of HTTP")
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        if record.rec_type == "revisit":
            return self._revisited(record, digest)
        page = _response(record, self._longest)
        if page and digest and len(self._offsets) < MOST_FOUND_AGAIN:
            self._offsets.setdefault(digest, offset)
        return FoundPage(offset, page) if page else None

    def _revisited(self, record: Any, digest: str) -> FoundPage | None:
        """The page of an earlier record, which was found again."""
        offset = self._offsets.get(digest)
        page = None if offset is None else self.at(offset)
        if offset is None or page is None:
            raise _LeftOutError("found again, with the page in another archive")
        fields = record.rec_headers
        own = replace(page, id=_id(fields), url=_url(fields), date=_date(fields), marks=_marks(fields))
        return FoundPage(offset, own)


def archived_page(members: bytes) -> ArchivedPage:
    """The page of the records of one exchange (`webdata.runtime.archives.files.packed_exchange`)."""
    found = (_response(each.record, LONGEST_PAGE) for each in _Records(BytesIO(members)))
    return next(page for page in found if page)


def _response(record: Any, longest: int) -> ArchivedPage | None:
    if record.rec_type != "response" or not record.http_headers:
        return None
    status, declared = record.http_headers.get_statuscode(), record.payload_length
    if not status.isdecimal() or not 100 <= int(status) <= 999:
        raise _LeftOutError("without a response of HTTP")
    body = b"" if declared > longest else record.raw_stream.read(longest + 1)
    if max(declared, len(body)) > longest:
        raise _LeftOutError(f"longer than {longest >> 20} MiB")
    headers = tuple((name, value) for name, value in record.http_headers.headers if not name.startswith(":"))
    if len(body) < declared:
        raise _LeftOutError("cut off")
    if (record.http_headers.get_header("Transfer-Encoding") or "").strip().lower() == "chunked":
        if body.count(b"\r\n") > MOST_CHUNKS:
            raise _LeftOutError("of more chunks than a page has")
        body = ChunkedDataReader(BytesIO(body)).read()
    fields, kept = record.rec_headers, pairs_without_transfer(headers)
    return ArchivedPage(_id(fields), _url(fields), _date(fields), int(status), kept, body, _marks(fields))


class _Record(NamedTuple):
    offset: int
    record: Any


class _Records:
    """The records of a file; after a broken one it goes on with the next member of gzip."""

    def __init__(self, file: BinaryIO) -> None:
        self.count = 0
        self.broken: Counter[str] = Counter()
        self._file = file
        self._stream = _BoundedStream(file)

    def __iter__(self) -> Iterator[_Record]:
        again = True
        while again:
            try:
                yield from self._until_broken()
                again = False
            except Exception as error:  # noqa: BLE001  # warcio raises any for a file that was made for it
                self.broken[_reason(error)] += 1
                again = self._stream.skip_member()

    def _until_broken(self) -> Iterator[_Record]:
        stream = self._stream
        iterator = ArchiveIterator(self._file, arc2warc=True)
        iterator.reader, iterator.offset = stream, self._file.tell() - stream.unread
        before = -1
        for record in iterator:
            if iterator.offset <= before:  # warcio finds no place for it
                raise BrokenArchiveError(BEHIND)
            before, stream.head = iterator.offset, 0
            self.count += record.rec_type is not None
            yield _Record(iterator.offset, record)


def _reason(error: Exception) -> str:
    if isinstance(error, ArchiveLoadFailed) and "non-chunked gzip" in str(error):
        return BEHIND
    return str(error) if isinstance(error, BrokenArchiveError) else "broken records"


class _BoundedStream(DecompressingBufferedReader):  # type: ignore[misc]  # it has no types
    """The bytes of the members of a file, or of a file without any; its lines are those of heads, and bounded."""

    def __init__(self, file: BinaryIO) -> None:
        self.decompressor: Any = None
        super().__init__(file)
        self.head = 0
        """Bytes of lines since the last record began."""
        self._is_first = True

    @property
    def unread(self) -> int:
        """Bytes of the file that were read ahead; warcio's own count leaves out a member that has not begun."""
        return int(self.rem_length()) + len(self.starting_data or b"")

    def readline(self, length: int | None = None) -> bytes:
        left = LONGEST_HEAD - self.head
        line: bytes = super().readline(left if length is None else min(length, left))
        self.head += len(line)
        if self.head >= LONGEST_HEAD:
            raise BrokenArchiveError(f"with heads of more than {LONGEST_HEAD >> 10} KiB")
        return line

    def skip_member(self) -> bool:
        """Go on behind the member that is read; returns whether there is another."""
        self.head = 0
        if self.decompressor and self.starting_data:  # it has not begun: warcio has met the rest of the one before
            self.buff = None
            return True
        try:
            while self.read(1 << 16):
                pass
        except BrokenArchiveError:
            return False  # nothing tells where the next one begins
        return bool(self.read_next_member())

    def _decompress(self, data: bytes) -> bytes:
        if self.decompressor is None:
            return data
        try:
            plain: bytes = self.decompressor.decompress(data)
        except zlib.error as error:
            if not self._is_first:
                raise BrokenArchiveError("broken members of gzip") from error
            self.decompressor, plain = None, data
        self._is_first = False
        return plain


def _is_of_web(record: Any) -> bool:
    return (record.rec_headers.get_header("WARC-Target-URI") or "").startswith(("http:", "https:"))


def _id(fields: Any) -> str:
    return (fields.get_header("WARC-Record-ID") or "").strip("<>").removeprefix("urn:uuid:")


def _url(fields: Any) -> str:
    return fields.get_header("WARC-Target-URI") or ""


def _date(fields: Any) -> str:
    return fields.get_header("WARC-Date") or ""


def _marks(fields: Any) -> dict[str, str]:
    return {name: value for name, value in fields.headers if name.startswith(MARK)}
