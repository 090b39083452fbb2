"""The files of an archive that one process writes: WARC 1.1, a member of gzip for each record."""

import os
import zlib
from collections import OrderedDict
from datetime import UTC, datetime
from http.client import responses
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from webdata.runtime.archives.exchange import ArchivedExchange, HeaderPairs
from webdata.runtime.process import private_files

MOST_FILE_BYTES = 1 << 30
"""Bytes after which the next file begins."""
MOST_REMEMBERED = 100_000
"""Bodies of a file that are found again; each takes 300 bytes of memory."""
PLAIN_LEVEL = 3
ENCODED_LEVEL = 0
"""Levels of gzip: what the site has compressed grows no smaller, and is only wrapped."""
GZIP = 16
"""Added to the bits of a window: the form of gzip."""
SMALLEST_WINDOW = 9
"""Bits of zlib's window: a larger one than a short record needs takes most of its time, for the memory."""
UNSAFE = str.maketrans("", "", "\r\n\0")


class ArchiveFiles:
    """Files in a folder whose names begin with a prefix, the time, and the number of the process.

    A body that a file has already is stored once: a `revisit` record refers to the first response with it, in the same
    file. Each exchange is one write of whole members, so that after a kill all but the last is readable. For one thread
    at a time; raises OSError.
    """

    def __init__(self, folder: Path, prefix: str, most_bytes: int = MOST_FILE_BYTES) -> None:
        self._folder = folder
        self._prefix = prefix
        self._most_bytes = most_bytes
        self._file: int | None = None
        self._size = 0
        self._files = 0
        self._records = ArchiveRecords()

    def write(self, exchange: ArchivedExchange) -> None:
        """Write the records of an exchange."""
        if self._file is None or self._size >= self._most_bytes:
            self._begin()
        try:
            self._append(self._records.of_exchange(exchange))
        except Exception:
            self._records = ArchiveRecords()  # or a later record would refer to the one that is lost
            raise

    def close(self) -> None:
        """Close the file; the next exchange begins another."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _begin(self) -> None:
        self.close()
        private_files.make_folder(self._folder)
        self._files += 1
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        path = self._folder / f"{self._prefix}-{now}-{os.getpid()}-{self._files:05}.warc.gz"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = private_files.opener(str(path), flags)
        self._size, self._records = 0, ArchiveRecords()
        self._append(self._records.of_file(path.name))

    def _append(self, records: bytes) -> None:
        assert self._file is not None
        written = os.write(self._file, records)
        if written < len(records):  # the disk is full
            os.ftruncate(self._file, self._size)
            raise OSError("the record was not written as a whole")
        self._size += written


class ArchiveRecords:
    """The records of one file, as bytes; it knows which bodies the file has."""

    def __init__(self) -> None:
        self._writer = _Writer(BytesIO(), gzip=False, warc_version="1.1")
        self._known: OrderedDict[str, tuple[str, str, str]] = OrderedDict()
        """By the digest of a body: the id, address and date of the first response with it."""

    def of_file(self, name: str) -> bytes:
        """The first record of a file."""
        info = {"software": "webdata", "format": "WARC File Format 1.1"}
        return self._member(self._writer.create_warcinfo_record(name, info), PLAIN_LEVEL)

    def of_exchange(self, exchange: ArchivedExchange) -> bytes:
        """The response, or the revisit of an earlier one, and the request."""
        head = _head(exchange)
        response = self._writer.create_warc_record(
            exchange.url,
            "response",
            payload=BytesIO(exchange.body),
            length=len(exchange.body),
            http_headers=head,
            warc_headers_dict=dict(exchange.marks),
        )
        id_, digest = response.rec_headers["WARC-Record-ID"], response.rec_headers["WARC-Payload-Digest"]
        date = response.rec_headers["WARC-Date"]
        earlier = self._known.get(digest) if exchange.body else None
        if earlier:
            response = self._revisit(exchange, head, digest, earlier)
            response.rec_headers.replace_header("WARC-Record-ID", id_)
        elif exchange.body:
            self._remember(digest, (id_, exchange.url, date))
        request = self._request(exchange, response.rec_headers["WARC-Date"], id_)
        level = ENCODED_LEVEL if exchange.is_encoded else PLAIN_LEVEL
        return self._member(response, level) + self._member(request, PLAIN_LEVEL)

    def _remember(self, digest: str, response: tuple[str, str, str]) -> None:
        self._known[digest] = response
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)

    def _revisit(
        self, exchange: ArchivedExchange, head: "_Head", digest: str, earlier: tuple[str, str, str]
    ) -> ArcWarcRecord:
        id_, url, date = earlier
        marks = {**exchange.marks, "WARC-Refers-To": id_}
        return self._writer.create_revisit_record(exchange.url, digest, url, date, head, marks)

    def _request(self, exchange: ArchivedExchange, date: str, response_id: str) -> ArcWarcRecord:
        parts = urlsplit(exchange.url)
        line = f"{exchange.method} {urlunsplit(('', '', parts.path or '/', parts.query, ''))} HTTP/1.1"
        sent = (("Host", parts.netloc.rpartition("@")[2]), *exchange.sent)
        fields = {"WARC-Date": date, "WARC-Concurrent-To": response_id}
        return self._writer.create_warc_record(
            exchange.url,
            "request",
            payload=BytesIO(exchange.sent_body),
            length=len(exchange.sent_body),
            http_headers=_Head(line, _pairs(sent), is_http_request=True),
            warc_headers_dict=fields,
        )

    def _member(self, record: ArcWarcRecord, level: int) -> bytes:
        self._writer.out = BytesIO()
        self._writer.write_record(record)
        plain = self._writer.out.getvalue()
        window = min(zlib.MAX_WBITS, max(SMALLEST_WINDOW, len(plain).bit_length()))
        return zlib.compress(plain, level, wbits=GZIP + window)


def packed_exchange(exchange: ArchivedExchange) -> bytes:
    """The records of an exchange, as those of a file: files may be made of them one after another."""
    return ArchiveRecords().of_exchange(exchange)


class _Writer(WARCWriter):  # type: ignore[misc]  # it has no types
    """Leaves out digests of whole records: gzip has a checksum of each, and they took a fifth of an exchange's time."""

    def ensure_digest(self, record: ArcWarcRecord, block: bool = True, payload: bool = True) -> None:
        super().ensure_digest(record, block=False, payload=payload)


class _Head(StatusAndHeaders):  # type: ignore[misc]  # it has no types
    """A head of HTTP whose bytes are those that were sent; warcio's own writes others for what is not ASCII."""

    def to_ascii_bytes(self, header_filter: None = None) -> bytes:
        text: str = self.to_str(header_filter)
        return text.encode("latin-1", "replace") + b"\r\n"


def _head(exchange: ArchivedExchange) -> _Head:
    """That of the response; its version of HTTP is not known any more."""
    line = f"{exchange.status} {responses.get(exchange.status, 'Unknown')}"
    length = ("Content-Length", str(len(exchange.body)))
    return _Head(line, [*_pairs(exchange.headers), length], protocol="HTTP/1.1")


def _pairs(headers: HeaderPairs) -> list[tuple[str, str]]:
    return [(name.translate(UNSAFE), value.translate(UNSAFE)) for name, value in headers]
