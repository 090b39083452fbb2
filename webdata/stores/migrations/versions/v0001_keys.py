"""Keys alone, as they were before there were accounts: databases of that time have the table, and no revision."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, String

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the table, if it is not there."""
    op.create_table(
        "keys",
        Column("id", String(64), primary_key=True),
        Column("digest", String(64), nullable=False, unique=True),
        Column("name", String(200), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("created", DateTime, nullable=False),
        if_not_exists=True,
    )
