"""An SQL database, opened: SQLite by default, PostgreSQL by its URL; brought to its newest shape at the start."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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

T = TypeVar("T")

EXAMPLE_URL = "sqlite:///.webdata/webdata.sqlite3"
RIGHT = f"give a URL like {EXAMPLE_URL} or postgresql://user:password@host/name"
PATIENCE = 30
"""Seconds that a writer waits for another process's transaction to end."""
NAP = 0.001
"""Seconds between two looks whether it has."""
PRIMARY_CODE = 0xFF
"""The part of an error's code that all kinds of it have in common (https://www.sqlite.org/rescode.html)."""
ANSWER_SECONDS = 5
"""How long PostgreSQL may take to answer; to connect, where its URL has no `connect_timeout` of its own."""


@dataclass(frozen=True)
class Database:
    """A database in two ways, over one pool of connections."""

    reads: Engine
    """Each statement sees what is committed when it begins."""
    writes: Engine
    """Transactions; in SQLite each is the only one from its beginning, over all processes."""

    @property
    def embedded(self) -> bool:
        """Whether it is in this process, so that a read takes microseconds and need not wait in a thread."""
        return self.reads.dialect.name == "sqlite"

    async def read(self, query: Callable[[Connection], T]) -> T:
        """What a query finds now."""
        if self.embedded:
            return self._run(self.reads.connect, query)
        return await self._answered(self.reads.connect, query)

    async def look_up(self, query: Callable[[Any], T]) -> T:
        """What a query finds now by a cursor of the driver's, for what every call asks.

        The cursor stays open where the database is in this process, so all that is found is to be fetched.
        """
        if not self.embedded:
            return await self.read(partial(_by_cursor, query))
        try:
            return query(self._kept)
        except OperationalError as error:
            raise DatabaseAwayError(str(error)) from error

    async def write(self, change: Callable[[Connection], T]) -> T:
        """What a change tells; it is one transaction, and durable."""
        if self.embedded:
            return await asyncio.to_thread(self._run, self.writes.begin, change)
        return await self._answered(self.writes.begin, change)

    async def _answered(
        self, opened: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]
    ) -> T:
        """What a server tells in time; while it does not answer, those who wait for a thread are not kept longer."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(self._run, opened, work), ANSWER_SECONDS)
        except TimeoutError as error:
            raise DatabaseAwayError(f"no answer within {ANSWER_SECONDS} seconds") from error

    def _run(self, opened: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]) -> T:
        with errors_as_away(), opened() as connection:
            return work(connection)

    @cached_property
    def _kept(self) -> Any:
        return self._kept_open.connection.cursor()

    @cached_property
    def _kept_open(self) -> Connection:
        return self.reads.connect()

    def close(self) -> None:
        """Let go of every connection."""
        if "_kept_open" in vars(self):
            self._kept_open.close()
        self.reads.dispose()


def _by_cursor(query: Callable[[Any], T], connection: Connection) -> T:
    with cursor(connection) as on:
        return query(on)


@contextmanager
def errors_as_away() -> Iterator[None]:
    """Raises DatabaseAwayError where a database that was there does not answer."""
    try:
        yield
    except (SqlOperationalError, InterfaceError, InternalError, PoolTimeoutError, OperationalError) as error:
        raise DatabaseAwayError(str(error).partition("\n")[0]) from error


def open_database(url: str) -> Database:
    """The database of accounts, keys and credits at an SQLAlchemy URL.

    `sqlite:////var/lib/webdata/webdata.sqlite3`: the missing folders above the file are made.
    `postgresql://user:password@host/name`: needs `pip install webdata[postgresql]`.

    Brings an older database to the shape of today, one process at a time. Raises ConfigError on one that cannot be
    used.
    """
    return _prepared(url, "FULL", migrations.run)


def attach_database(url: str) -> Database:
    """As `open_database`, for one that somebody else has opened before. Asks nothing of it yet."""
    return _prepared(url, "FULL", lambda _: None)


def open_links(url: str) -> Database:
    """The database of links at an SQLAlchemy URL, with its table made; otherwise as `open_database`."""
    return _prepared(url, "NORMAL", _make_links)


def _make_links(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(CreateTable(LINKS, if_not_exists=True))


def _prepared(url: str, synchronous: str, prepare: Callable[[Engine], None]) -> Database:
    with _usable():
        database = _opened(url, synchronous)
        try:
            prepare(database.writes)
            if not database.embedded:
                _limit_waits(database.writes)  # from now on: a migration may take its time
        except Exception:
            database.close()
            raise
    return database


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, SqliteError, ImportError, OSError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise ConfigError(f"the database cannot be used ({reason}): {RIGHT}") from error


def _opened(url: str, synchronous: str) -> Database:
    address = make_url(url)
    if address.drivername in ("postgres", "postgresql"):
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "sqlite":
        return _sqlite(create_engine(address, connect_args={"timeout": PATIENCE}), synchronous)
    address = address.set(query={"connect_timeout": str(ANSWER_SECONDS), **address.query})
    engine = create_engine(address, pool_pre_ping=True, pool_timeout=ANSWER_SECONDS)
    return Database(engine.execution_options(isolation_level="AUTOCOMMIT"), engine)


def _limit_waits(engine: Engine) -> None:
    # psycopg is there only where PostgreSQL is used.
    from webdata.stores.postgresql import limit_waits  # noqa: PLC0415

    limit_waits(engine, ANSWER_SECONDS)


def _sqlite(engine: Engine, synchronous: str) -> Database:
    file = engine.url.database
    if not file or file == ":memory:":
        raise ConfigError(f"the database cannot be in memory, where threads do not share it: give {EXAMPLE_URL}")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    event.listen(engine, "connect", _tuned(synchronous))
    writes = engine.execution_options()
    event.listen(writes, "begin", _begin_alone)
    return Database(engine, writes)


def _tuned(synchronous: str) -> Callable[[SqliteConnection, Any], None]:
    def tune(connection: SqliteConnection, _record: Any) -> None:
        # Readers and one writer at once, over several processes. FULL: what is committed outlives the machine's crash.
        _in_turn(connection, "PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")

    return tune


def _begin_alone(connection: Connection) -> None:
    """Begin a transaction as the only writer: one that reads first fails to write where another one wrote in between.

    SQLite itself waits for its turn in naps that grow to 100 ms. With naps of one, the slowest commits of two processes
    that write all the time took a third as long.
    """
    database = cast("SqliteConnection", connection.connection.dbapi_connection)
    database.execute("PRAGMA busy_timeout=0")
    try:
        _in_turn(database, "BEGIN IMMEDIATE")
    finally:
        database.execute(f"PRAGMA busy_timeout={PATIENCE * 1000}")


def _in_turn(database: SqliteConnection, statement: str) -> None:
    """Execute what needs the file alone; SQLite itself does not wait where it is recovered, or becomes a WAL."""
    end = monotonic() + PATIENCE
    while not _done(database, statement, last=monotonic() > end):
        sleep(NAP)


def _done(database: SqliteConnection, statement: str, last: bool) -> bool:
    try:
        database.execute(statement)
    except OperationalError as error:
        if last or error.sqlite_errorcode & PRIMARY_CODE != SQLITE_BUSY:
            raise
        return False
    return True
