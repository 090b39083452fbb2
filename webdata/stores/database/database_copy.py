"""A copy of a whole database into an empty one, such as from SQLite to PostgreSQL.

It is one transaction of the target: a copy that fails or is killed leaves nothing, and can be tried again. Rows are
streamed, so that the memory that it takes does not depend on their number.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, func, insert, inspect, select, text
from sqlalchemy.exc import DataError, IntegrityError

from webdata.domain.errors import ConfigError
from webdata.runtime.process.names import others_with
from webdata.stores.accounts.tables import METADATA
from webdata.stores.database import migrations
from webdata.stores.database.database import Database, errors_as_unavailable, make_private, open_unlimited
from webdata.stores.ledger.ledger_audit import Audit, audit

ROWS = 200
"""Rows that are read and written at a time; a row may be as long as a page."""
DIGEST_BYTES = 16

OTHER_CONNECTIONS = text(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
    "AND backend_type = 'client backend'"
)


@dataclass(frozen=True)
class Content:
    """The rows of a table, as their number and a digest that does not depend on their order."""

    table: str
    rows: int = 0
    digest: str = "0" * 2 * DIGEST_BYTES

    def with_rows(self, rows: Sequence[Row[Any]]) -> "Content":
        """The content with further rows."""
        total = int(self.digest, 16) + sum(map(_digest, rows))
        return Content(self.table, self.rows + len(rows), f"{total % (1 << 8 * DIGEST_BYTES):0{2 * DIGEST_BYTES}x}")


def open_source(url: str) -> Database:
    """The database to copy; raises ConfigError for one that is not there or has the schema of another release."""
    return open_unlimited(url, _check_source)


def open_target(url: str) -> Database:
    """The database to copy into; raises ConfigError for one that has tables. A missing file of SQLite is made."""
    return open_unlimited(url, _check_target)


def other_users(source: Database) -> list[int]:
    """The ids of the processes or connections that use a database beside this one, as far as they can be seen."""
    if source.file:
        return others_with(source.file.path)
    with source.reads.connect() as connection:
        return list(connection.execute(OTHER_CONNECTIONS).scalars())


def copy(source: Database, target: Database, copied: Callable[[Content], None]) -> Audit:
    """Copy every row, and return what both ledgers say; `copied` is called for each table.

    The copy is the source as it was when the copy began. Raises ValueError, and copies nothing, where a ledger is
    wrong, a row does not suit the target, or what was written is read differently; DatabaseUnavailableError
    where one of the databases does not answer.
    """
    with errors_as_unavailable(), _snapshot(source) as read, target.writes.begin() as write:
        before = _correct(audit(read), "source")
        migrations.migrate(write, first_rows=False)
        for table in METADATA.sorted_tables:
            content = _copy_table(read, write, table)
            if _content(write, table) != content:
                raise ValueError(f"the rows of {table} are read from the target differently than they were written")
            _set_sequence(write, table)
            copied(content)
        if _correct(audit(write), "target") != before:
            raise ValueError("the sums of the target's ledger differ from those of the source")
    return before


def _check_source(engine: Engine) -> None:
    revision = migrations.revision(engine)
    if revision is None:
        raise ConfigError("the database to copy has no tables of webdata: give the one that the service uses")
    if revision != migrations.HEAD:
        hint = "run `webdata accounts list` of this release on it, which migrates it"
        raise ConfigError(f"the database to copy has the schema {revision}, this release {migrations.HEAD}: {hint}")


def _check_target(engine: Engine) -> None:
    make_private(engine)
    tables = inspect(engine).get_table_names()
    if tables:
        names = f"{', '.join(sorted(tables)[:3])}{', …' if len(tables) > 3 else ''}"
        raise ConfigError(f"the database to copy into is not empty: it has tables ({names}); give a new one")


@contextmanager
def _snapshot(database: Database) -> Iterator[Connection]:
    """A connection on which every statement sees the same moment."""
    if database.embedded:
        with database.reads.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection
        return
    with database.writes.connect() as connection:
        yield connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _copy_table(read: Connection, write: Connection, table: Table) -> Content:
    content = Content(table.name)
    for rows in _steps(read, table):
        try:
            write.execute(insert(table), [row._asdict() for row in rows])
        except (DataError, IntegrityError) as error:
            reason = str(error.orig).partition("\n")[0]
            raise ValueError(f"a row of {table} does not suit the target: {reason}") from error
        content = content.with_rows(rows)
    return content


def _content(connection: Connection, table: Table) -> Content:
    content = Content(table.name)
    for rows in _steps(connection, table):
        content = content.with_rows(rows)
    return content


def _steps(connection: Connection, table: Table) -> Iterator[Sequence[Row[Any]]]:
    return connection.execute(select(table), execution_options={"yield_per": ROWS}).partitions()


def _digest(row: Row[Any]) -> int:
    return int.from_bytes(blake2b(repr(tuple(row)).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest())


def _set_sequence(write: Connection, table: Table) -> None:
    """Let PostgreSQL continue after the numbers that were written; SQLite does by itself."""
    column = table.autoincrement_column
    if column is not None and write.dialect.name == "postgresql":
        sequence = func.pg_get_serial_sequence(table.name, column.name)
        largest = func.max(column)
        write.execute(select(func.setval(sequence, func.coalesce(largest, 1), largest.is_not(None))))


def _correct(found: Audit, side: str) -> Audit:
    if found.faults:
        raise ValueError(f"the ledger of the {side} is wrong, so nothing was copied: {found.faults[0]}")
    return found
