"""The table of keys before there were accounts. Databases of that version have the table, but no revision."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, String

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table if it does not exist."""
    op.create_table(
        "keys",
        Column("id", String(64), primary_key=True),
        Column("digest", String(64), nullable=False, unique=True),
        Column("name", String(200), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("created", DateTime, nullable=False),
        if_not_exists=True,
    )
