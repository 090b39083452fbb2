"""SQL databases: SQLite by default, PostgreSQL by its URL; migrated to the newest schema when they are opened."""

import asyncio
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, OperationalError
from sqlite3 import Connection as SqliteConnection
from sqlite3 import Error as SqliteError
from time import monotonic, sleep
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import InterfaceError, InternalError, SQLAlchemyError
from sqlalchemy.exc import OperationalError as SqlOperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.schema import CreateTable

from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.stores import migrations
from webdata.stores.prepared import cursor
from webdata.stores.tables import LINKS

logger = logging.getLogger(__name__)
T = TypeVar("T")

EXAMPLE_URL = "sqlite:///.webdata/webdata.sqlite3"
URL_HINT = f"give a URL like {EXAMPLE_URL} or postgresql://user:password@host/name"
LOCK_SECONDS = 30
"""How long a writer waits for another process's transaction in SQLite to end."""
LOCK_POLL_SECONDS = 0.001
"""The interval at which it checks whether it has."""
PRIMARY_CODE = 0xFF
"""The mask of an extended result code that leaves the primary one (https://www.sqlite.org/rescode.html)."""
ANSWER_SECONDS = 5
"""How long PostgreSQL may take to answer, and to connect where its URL has no `connect_timeout`."""


@dataclass(frozen=True)
class Database:
    """Engines for reads and for writes, over one pool of connections."""

    reads: Engine
    """Each statement sees what is committed when it begins."""
    writes: Engine
    """Transactions; SQLite runs one at a time, over all processes."""
    unsynced_writes: Engine
    """Transactions that a crash of the machine, but not of the process, may undo: half the time of a durable one."""

    @property
    def embedded(self) -> bool:
        """Whether it runs in this process, so that a read takes microseconds and needs no thread."""
        return self.reads.dialect.name == "sqlite"

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query and return its result."""
        if self.embedded:
            return self._run(self.reads.connect, query)
        return await self._run_in_thread(self.reads.connect, query)

    async def look_up(self, query: Callable[[Any], T]) -> T:
        """Run a query on a cursor of the driver and return its result: faster, for the queries of every call.

        The cursor of an embedded database stays open, so the query must fetch all rows.
        """
        if not self.embedded:
            return await self.read(partial(_with_cursor, query))
        try:
            return query(self._cursor)
        except OperationalError as error:
            raise DatabaseAwayError(str(error)) from error

    async def write(self, change: Callable[[Connection], T]) -> T:
        """Run a change in one durable transaction and return its result."""
        if self.embedded:
            return await asyncio.to_thread(self._run, self.writes.begin, change)
        return await self._run_in_thread(self.writes.begin, change)

    async def _run_in_thread(
        self, connect: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]
    ) -> T:
        """Run work on a server. The timeout includes the wait for a free thread."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(self._run, connect, work), ANSWER_SECONDS)
        except TimeoutError as error:
            raise DatabaseAwayError(f"no answer within {ANSWER_SECONDS} seconds") from error

    def _run(self, connect: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]) -> T:
        with errors_as_away(), connect() as connection:
            return work(connection)

    @cached_property
    def _cursor(self) -> Any:
        return self._cursor_connection.connection.cursor()

    @cached_property
    def _cursor_connection(self) -> Connection:
        return self.reads.connect()

    def close(self) -> None:
        """Close every connection."""
        if "_cursor_connection" in vars(self):
            self._cursor_connection.close()
        self.reads.dispose()


def _with_cursor(query: Callable[[Any], T], connection: Connection) -> T:
    with cursor(connection) as on:
        return query(on)


@contextmanager
def errors_as_away() -> Iterator[None]:
    """Raise DatabaseAwayError instead of the errors of a database that does not answer."""
    try:
        yield
    except (SqlOperationalError, InterfaceError, InternalError, PoolTimeoutError, OperationalError) as error:
        raise DatabaseAwayError(str(error).partition("\n")[0]) from error


def open_database(url: str) -> Database:
    """The database of accounts, keys and credits at an SQLAlchemy URL.

    `sqlite:////var/lib/webdata/webdata.sqlite3`: missing parent folders of the file are created; they
    and the file are their owner's alone.
    `postgresql://user:password@host/name`: needs `pip install webdata[postgresql]`.

    An older schema is migrated, by one process at a time. Raises ConfigError for a database that cannot be used.
    """
    return _open(url, "FULL", migrations.run)


