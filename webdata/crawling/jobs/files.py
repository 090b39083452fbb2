"""Files of queries, read lazily: text (one query a line), CSV (`.csv`, `.tsv`) or JSON Lines (`.jsonl`, `.ndjson`).

All are UTF-8, with or without a byte order mark, with any line ends. Blank lines are skipped. CSV may have semicolons
or tabs for commas, as spreadsheets write it. A file of JSON (`.json`) may be one array, which is read as a whole.
"""

import atexit
import codecs
import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple, TextIO

import orjson

from webdata.domain.errors import ConfigError

CHUNK = 1 << 20
ENCODING = "utf-8-sig"
SEPARATOR = re.compile(r"sep=([,;\t|])\s*")
"""The line by which Excel tells the separator of a file."""


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
    reader = READERS.get(path.suffix.lower())
    with _opened(path) as file:
        yield from reader(file) if reader else _text_rows(file, column)


def columns(path: Path) -> list[str] | None:
    """The columns that a CSV file names in its first line; None for a file of another kind. Raises ConfigError."""
    if READERS.get(path.suffix.lower()) is not _csv_rows:
        return None
    with _opened(path) as file:
        try:
            names = _table(file).names
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


def _array_rows(file: TextIO) -> Iterator[Row]:
    """The objects of one array, or of lines."""
    text = file.read()
    if not text.lstrip().startswith("["):
        yield from _json_rows(StringIO(text, newline=""))
        return
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        yield Row(error.lineno, {}, f"is no JSON ({error.msg}, column {error.colno}): give one array of objects")
        return
    for number, values in enumerate(found, 1):
        yield _row(number, values)


def _json_row(line: int, text: str) -> Row:
    try:
        return _row(line, orjson.loads(text))
    except orjson.JSONDecodeError as error:
        return Row(line, {}, f"is no JSON ({error.msg}, column {error.colno}): give one object a line")


def _row(line: int, values: Any) -> Row:
    if not isinstance(values, dict):
        return Row(line, {}, 'is no JSON object: give one object a line, such as {"q": "coffee"}')
    return Row(line, {name: value for name, value in values.items() if value is not None})


class _Table(NamedTuple):
    """A file of CSV, behind the line with its columns."""

    cells: Iterator[list[str]]
    names: list[str]
    line: Callable[[], int]
    """The number of the last line that was read."""


def _table(file: TextIO) -> _Table:
    """The table of a file; its separator is the one that its first line has most of, or that Excel names in a line."""
    lines = enumerate(file, 1)
    before, first = next(((number, line) for number, line in lines if line.strip()), (1, ""))
    named = SEPARATOR.fullmatch(first)
    if named:
        before, first = next(lines, (before + 1, ""))
    separator = named[1] if named else max(",;\t", key=first.count)
    rest = (line for _, line in lines)
    reader = csv.reader(chain([first], rest), delimiter=separator, strict=True, skipinitialspace=True)
    names = [name.strip() for name in next(reader, [])]
    while names and not names[-1]:
        names.pop()
    return _Table(reader, names, lambda: before - 1 + reader.line_num)


def _csv_rows(file: TextIO) -> Iterator[Row]:
    table = _table(file)
    while True:
        try:
            cells = next(table.cells)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(table.line(), {}, f"cannot be read as CSV: {error}")
            continue
        if any(cell.strip() for cell in cells):
            yield _csv_row(table.line(), table.names, cells)


def _csv_row(line: int, names: list[str], cells: list[str]) -> Row:
    if any(cell.strip() for cell in cells[len(names) :]):
        return Row(line, {}, f"has {len(cells)} cells for {len(names)} columns: put quotes around what holds a comma")
    return Row(line, {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()})


READERS: Mapping[str, Callable[[TextIO], Iterator[Row]]] = {
    ".csv": _csv_rows,
    ".tsv": _csv_rows,
    ".json": _array_rows,
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
}
