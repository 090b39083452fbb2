"""Schema migrations: Alembic revisions, shipped with the package and run when a database is opened."""

import logging
from pathlib import Path

from sqlalchemy import Engine, inspect, text

from webdata.domain.errors import ConfigError

logger = logging.getLogger(__name__)

HEAD = "0003"
"""The newest revision."""
LOCK = 7_763_100
"""The key of PostgreSQL's advisory lock that lets one process migrate at a time; an arbitrary number."""


def run(engine: Engine) -> None:
    """Migrate the database to the newest revision, in one transaction, while other processes wait.

    Raises ConfigError for a database whose revision is unknown to this version.
    """
    if _revision(engine) == HEAD:
        return
    # Imported here because Alembic takes longer to import than a command takes to run.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            reason = "it was made by a newer webdata: install that one, or give another database"
            raise ConfigError(f"the database cannot be used: {reason}") from error
    logger.info("The database has the newest schema (revision %s)", HEAD)


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