def attach_database(url: str) -> Database:
    """The database at a URL that another process has opened before, without a migration or a connection yet."""
    return _open(url, "FULL", lambda _: None)


def open_links(url: str) -> Database:
    """The database of links at an SQLAlchemy URL, with its table; see `open_database` for the URLs and errors."""
    return _open(url, "NORMAL", _create_links)


def _create_links(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(CreateTable(LINKS, if_not_exists=True))


def _open(url: str, synchronous: str, prepare: Callable[[Engine], None]) -> Database:
    with _errors_as_config_error():
        database = _database(url, synchronous)
        try:
            prepare(database.writes)
            if not database.embedded:
                # Imported here because psycopg is installed only where PostgreSQL is used.
                from webdata.stores.postgresql import limit_waits  # noqa: PLC0415

                limit_waits(database.writes, ANSWER_SECONDS)  # after the migration, which may take longer
        except Exception:
            database.close()
            raise
    return database


@contextmanager
def _errors_as_config_error() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, SqliteError, ImportError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise ConfigError(f"the database cannot be used ({reason}): {URL_HINT}") from error


def _database(url: str, synchronous: str) -> Database:
    address = make_url(url)
    if address.drivername in ("postgres", "postgresql"):
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "sqlite":
        return _sqlite(create_engine(address, connect_args={"timeout": LOCK_SECONDS}), synchronous)
    address = address.set(query={"connect_timeout": str(ANSWER_SECONDS), **address.query})
    engine = create_engine(address, pool_pre_ping=True, pool_timeout=ANSWER_SECONDS)
    unsynced = engine.execution_options()
    event.listen(unsynced, "begin", lambda connection: connection.exec_driver_sql("SET LOCAL synchronous_commit = off"))
    return Database(engine.execution_options(isolation_level="AUTOCOMMIT"), engine, unsynced)


def _sqlite(engine: Engine, synchronous: str) -> Database:
    file = engine.url.database
    if not file or file == ":memory:":
        raise ConfigError(f"the database cannot be in memory, where threads do not share it: give {EXAMPLE_URL}")
    _make_private(Path(file))
    event.listen(engine, "connect", _set_pragmas)
    writes, unsynced = engine.execution_options(), engine.execution_options()
    event.listen(writes, "begin", partial(_begin_immediate, synchronous))
    event.listen(unsynced, "begin", partial(_begin_immediate, "NORMAL"))
    return Database(engine, writes, unsynced)


def _make_private(file: Path) -> None:
    """Make a missing file, which only its owner may read; SQLite gives its mode to the files beside it, -wal and -shm.

    One that is there stays as it is: its mode is the operator's.
    """
    for folder in reversed(file.parents):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if file.stat().st_mode & stat.S_IROTH and file.absolute().parent.stat().st_mode & stat.S_IXOTH:
        logger.warning("every user of this machine can read the database %s: have it read by its owner only", file)


def _set_pragmas(connection: SqliteConnection, _record: Any) -> None:
    _execute_alone(connection, "PRAGMA journal_mode=WAL")  # readers do not wait for the writer
    connection.execute("PRAGMA foreign_keys=ON")


def _begin_immediate(synchronous: str, connection: Connection) -> None:
    """Begin a transaction with the write lock: one that reads first cannot write after another one has written.

    With `synchronous` FULL it survives a crash of the machine (https://www.sqlite.org/pragma.html#pragma_synchronous).
    SQLite polls a lock at intervals that grow to 100 ms. With 1 ms, the slowest commits of two processes that write all
    the time took a third as long.
    """
    database = cast("SqliteConnection", connection.connection.dbapi_connection)
    database.execute(f"PRAGMA synchronous={synchronous}")
    database.execute("PRAGMA busy_timeout=0")
    try:
        _execute_alone(database, "BEGIN IMMEDIATE")
    finally:
        database.execute(f"PRAGMA busy_timeout={LOCK_SECONDS * 1000}")


def _execute_alone(database: SqliteConnection, statement: str) -> None:
    """Execute a statement that needs a lock; SQLite does not wait itself during recovery or the change to WAL."""
    end = monotonic() + LOCK_SECONDS
    while not _try_execute(database, statement, last=monotonic() > end):
        sleep(LOCK_POLL_SECONDS)


def _try_execute(database: SqliteConnection, statement: str, last: bool) -> bool:
    try:
        database.execute(statement)
    except OperationalError as error:
        if last or error.sqlite_errorcode & PRIMARY_CODE != SQLITE_BUSY:
            raise
        return False
    return True
