"""Exchanges, and archives of them, for tests."""

import gzip

from webdata.runtime.archives.exchange import ENGINE, QUERY, ArchivedExchange
from webdata.runtime.archives.files import ArchiveFiles

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def exchange(url="https://example.com/a", body=b"<p>page</p>", status=200, headers=HTML, marks=None):
    marks = {ENGINE: "url", QUERY: '{"url":"https://example.com/a"}'} if marks is None else marks
    return ArchivedExchange(url, "GET", (("Accept", "*/*"),), b"", status, headers, body, marks)


def archive_of(folder, *exchanges, most_bytes=1 << 30):
    """The paths of the files with these exchanges, in their order."""
    files = ArchiveFiles(folder, "webdata", most_bytes)
    for one in exchanges:
        files.write(one)
    files.close()
    return sorted(folder.glob("*.warc.gz"), key=lambda path: path.name.rpartition("-")[2])


def response(body, *lines, url="http://example.com/", head="HTTP/1.1 200 OK", length=None, kind="response"):
    """A record as other programs write it; `lines` are headers of HTTP."""
    block = "\r\n".join([head, *lines, "", ""]).encode() + body
    fields = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>",
        "WARC-Date: 2026-11-26T00:00:00Z",
        "Content-Type: application/http;msgtype=response",
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join([*fields, "", ""]).encode() + block + b"\r\n\r\n"


def written(path, *records, packed=True):
    """A file of these records, a member of gzip for each."""
    path.write_bytes(b"".join(gzip.compress(record) if packed else record for record in records))
    return path
