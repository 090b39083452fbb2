"""Statements that SQLAlchemy compiles once and the database driver executes, for the queries of every call.

Measured in the service, with SQLite: the look-up of a key takes 10 us, by SQLAlchemy 60; a group of 16 movements takes
620 us, by SQLAlchemy 950, and half of the 620 is the disk.
"""

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    JSON,
    ColumnElement,
    Connection,
    Select,
    String,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.dml import Insert, UpdateBase
from sqlalchemy.types import TypeDecorator

from webdata.domain.errors import DatabaseUnavailableError

Raw = tuple[Any, ...]
"""A row as the driver returns it."""
Process = Callable[[Any], Any] | None


class Prepared:
    """A statement in one dialect of SQL.

    `parameters` are the names of its parameters, in the order of the values of each run; for an INSERT its columns.
    """

    def __init__(self, statement: Select[Any] | UpdateBase, dialect: Dialect, *parameters: str) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=parameters if isinstance(statement, Insert) else None)
        self._text = str(compiled)
        self._names = None if compiled.positional else parameters
        order = [parameters.index(name) for name in getattr(compiled, "positiontup", None) or ()]
        self._order = order if order != sorted(order) else None
        binds = [bind_processor(dialect, compiled.binds[name].type) for name in parameters]
        self._processes = [(index, process) for index, process in enumerate(binds) if process]
        columns: Mapping[str, Any] = dict(statement.selected_columns) if isinstance(statement, Select) else {}
        self._results = [_result_processor(dialect, one.type) for one in columns.values()]
        self._row = namedtuple("Row", columns.keys())  # type: ignore[misc]  # the names are those of the statement

    def run(self, driver_cursor: Any, *values: Any) -> None:
        """Execute it on a cursor of the driver."""
        driver_cursor.execute(self._text, self._parameters(values))

    def one(self, driver_cursor: Any, *values: Any) -> Raw | None:
        """The first row as the driver returns it, or None."""
        self.run(driver_cursor, *values)
        rows: list[Raw] = driver_cursor.fetchall()
        return rows[0] if rows else None

    def all(self, driver_cursor: Any, *values: Any) -> list[Any]:
        """All rows, as `read` returns them."""
        self.run(driver_cursor, *values)
        return [self.read(raw) for raw in driver_cursor.fetchall()]

    def read(self, raw: Raw) -> Any:
        """A row in Python's types: a named tuple with the names of the columns."""
        return self._row(
            *(process(value) if process else value for process, value in zip(self._results, raw, strict=True))
        )

    def _parameters(self, values: Sequence[Any]) -> Sequence[Any] | Mapping[str, Any]:
        if self._processes:
            values = list(values)
            for index, process in self._processes:
                values[index] = process(values[index])
        if self._names:
            return dict(zip(self._names, values, strict=True))
        return [values[index] for index in self._order] if self._order else values


class Texts(TypeDecorator[Sequence[str]]):
    """Several texts as one value: an array, or JSON in a database without arrays."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(Text) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return list(value) if dialect.name == "postgresql" else orjson.dumps(list(value)).decode()


class Rows(TypeDecorator[Sequence[Sequence[Any]]]):
    """Rows of values for the columns of a table, as JSON: one parameter for any number of rows.

    Who has many rows may give their JSON itself, with values as the database has them.
    """

    impl = Text
    cache_ok = True

    def __init__(self, columns: Sequence[ColumnElement[Any]], dialect: Dialect) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self._processes = [bind_processor(dialect, one.type) for one in columns]

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        if isinstance(value, str):  # JSON already
            return value
        rows = [
            [process(item) if process else item for process, item in zip(self._processes, row, strict=True)]
            for row in value
        ]
        return orjson.dumps(rows).decode()


def each(columns: Sequence[ColumnElement[Any]], dialect: Dialect) -> list[ColumnElement[Any]]:
    """The values of these columns in each row of the parameter `rows`, of type Rows, to select from."""
    rows = bindparam("rows", type_=Rows(columns, dialect))
    if dialect.name == "postgresql":
        row: ColumnElement[Any] = func.json_array_elements(cast(rows, JSON)).column_valued("row")
        texts = [row.op("->>")(literal_column(str(index))) for index, _ in enumerate(columns)]
        return [
            text if isinstance(one.type, String) else cast(text, one.type)
            for text, one in zip(texts, columns, strict=True)
        ]
    row = func.json_each(rows).table_valued("value").c.value
    return [func.json_extract(row, literal_column(f"'$[{index}]'")) for index, _ in enumerate(columns)]


def among(sought: ColumnElement[str], dialect: Dialect) -> ColumnElement[bool]:
    """Whether a column equals one of the texts in the parameter `ids`, of type Texts."""
    texts = bindparam("ids", type_=Texts())
    if dialect.name == "postgresql":
        return sought == func.any(texts)
    return sought.in_(select(column("value")).select_from(func.json_each(texts)))


@contextmanager
def cursor(connection: Connection) -> Iterator[Any]:
    """A cursor of the driver; raises DatabaseUnavailableError where the database does not answer."""
    driver = connection.dialect.loaded_dbapi
    opened = connection.connection.cursor()
    try:
        yield opened
    except (driver.OperationalError, driver.InterfaceError, driver.InternalError) as error:
        hide_values(error)
        raise DatabaseUnavailableError(str(error)) from error
    except driver.Error as error:
        hide_values(error)
        raise
    finally:
        opened.close()


def hide_values(error: BaseException) -> None:
    """Leave the first line of a driver's error; PostgreSQL's others, such as DETAIL, repeat values of rows."""
    error.args = (str(error).partition("\n")[0],)


def bind_processor(dialect: Dialect, kind: Any) -> Process:
    """What makes a value of this type one for the database's driver; None where nothing has to be done."""
    process: Process = kind.dialect_impl(dialect).bind_processor(dialect)
    return process


def _result_processor(dialect: Dialect, kind: Any) -> Process:
    process: Process = kind.dialect_impl(dialect).result_processor(dialect, None)
    return process
