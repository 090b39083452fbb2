"""INSERTs that do something else where a row is there already."""

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect


def insert_into(table: Table, dialect: Dialect) -> Any:
    """An INSERT with `on_conflict_…`, which both dialects write alike."""
    return (postgresql if dialect.name == "postgresql" else sqlite).insert(table)
