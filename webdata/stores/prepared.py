"""Statements that SQLAlchemy compiles once and the database driver executes, for the queries of every call.

Measured in the service, with SQLite: the look-up of a key takes 10 us, by SQLAlchemy 60; a group of 16 movements takes
620 us, by SQLAlchemy 950, and half of the 620 is the disk.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from sqlalchemy import ARRAY, ColumnElement, Connection, Select, Text, bindparam, column, func, select
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.dml import Insert, UpdateBase
from sqlalchemy.types import TypeDecorator

from webdata.domain.errors import DatabaseAwayError

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
        binds = [_bind_processor(dialect, compiled.binds[name].type) for name in parameters]
        self._processes = [(index, process) for index, process in enumerate(binds) if process]
        columns: Mapping[str, Any] = dict(statement.selected_columns) if isinstance(statement, Select) else {}
        self._results = [_result_processor(dialect, one.type) for one in columns.values()]
        self._row = namedtuple("Row", columns.keys())  # type: ignore[misc]  # the names are those of the statement

    def run(self, on: Any, *values: Any) -> None:
        """Execute it on a cursor of the driver."""
        on.execute(self._text, self._parameters(values))

    def run_all(self, on: Any, rows: Iterable[Sequence[Any]]) -> None:
        """Execute it for each row of values."""
        on.executemany(self._text, [self._parameters(values) for values in rows])

    def one(self, on: Any, *values: Any) -> Raw | None:
        """The first row as the driver returns it, or None."""
        self.run(on, *values)
        rows: list[Raw] = on.fetchall()
        return rows[0] if rows else None

    def all(self, on: Any, *values: Any) -> list[Any]:
        """All rows, as `read` returns them."""
        self.run(on, *values)
        return [self.read(raw) for raw in on.fetchall()]

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


def among(sought: ColumnElement[str], name: str, dialect: Dialect) -> ColumnElement[bool]:
    """Whether a column equals one of the texts in a parameter of type Texts."""
    texts = bindparam(name, type_=Texts())
    if dialect.name == "postgresql":
        return sought == func.any(texts)
    return sought.in_(select(column("value")).select_from(func.json_each(texts)))


@contextmanager
def cursor(connection: Connection) -> Iterator[Any]:
    """A cursor of the driver; raises DatabaseAwayError where the database does not answer."""
    driver = connection.dialect.loaded_dbapi
    opened = connection.connection.cursor()
    try:
        yield opened
    except (driver.OperationalError, driver.InterfaceError, driver.InternalError) as error:
        raise DatabaseAwayError(str(error).partition("\n")[0]) from error
    finally:
        opened.close()


def _bind_processor(dialect: Dialect, kind: Any) -> Process:
    process: Process = kind.dialect_impl(dialect).bind_processor(dialect)
    return process


def _result_processor(dialect: Dialect, kind: Any) -> Process:
    process: Process = kind.dialect_impl(dialect).result_processor(dialect, None)
    return process
