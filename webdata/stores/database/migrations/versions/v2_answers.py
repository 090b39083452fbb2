"""Archived answers, and for how long keys and plans archive them."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Integer, LargeBinary, String, Text
from sqlalchemy.schema import ForeignKeyConstraint, PrimaryKeyConstraint, UniqueConstraint

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Create their tables, and add the columns."""
    op.add_column("keys", Column("archive_days", Integer, nullable=True))
    op.add_column("plans", Column("archive_days", Integer, nullable=False, server_default="0"))
    op.add_column("plans", Column("archive_bytes", BigInteger, nullable=False, server_default="1073741824"))
    op.create_table(
        "answers",
        Column("number", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
        Column("id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("endpoint", String(64), nullable=False),
        Column("outcome", String(16), nullable=False),
        Column("engine", String(64), nullable=False),
        Column("cached", Boolean, nullable=False),
        Column("time", DateTime, nullable=False),
        Column("day", String(10), nullable=False),
        Column("expires", DateTime, nullable=False),
        Column("query", Text, nullable=False),
        Column("headers", Text, nullable=False),
        Column("body_size", Integer, nullable=False),
        Column("stored_size", Integer, nullable=False),
        Column("page_state", String(16), nullable=False),
        Column("page_facts", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("page", LargeBinary, nullable=True),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="answers_account"),
        PrimaryKeyConstraint("number"),
        UniqueConstraint("id"),
    )
    op.create_index("answers_by_account", "answers", ["account_id", "test", "number"])
    op.create_index("answers_by_day", "answers", ["account_id", "test", "day", "number"])
    op.create_index("answers_by_endpoint", "answers", ["account_id", "test", "endpoint", "number"])
    op.create_index("answers_by_expiry", "answers", ["expires"])
    op.create_table(
        "archive_shares",
        Column("account_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("bytes", BigInteger, nullable=False),
        Column("refused", BigInteger, nullable=False),
        PrimaryKeyConstraint("account_id", "test", name="archive_shares_pkey"),
    )
