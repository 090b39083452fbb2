"""Files of queries as the NDJSON that is submitted: a line of the file is a line of the body."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import orjson

from webdata.crawling.jobs import files
from webdata.domain.errors import ConfigError

PIECE = 256 * 1024
NDJSON = (".jsonl", ".ndjson")


def check_file(path: Path) -> int:
    """The bytes of a file; raises ConfigError for one that is no UTF-8 text, or has a wrong first line."""
    try:
        files.digest(path)
        files.columns(path)
        return path.stat().st_size
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


async def pieces(path: Path, field: str, sent: Callable[[int], object]) -> AsyncIterator[bytes]:
    """The body, in pieces. A line of plain text is the value of `field`. `sent` is told the bytes of each piece."""
    for piece in _raw(path) if path.suffix.lower() in NDJSON else _joined(_lines(path, field)):
        yield piece
        sent(len(piece))


def _raw(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _joined(lines: Iterator[bytes]) -> Iterator[bytes]:
    piece = bytearray()
    for line in lines:
        piece += line
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _lines(path: Path, field: str) -> Iterator[bytes]:
    """A line for each of the file, so that their numbers agree."""
    before = 0
    for row in files.rows(path, field):
        if row.problem:
            raise ConfigError(f"{path}, line {row.line}: {row.problem}")
        yield b"\n" * (row.line - before - 1) + orjson.dumps(row.values, option=orjson.OPT_APPEND_NEWLINE)
        before = row.line
