"""Statements that SQLAlchemy writes once and the database's own driver runs: those that every call needs.

Measured in the service, with SQLite: to look a key up took 60 us by SQLAlchemy and takes 10 so; a group of 16 movements
took 950 us and takes 620, of which the disk takes half.
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
"""A row as the driver gives it."""
Process = Callable[[Any], Any] | None


class Prepared:
    """A statement in the words of one kind of database.

    `parameters` are their names, in the order in which their values are given; those of an INSERT are its columns.
    """

    def __init__(self, statement: Select[Any] | UpdateBase, dialect: Dialect, *parameters: str) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=parameters if isinstance(statement, Insert) else None)
        self._text = str(compiled)
        self._names = None if compiled.positional else parameters
        order = [parameters.index(name) for name in getattr(compiled, "positiontup", None) or ()]
        self._order = order if order != sorted(order) else None
        binds = [_in(dialect, compiled.binds[name].type) for name in parameters]
        self._processes = [(place, process) for place, process in enumerate(binds) if process]
        found: Mapping[str, Any] = dict(statement.selected_columns) if isinstance(statement, Select) else {}
        self._results = [_out(dialect, one.type) for one in found.values()]
        self._row = namedtuple("Row", found.keys())  # type: ignore[misc]  # the names are those of the statement

    def run(self, on: Any, *values: Any) -> None:
        """Run it on a cursor of the driver's."""
        on.execute(self._text, self._parameters(values))

    def run_all(self, on: Any, rows: Iterable[Sequence[Any]]) -> None:
        """Run it for each of the rows."""
        on.executemany(self._text, [self._parameters(values) for values in rows])

    def one(self, on: Any, *values: Any) -> Raw | None:
        """The only row, as the driver gives it, if there is one."""
        self.run(on, *values)
        found: list[Raw] = on.fetchall()
        return found[0] if found else None

    def all(self, on: Any, *values: Any) -> list[Any]:
        """All rows, as `read` gives them."""
        self.run(on, *values)
        return [self.read(raw) for raw in on.fetchall()]

    def read(self, raw: Raw) -> Any:
        """A row in Python's types, a tuple whose places have the names of the columns."""
        return self._row(
            *(process(value) if process else value for process, value in zip(self._results, raw, strict=True))
        )

    def _parameters(self, values: Sequence[Any]) -> Sequence[Any] | Mapping[str, Any]:
        if self._processes:
            values = list(values)
            for place, process in self._processes:
                values[place] = process(values[place])
        if self._names:
            return dict(zip(self._names, values, strict=True))
        return [values[place] for place in self._order] if self._order else values


class Texts(TypeDecorator[Sequence[str]]):
    """Several texts as one value: an array, or JSON where the database has none."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(Text) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return list(value) if dialect.name == "postgresql" else orjson.dumps(list(value)).decode()


def among(sought: ColumnElement[str], name: str, dialect: Dialect) -> ColumnElement[bool]:
    """Whether a column is one of the texts of a parameter, however many they are."""
    texts = bindparam(name, type_=Texts())
    if dialect.name == "postgresql":
        return sought == func.any(texts)
    return sought.in_(select(column("value")).select_from(func.json_each(texts)))


@contextmanager
def cursor(connection: Connection) -> Iterator[Any]:
    """A cursor of the driver's on a connection; raises DatabaseAwayError where the database does not answer."""
    driver = connection.dialect.loaded_dbapi
    opened = connection.connection.cursor()
    try:
        yield opened
    except (driver.OperationalError, driver.InterfaceError, driver.InternalError) as error:
        raise DatabaseAwayError(str(error).partition("\n")[0]) from error
    finally:
        opened.close()


def _in(dialect: Dialect, kind: Any) -> Process:
    process: Process = kind.dialect_impl(dialect).bind_processor(dialect)
    return process


def _out(dialect: Dialect, kind: Any) -> Process:
    process: Process = kind.dialect_impl(dialect).result_processor(dialect, None)
    return process
