"""Schema migrations: Alembic revisions, shipped with the package and run when a database is opened."""

import logging
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
    text,
)

from webdata.domain.errors import ConfigError
from webdata.stores.database import schema

logger = logging.getLogger(__name__)

HEAD = "2"
"""The newest revision of the tables."""
OTHER_VERSION = (
    "the database cannot be used: another version of webdata made it. Install that one, or give another database "
    "(WEBDATA_DATABASE)"
)
VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Where Alembic notes the revision: https://alembic.sqlalchemy.org/en/latest/tutorial.html#running-our-first-migration"""
LOCK = 7_763_100
"""The key of PostgreSQL's advisory lock that lets one process migrate at a time; an arbitrary number."""


def run(engine: Engine) -> None:
    """Migrate the database to the newest revision, in one transaction, while other processes wait.

    Raises ConfigError for a database whose revision is unknown to this version.
    """
    if revision(engine) != HEAD:
        with engine.begin() as connection:
            migrate(connection)
        logger.info("The database has the newest schema (revision %s)", HEAD)


def migrate(connection: Connection, *, first_rows: bool = True) -> None:
    """Migrate a database to the newest revision in the transaction that has begun; a new one is created with it.

    Without `first_rows` a new one gets its tables alone, not the default account: for the rows of another database.
    https://alembic.sqlalchemy.org/en/latest/cookbook.html#building-an-up-to-date-database-from-scratch
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    tables = inspect(connection)
    if tables.has_table(VERSION.name):
        _upgrade(connection)
    elif tables.has_table("keys"):
        raise ConfigError(OTHER_VERSION)
    else:
        schema.create(connection, first_rows=first_rows)
        VERSION.create(connection, checkfirst=False)
        connection.execute(insert(VERSION), {"version_num": HEAD})


def _upgrade(connection: Connection) -> None:
    # Imported here because Alembic takes longer to import than a command takes to run.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigError(OTHER_VERSION) from error


def revision(engine: Engine) -> str | None:
    """The revision of a database; None for one without the tables."""
    with engine.connect() as connection:
        if not inspect(connection).has_table(VERSION.name):
            return None
        return connection.execute(select(VERSION.c.version_num)).scalar()
