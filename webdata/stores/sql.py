"""State kept in an SQL database: SQLite by default, another one by its URL."""

from dataclasses import asdict
from datetime import UTC
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Engine,
    MetaData,
    Row,
    String,
    Table,
    bindparam,
    create_engine,
    delete,
    event,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateTable

from webdata.errors import ConfigError
from webdata.stores.interfaces import Key

EXAMPLE_URL = "sqlite:///.webdata/webdata.sqlite3"

METADATA = MetaData()
KEYS = Table(
    "keys",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("created", DateTime, nullable=False, comment="UTC"),
)

BY_DIGEST = select(KEYS).where(KEYS.c.digest == bindparam("digest"))
BY_AGE = select(KEYS).order_by(KEYS.c.created, KEYS.c.id)


def open_database(url: str) -> Engine:
    """The database at an SQLAlchemy URL (`sqlite:////var/lib/webdata/webdata.sqlite3`), with its tables made.

    Makes the missing folders above an SQLite file. Raises ConfigError on a URL that cannot be used.
    """
    try:
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            _prepare_sqlite(engine)
        with engine.begin() as connection:
            for table in METADATA.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))
    except (SQLAlchemyError, ImportError, OSError) as error:
        reason = getattr(error, "orig", None) or error
        raise ConfigError(f"the database cannot be used ({reason}): give a URL like {EXAMPLE_URL}") from error
    return engine


class SqlKeys:
    """A KeyStore in the table `keys` of the database at `url`; raises ConfigError if it cannot be opened."""

    def __init__(self, url: str) -> None:
        self._engine = open_database(url)

    def add(self, key: Key) -> None:
        row = {**asdict(key), "created": key.created.astimezone(UTC).replace(tzinfo=None)}
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(KEYS), row)
        except IntegrityError:
            raise ValueError(f"the key {key.id} is there already") from None

    def find(self, digest: str) -> Key | None:
        with self._engine.connect() as connection:
            row = connection.execute(BY_DIGEST, {"digest": digest}).first()
        return None if row is None else _key(row)

    def remove(self, key_id: str) -> bool:
        with self._engine.begin() as connection:
            return connection.execute(delete(KEYS).where(KEYS.c.id == key_id)).rowcount > 0

    def all(self) -> list[Key]:
        with self._engine.connect() as connection:
            return [_key(row) for row in connection.execute(BY_AGE)]

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()


def _key(row: Row[Any]) -> Key:
    fields = row._asdict()
    return Key(**{**fields, "created": fields["created"].replace(tzinfo=UTC)})


def _prepare_sqlite(engine: Engine) -> None:
    file = engine.url.database
    if file and file != ":memory:":
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    event.listen(engine, "connect", _tune_sqlite)


def _tune_sqlite(connection: SqliteConnection, _record: object) -> None:
    # Readers and one writer at once, over several processes; a crash of the machine may cost the last commits only.
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
