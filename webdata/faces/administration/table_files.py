"""The results of a batch as a table in a file, Parquet or XLSX, of which only some rows are in memory at once.

They are made where they are wanted, of the lines that the service sends anyway, so that no service has to.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import click
import orjson

from webdata.domain.errors import ConfigError
from webdata.domain.extras import extra
from webdata.domain.items import as_json
from webdata.domain.records import Record
from webdata.faces.administration.api_client import ApiError
from webdata.resources import CellType, Resource, cells

GROUP_ROWS = 10_000
GROUP_BYTES = 16 * 1024 * 1024
"""Of the lines of a group of rows in Parquet, whichever comes first: so much is in memory."""
SHEET_ROWS = 1_048_576
"""The rows of a sheet that spreadsheets can read."""
LARGEST_EXACT = 2**53
"""A number beyond it has digits that spreadsheets do not keep."""
TOO_LONG = -2
"""What XlsxWriter returns for a text that it has cut."""


class TableFile(Protocol):
    """A file of a table that is being written."""

    def add(self, row: Sequence[Any], size: int) -> None:
        """Add the values of a row, which are of the types of the columns; `size` is that of its line."""
        ...

    def close(self) -> None:
        """Write the end."""
        ...


class ParquetFile:
    """Parquet, in which each column has its type."""

    def __init__(self, path: Path, columns: Mapping[str, CellType], folder: Path) -> None:
        self._arrow = _library("parquet")
        arrow = self._arrow
        types = {"integer": arrow.int64(), "number": arrow.float64(), "boolean": arrow.bool_()}
        self._schema = arrow.schema([(name, types.get(kind, arrow.string())) for name, kind in columns.items()])
        self._writer = _library("parquet", ".parquet").ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Sequence[Any]] = []
        self._bytes = 0

    def add(self, row: Sequence[Any], size: int) -> None:
        self._rows.append(row)
        self._bytes += size
        if len(self._rows) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        if self._rows:
            columns = zip(self._schema, zip(*self._rows, strict=True), strict=True)
            arrays = [self._arrow.array(values, field.type) for field, values in columns]
            self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
            self._rows, self._bytes = [], 0


class XlsxFile:
    """A workbook, in which every text is a text, also one that a spreadsheet would calculate."""

    def __init__(self, path: Path, columns: Mapping[str, CellType], folder: Path) -> None:
        options = {"constant_memory": True, "tmpdir": str(folder)}
        self._book = _library("xlsx").Workbook(str(path), options)
        self._book.use_zip64()
        self._head = list(columns)
        self._sheets = 0
        self._cut = 0
        """Texts that had no room in their cells."""
        self._begin_sheet()

    def add(self, row: Sequence[Any], size: int) -> None:
        if self._next == SHEET_ROWS:
            self._begin_sheet()
        self._write(row)

    def close(self) -> None:
        self._book.close()
        if self._cut:
            click.echo(f"{self._cut} texts were cut to the 32,767 characters of a cell", err=True)

    def _begin_sheet(self) -> None:
        self._sheets += 1
        self._sheet = self._book.add_worksheet("results" if self._sheets == 1 else f"results {self._sheets}")
        self._sheet.freeze_panes(1, 0)
        self._next = 0
        self._write(self._head)

    def _write(self, row: Sequence[Any]) -> None:
        for column, value in enumerate(row):
            if isinstance(value, bool):
                self._sheet.write_boolean(self._next, column, value)
            elif isinstance(value, int | float) and abs(value) <= LARGEST_EXACT:
                self._sheet.write_number(self._next, column, value)
            elif value is not None:
                self._cut += self._sheet.write_string(self._next, column, str(value)) == TOO_LONG
        self._next += 1


Make = Callable[[Path, Mapping[str, CellType], Path], TableFile]
TABLE_FILES: dict[str, Make] = {"parquet": ParquetFile, "xlsx": XlsxFile}
"""The formats, which are also the names of the extras that they need."""
LIBRARIES = {"parquet": "pyarrow", "xlsx": "xlsxwriter"}


def _library(form: str, module: str = "") -> Any:
    """The library of a format, or a module of it; raises MissingExtraError where it is not installed."""
    with extra(form):
        return import_module(LIBRARIES[form] + module)


class RowLines:
    """Takes the lines of results in the format `rows`, in pieces of any size, for a file of a table."""

    def __init__(self, table: TableFile, columns: Mapping[str, CellType]) -> None:
        self._table = table
        self._columns = columns
        self._begun: list[bytes] = []
        """The pieces of a line that is not whole yet."""

    def write(self, piece: bytes) -> None:
        """Add the rows that are whole now."""
        before, newline, rest = piece.rpartition(b"\n")
        if not newline:
            self._begun.append(piece)
            return
        lines = b"".join([*self._begun, before]).split(b"\n")
        self._begun = [rest]
        for line in lines:
            self._table.add(list(_values(orjson.loads(line), self._columns)), len(line))

    def flush(self) -> None:
        """Nothing: a file of a table is whole at its end."""


def _values(row: Record, columns: Mapping[str, CellType]) -> Iterator[Any]:
    for (name, kind), value in zip(columns.items(), cells(row, tuple(columns)), strict=True):
        if value is not None and kind in KINDS and not _is_of(kind, value):
            raise ApiError(f"{name} of row {row['row']} is no {kind}: fetch the results with --format records")
        yield _cell(kind, value)


KINDS: dict[CellType, type | tuple[type, ...]] = {"integer": int, "number": (int, float), "boolean": bool}


def _is_of(kind: CellType, value: Any) -> bool:
    return isinstance(value, KINDS[kind]) and isinstance(value, bool) == (kind == "boolean")


def _cell(kind: CellType, value: Any) -> Any:
    """A value of a column's type: what has parts is JSON."""
    if kind == "number" and value is not None:
        return float(value)
    is_plain = value is None or kind in KINDS or (kind == "string" and isinstance(value, str))
    return value if is_plain else as_json(value).decode()


@contextmanager
def table_file(path: Path, form: str, resource: Resource) -> Iterator[RowLines]:
    """A file of a table, which takes the place of another one when it is whole; raises ConfigError.

    Its parts are in a folder beside it, which is gone in any case.
    """
    columns: dict[str, CellType] = {"row": "integer", **resource.cell_types}
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path} cannot be written: there is no folder {path.parent} that can be written to")
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        part = Path(folder, path.name)
        table = TABLE_FILES[form](part, columns, Path(folder))
        try:
            yield RowLines(table, columns)
        finally:
            table.close()  # also where it is not whole: else the libraries' own files stay open
        part.replace(path)


def form_of(path: Path | None, form: str | None) -> str:
    """The format of results: that which is named, else that of the file's name; raises ConfigError."""
    named = path.suffix.removeprefix(".").lower() if path else ""
    of_file = named if named in (*TABLE_FILES, "csv") else "records"
    if named in TABLE_FILES and form not in (None, named):
        raise ConfigError(f"{path} is a file of the format {named}, and --format is {form}: give one of them")
    if form in TABLE_FILES and path is None:
        raise ConfigError(f"the format {form} is a file's: name it by -o, such as -o results.{form}")
    if (chosen := form or of_file) in TABLE_FILES:
        _library(chosen)
    return chosen
