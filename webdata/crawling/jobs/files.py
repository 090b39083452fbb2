"""Files of queries, read lazily: text (one query a line), CSV (`.csv`) or JSON Lines (`.jsonl`, `.ndjson`).

All are UTF-8, with or without a byte order mark, with any line ends. Blank lines are skipped.
"""

import atexit
import codecs
import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any, TextIO

import orjson

from webdata.domain.errors import ConfigError

CHUNK = 1 << 20
ENCODING = "utf-8-sig"


@dataclass(frozen=True)
class Row:
    """One query of a file, not validated."""

    line: int
    """The number of its last line, from 1; unique, so it also identifies the row."""
    values: dict[str, Any]
    """Values by column, without blank cells and nulls."""
    problem: str | None = None
    """Why the line could not be read; None if it could. With a problem `values` is empty."""


def rows(path: Path, column: str) -> Iterator[Row]:
    """The queries of a file; `column` is the field that a line of plain text holds. Raises OSError."""
    reader = {".csv": _csv_rows, ".jsonl": _json_rows, ".ndjson": _json_rows}.get(path.suffix.lower())
    with _opened(path) as file:
        yield from reader(file) if reader else _text_rows(file, column)


def columns(path: Path) -> list[str] | None:
    """The columns that a CSV file names in its first line; None for a file of another kind. Raises ConfigError."""
    if path.suffix.lower() != ".csv":
        return None
    with _opened(path) as file:
        try:
            names = _header(csv.reader(file, strict=True))
        except csv.Error as error:
            raise ConfigError(f"{path}: the first line cannot be read as CSV: {error}") from None
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ConfigError(f"{path} names the column {min(twice)} twice in its first line: name each once")
    return names


def digest(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal. Raises ConfigError for a file that is not UTF-8 text."""
    hashed, decoder, lines = sha256(), codecs.getincrementaldecoder("utf-8")(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            _check_text(path, decoder, chunk, lines)
            hashed.update(chunk)
            lines += chunk.count(b"\n")
        _check_text(path, decoder, b"", lines)
    return hashed.hexdigest()


def standard_input() -> Path:
    """A temporary file with all of standard input; it is deleted when the process ends."""
    with NamedTemporaryFile(prefix="queries-", suffix=".txt", delete=False) as file:
        path = Path(file.name)
        atexit.register(path.unlink, missing_ok=True)
        copyfileobj(sys.stdin.buffer, file)
    return path


def _check_text(path: Path, decoder: codecs.IncrementalDecoder, chunk: bytes, lines: int) -> None:
    try:
        decoder.decode(chunk, final=not chunk)
        wrong = chunk.find(b"\0")  # UTF-16 of English text is valid UTF-8 with many null characters
        before = chunk[:wrong]
    except UnicodeDecodeError as error:
        wrong, before = error.start, error.object[: error.start]
    if wrong >= 0:
        line = lines + before.count(b"\n") + 1
        raise ConfigError(f"{path} is not UTF-8 text (line {line}): save it as UTF-8")


def _opened(path: Path) -> TextIO:
    return path.open(encoding=ENCODING, errors="replace", newline="")


def _text_rows(file: TextIO, column: str) -> Iterator[Row]:
    for line, text in enumerate(file, 1):
        if text.strip():
            yield Row(line, {column: text.strip()})


def _json_rows(file: TextIO) -> Iterator[Row]:
    for line, text in enumerate(file, 1):
        if text.strip():
            yield _json_row(line, text)


def _json_row(line: int, text: str) -> Row:
    try:
        values = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Row(line, {}, f"is no JSON ({error.msg}, column {error.colno}): give one object a line")
    if not isinstance(values, dict):
        return Row(line, {}, 'is no JSON object: give one object a line, such as {"q": "coffee"}')
    return Row(line, {name: value for name, value in values.items() if value is not None})


def _csv_rows(file: TextIO) -> Iterator[Row]:
    reader = csv.reader(file, strict=True)
    names = _header(reader)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(reader.line_num, {}, f"cannot be read as CSV: {error}")
            continue
        if any(cell.strip() for cell in cells):
            yield _csv_row(reader.line_num, names, cells)


def _csv_row(line: int, names: list[str], cells: list[str]) -> Row:
    if len(cells) > len(names):
        return Row(line, {}, f"has {len(cells)} cells for {len(names)} columns: put quotes around what holds a comma")
    return Row(line, {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()})


def _header(reader: Iterator[list[str]]) -> list[str]:
    return [name.strip() for name in next(reader, [])]
