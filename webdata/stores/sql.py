"""State kept in an SQL database: SQLite by default, another one by its URL."""

import logging
from collections.abc import Collection, Mapping
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
    Text,
    bindparam,
    create_engine,
    delete,
    event,
    insert,
    select,
    text,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.schema import CreateTable

from webdata.errors import ConfigError
from webdata.stores.interfaces import Key

logger = logging.getLogger(__name__)

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

LINKS_METADATA = MetaData()
"""Of a database of its own: links may be thrown away, keys may not."""
LINKS = Table(
    "links",
    LINKS_METADATA,
    Column("id", String(1024), primary_key=True),
    Column("address", Text, nullable=False),
)

BY_DIGEST = select(KEYS).where(KEYS.c.digest == bindparam("digest"))
BY_AGE = select(KEYS).order_by(KEYS.c.created, KEYS.c.id)
BY_IDS = select(LINKS).where(LINKS.c.id.in_(bindparam("ids", expanding=True)))
ADD_LINK = text("INSERT INTO links (id, address) VALUES (:id, :address) ON CONFLICT DO NOTHING")


def open_database(url: str, metadata: MetaData = METADATA) -> Engine:
    """The database at an SQLAlchemy URL (`sqlite:////var/lib/webdata/webdata.sqlite3`), with its tables made.

    Makes the missing folders above an SQLite file. Raises ConfigError on a URL that cannot be used.
    """
    try:
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            _prepare_sqlite(engine)
        with engine.begin() as connection:
            for table in metadata.sorted_tables:
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


class SqlLinks:
    """A LinkStore in the table `links` of the database at `url`; raises ConfigError if it cannot be opened."""

    def __init__(self, url: str) -> None:
        self._engine = open_database(url, LINKS_METADATA)

    def find(self, ids: Collection[str]) -> dict[str, str]:
        try:
            with self._engine.connect() as connection:
                return {row.id: row.address for row in connection.execute(BY_IDS, {"ids": list(ids)})}
        except SQLAlchemyError:
            logger.exception("The store of news links could not be read")
            return {}

    def add(self, addresses: Mapping[str, str]) -> None:
        rows = [{"id": one, "address": address} for one, address in addresses.items()]
        try:
            with self._engine.begin() as connection:
                connection.execute(ADD_LINK, rows)
        except SQLAlchemyError:
            logger.exception("The store of news links could not be written")

    def close(self) -> None:
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
