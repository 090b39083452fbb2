"""SQL databases: SQLite by default, PostgreSQL by its URL; migrated to the newest schema when they are opened."""

import asyncio
import logging
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from sqlite3 import SQLITE_BUSY, SQLITE_FULL, SQLITE_IOERR, OperationalError
from sqlite3 import Connection as SqliteConnection
from sqlite3 import DatabaseError as SqliteDatabaseError
from sqlite3 import Error as SqliteError
from time import monotonic, sleep
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DatabaseError, InterfaceError, InternalError, SQLAlchemyError
from sqlalchemy.exc import OperationalError as SqlOperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.schema import CreateTable

from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.domain.extras import extra
from webdata.stores.accounts.tables import LINKS
from webdata.stores.database import migrations
from webdata.stores.database.prepared import cursor, hide_values

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
PRESENT_SECONDS = 1.0
"""Between two checks whether the file of a database is still there."""
ANSWER_SECONDS = 5
"""How long PostgreSQL may take to answer, and to connect where its URL has no `connect_timeout`."""
DEADLOCK = "40P01"
"""PostgreSQL's code of a transaction that it has undone, since two waited for each other."""
MOST_DEADLOCKS = 2
"""After which a transaction is not run again."""


class DatabaseFile:
    """The file of an embedded database. SQLite goes on with one that was deleted, and all of it is lost at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity: tuple[int, int] | None = None
        self._next_check = 0.0

    def check(self) -> None:
        """Raise DatabaseUnavailableError if the file is gone, or is another one than at the first check."""
        now = monotonic()
        if now < self._next_check:
            return
        try:
            found = self.path.stat()
        except OSError as error:
            raise DatabaseUnavailableError(f"its file {self.path} is gone ({error.strerror}): put it back") from error
        self._identity = self._identity or (found.st_dev, found.st_ino)
        if self._identity != (found.st_dev, found.st_ino):
            raise DatabaseUnavailableError(f"its file {self.path} was replaced by another one: start the service again")
        self._next_check = now + PRESENT_SECONDS


@dataclass(frozen=True)
class Database:
    """Engines for reads and for writes, over one pool of connections."""

    reads: Engine
    """Each statement sees what is committed when it begins."""
    writes: Engine
    """Transactions; SQLite runs one at a time, over all processes."""
    unsynced_writes: Engine
    """Transactions that a crash of the machine, but not of the process, may undo: half the time of a durable one."""
    file: DatabaseFile | None = None
    """None for a server."""
    _threads: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, thread_name_prefix="database"))

    @property
    def embedded(self) -> bool:
        """Whether it runs in this process, so that a read takes microseconds and needs no thread."""
        return self.reads.dialect.name == "sqlite"

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query and return its result."""
        if self.embedded:
            return self.run(self.reads.connect, query)
        return await self._run_in_thread(self.reads.connect, query)

    async def read_apart(self, query: Callable[[Connection], T]) -> T:
        """As `read`, in a thread in any case: for queries of many rows, which the event loop does not wait for."""
        return await self._run_in_thread(self.reads.connect, query)

    async def look_up(self, query: Callable[[Any], T]) -> T:
        """Run a query on a cursor of the driver and return its result: faster, for the queries of every call.

        The cursor of an embedded database stays open, so the query must fetch all rows.
        """
        if not self.embedded:
            return await self.read(partial(_with_cursor, query))
        self.check_present()
        try:
            return query(self._cursor)
        except SqliteDatabaseError as error:  # a malformed file, too
            raise DatabaseUnavailableError(str(error)) from error

    async def write(self, change: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run a change in one transaction and return its result; a crash of the machine may undo one not `durable`."""
        engine = self.writes if durable else self.unsynced_writes
        return await self._run_in_thread(engine.begin, change)

    async def _run_in_thread(
        self, connect: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]
    ) -> T:
        """Run work; a server's timeout includes the wait for a free thread."""
        try:
            async with asyncio.timeout(None if self.embedded else ANSWER_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(self._threads, self.run, connect, work)
        except TimeoutError as error:
            raise DatabaseUnavailableError(f"no answer within {ANSWER_SECONDS} seconds") from error

    def run(self, connect: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]) -> T:
        """The result of work in one transaction, which is run again where PostgreSQL has undone it for a deadlock.

        https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
        """
        self.check_present()
        deadlocks = 0
        with errors_as_unavailable():
            while True:
                try:
                    with connect() as connection:
                        return work(connection)
                except (SqlOperationalError, DatabaseUnavailableError) as error:  # the latter of `prepared.cursor`
                    deadlocks += 1
                    if getattr(error.__cause__, "sqlstate", None) != DEADLOCK or deadlocks > MOST_DEADLOCKS:
                        raise

    def check_present(self) -> None:
        """Raise DatabaseUnavailableError if the file of an embedded database is gone."""
        if self.file:
            self.file.check()

    @cached_property
    def _cursor(self) -> Any:
        return self._cursor_connection.connection.cursor()

    @cached_property
    def _cursor_connection(self) -> Connection:
        return self.reads.connect()

    def close(self) -> None:
        """Close every connection, once the work that runs in threads has ended."""
        self._threads.shutdown(cancel_futures=True)
        if "_cursor_connection" in vars(self):
            self._cursor_connection.close()
        self.reads.dispose()


def _with_cursor(query: Callable[[Any], T], connection: Connection) -> T:
    with cursor(connection) as driver_cursor:
        return query(driver_cursor)


@contextmanager
def errors_as_unavailable() -> Iterator[None]:
    """Raise DatabaseUnavailableError instead of the errors of a database that does not answer, or is malformed."""
    try:
        yield
    except (SqlOperationalError, InterfaceError, InternalError, PoolTimeoutError, OperationalError) as error:
        raise DatabaseUnavailableError(str(error).partition("\n")[0]) from error
    except (DatabaseError, SqliteDatabaseError) as error:
        if type(error) not in (DatabaseError, SqliteDatabaseError):  # such as a violated constraint
            raise
        raise DatabaseUnavailableError(str(error).partition("\n")[0]) from error


def open_database(url: str) -> Database:
    """The database of accounts, keys and credits at an SQLAlchemy URL.

    `sqlite:////var/lib/webdata/webdata.sqlite3`: missing parent folders of the file are created; they
    and the file are their owner's alone.
    `postgresql://user:password@host/name`: needs the extra `postgresql`.

    An older schema is migrated, by one process at a time. Raises ConfigError for a database that cannot be used, and
    DatabaseUnavailableError where its disk fails.
    """
    return _open(url, "FULL", _create_accounts)


def attach_database(url: str) -> Database:
    """The database at a URL that another process has opened before, without a migration or a connection yet.

    Its file is never made anew.
    """
    return _open(url, "FULL", lambda _: None)


def open_unlimited(url: str, prepare: Callable[[Engine], None]) -> Database:
    """The database at a URL as `prepare` leaves it, whose statements may take as long as they need. For maintenance."""
    return _open(url, "FULL", prepare, limited=False)


def server_url(url: str) -> str | None:
    """The URL of a PostgreSQL server for any driver, without options of ours; None for an embedded database."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        return None
    kept = {name: value for name, value in address.query.items() if name.startswith("ssl")}
    return address.set(drivername="postgresql", query=kept).render_as_string(hide_password=False)


def open_links(url: str) -> Database:
    """The database of links at an SQLAlchemy URL, with its table; see `open_database` for the URLs and errors."""
    return _open(url, "NORMAL", _create_links)


def _create_accounts(engine: Engine) -> None:
    make_private(engine)
    migrations.run(engine)


def _create_links(engine: Engine) -> None:
    make_private(engine)
    with engine.begin() as connection:
        connection.execute(CreateTable(LINKS, if_not_exists=True))


def _open(url: str, synchronous: str, prepare: Callable[[Engine], None], *, limited: bool = True) -> Database:
    with _errors_as_config_error(), extra("postgresql"):
        database = _database(url, synchronous)
        try:
            prepare(database.writes)
            if limited and not database.embedded:
                # Imported here because psycopg is installed only where PostgreSQL is used.
                from webdata.stores.database.postgresql import limit_waits  # noqa: PLC0415

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
        cause = getattr(error, "orig", None) or error
        reason = str(cause).strip().splitlines()[0]
        if getattr(cause, "sqlite_errorcode", 0) & PRIMARY_CODE in (SQLITE_FULL, SQLITE_IOERR):
            raise DatabaseUnavailableError(f"{reason}: its disk may be full") from error
        raise ConfigError(f"the database cannot be used ({reason}): {URL_HINT}") from error


def _database(url: str, synchronous: str) -> Database:
    address = make_url(url)
    if address.drivername in ("postgres", "postgresql"):
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "sqlite":
        return _sqlite(
            create_engine(address, connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True), synchronous
        )
    address = address.set(query={"connect_timeout": str(ANSWER_SECONDS), **address.query})
    engine = create_engine(address, pool_pre_ping=True, pool_timeout=ANSWER_SECONDS, hide_parameters=True)
    event.listen(engine, "handle_error", _hide_values)
    unsynced = engine.execution_options()
    event.listen(unsynced, "begin", lambda connection: connection.exec_driver_sql("SET LOCAL synchronous_commit = off"))
    return Database(engine.execution_options(isolation_level="AUTOCOMMIT"), engine, unsynced)


def _hide_values(context: ExceptionContext) -> None:
    """Let no error of the server name values of rows, which may be secrets: errors are logged."""
    original, error = context.original_exception, context.sqlalchemy_exception
    hide_values(original)
    if error is not None:
        error.args = (f"({type(original).__module__}.{type(original).__name__}) {original}",)


def _sqlite(engine: Engine, synchronous: str) -> Database:
    file = engine.url.database
    if not file or file == ":memory:":
        raise ConfigError(f"the database cannot be in memory, where threads do not share it: give {EXAMPLE_URL}")
    event.listen(engine, "do_connect", _never_create)
    event.listen(engine, "connect", _set_pragmas)
    writes, unsynced = engine.execution_options(), engine.execution_options()
    event.listen(writes, "begin", partial(_begin_immediate, synchronous))
    event.listen(unsynced, "begin", partial(_begin_immediate, "NORMAL"))
    return Database(engine, writes, unsynced, DatabaseFile(Path(file).absolute()))


def make_private(engine: Engine) -> None:
    """Make a missing file of SQLite, which only its owner may read; the files beside it, -wal and -shm, get its mode.

    One that is there stays as it is: its mode is the operator's.
    """
    if engine.dialect.name != "sqlite":
        return
    file = Path(str(engine.url.database))
    for folder in reversed(file.parents):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if file.stat().st_mode & stat.S_IROTH and file.absolute().parent.stat().st_mode & stat.S_IXOTH:
        logger.warning("every user of this machine can read the database %s: have it read by its owner only", file)


def _never_create(_dialect: Any, _record: Any, arguments: list[Any], options: dict[str, Any]) -> None:
    """Connect to a file that is there: in the place of one that is gone an empty database would be no help."""
    arguments[0] = f"{Path(arguments[0]).absolute().as_uri()}?mode=rw"
    options["uri"] = True


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
