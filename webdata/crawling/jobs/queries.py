"""The queries of one batch: a single one, or a file of them."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webdata.crawling.jobs import files
from webdata.crawling.jobs.files import Row
from webdata.crawling.jobs.journal import Journal, Lines
from webdata.domain.errors import ConfigError, QueryError
from webdata.domain.failures import Failure
from webdata.domain.items import as_record
from webdata.domain.query import ARCHIVE, Query
from webdata.resources import Resource

logger = logging.getLogger(__name__)

FILE = "queries"
"""The argument that names a file of queries."""


class RunQueries:
    """The queries of one run, and the number of them that have ended.

    The arguments are the fields of the resource's query. With the argument `queries=FILE` they are defaults for
    every row of the file, overridden by the row's values; `-` as FILE is standard input, one query a line.
    Raises ConfigError or QueryError, which say what would be right.
    """

    def __init__(self, resource: Resource, arguments: Mapping[str, str]):
        self.resource = resource
        self.defaults = {name: value for name, value in arguments.items() if name != FILE}
        self.path: Path | None = None
        self.digest: str | None = None
        self.total = 1
        self.done = Lines()
        """The rows that an earlier run of the same job has finished."""
        self.ended: Counter[str] = Counter()
        """The number of queries by outcome, those of earlier runs included."""
        self._ignored: set[str] = set()
        unknown = [name for name in self.defaults if name not in self.arguments]
        if unknown:
            raise ConfigError(f"{unknown[0]} is no argument here: the arguments are {', '.join(self.arguments)}")
        resource.query.refuse_in_batches(self.defaults)
        if FILE in arguments:
            self._set_file(arguments[FILE])
        else:
            self._check_single()

    @property
    def arguments(self) -> list[str]:
        """The names of all arguments."""
        return [FILE, *self._fields]

    @property
    def _fields(self) -> list[str]:
        """Those of a query, without that of a service."""
        return [name for name in self.resource.query.fields() if name != ARCHIVE]

    @property
    def required(self) -> list[str]:
        """The fields that every query needs; a line of plain text is the first of them."""
        return [name for name, field in self.resource.query.model_fields.items() if field.is_required()]

    def rows(self) -> Iterator[Row]:
        """The rows to run, without those that are done."""
        rows = files.rows(self.path, self.required[0]) if self.path else iter([Row(1, {})])
        return (row for row in rows if row.line not in self.done)

    def query(self, row: Row) -> Query:
        """The validated query of a row; raises QueryError that names the line."""
        if row.problem:
            raise _wrong_line(row, row.problem)
        known = frozenset(self._fields)
        if ignored := row.values.keys() - known - self._ignored:
            self._ignored |= ignored
            logger.warning("Ignored, since they are no fields of a query: %s", ", ".join(sorted(ignored)))
        try:
            given = {name: value for name, value in self.given(row).items() if name in known}
            self.resource.query.refuse_in_batches(given)
            return self.resource.query.check(given)
        except QueryError as error:
            raise _wrong_line(row, str(error)) from None

    def given(self, row: Row) -> dict[str, Any]:
        """The fields of a row and the defaults that it does not override, not validated."""
        return {**self.defaults, **row.values}

    def outcome(self, item: Any) -> str:
        """The outcome of the query that an item, a record or a failure, ended."""
        return item.outcome if isinstance(item, Failure) else self.resource.outcome(as_record(item)).value

    def resume(self, journal: Journal) -> None:
        """Skip the queries that have ended in earlier runs of the job, and count them."""
        self.done, self.ended = journal.done, Counter(journal.ended)

    def _check_single(self) -> None:
        if not self.defaults.keys() & set(self.required):
            name = self.required[0]
            raise ConfigError(f"no query was given: give -a {name}=… for one, or -a {FILE}=FILE for many")
        self.resource.query.check(self.defaults)

    def _check_defaults(self) -> None:
        try:
            self.resource.query.check(self.defaults)
        except QueryError as error:
            wrong = [problem for problem in error.problems if problem["type"] != "missing"]  # the rows have those
            if wrong:
                raise QueryError(wrong) from None

    def _set_file(self, name: str) -> None:
        alone = self.required[0]
        if alone in self.defaults:
            raise ConfigError(f"{alone} and {FILE} are both given: give {alone} for one query, or {FILE} for many")
        self._check_defaults()
        try:
            self.path = files.standard_input() if name == "-" else Path(name)
            self.digest = files.digest(self.path)
            self._check_columns(self.path)
            self.total = sum(1 for _ in self.rows())
        except OSError as error:
            raise ConfigError(f"{FILE}={name} cannot be read: {error.strerror}") from error

    def _check_columns(self, path: Path) -> None:
        columns = files.columns(path)
        if columns is None:
            return
        missing = [name for name in self.required if name not in columns and name not in self.defaults]
        if missing:
            raise ConfigError(
                f"{path} has no column {missing[0]}: its first line names {', '.join(columns) or 'nothing'}; "
                f"it must name the columns, with commas between: {', '.join(self._fields)}"
            )


def _wrong_line(row: Row, problem: str) -> QueryError:
    return QueryError([{"loc": ["line", row.line], "msg": f"line {row.line}: {problem}", "type": "row"}])
