"""The log of calls and its sums; the sums of the ledger's movements, and an index of their kinds."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Float, Integer, String, Text
from sqlalchemy.schema import PrimaryKeyConstraint

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the tables, empty: calls that ended before are not known, and movements are added up in the service."""
    _create_calls()
    op.create_index("movements_by_kind", "movements", ["account_id", "kind", "time"])
    op.create_table(
        "movement_sums",
        Column("account_id", String(64), nullable=False),
        Column("day", String(10), nullable=False),
        Column("kind", String(16), nullable=False),
        Column("source", String(16), nullable=False),
        Column("movements", BigInteger, nullable=False),
        Column("amount", BigInteger, nullable=False),
        PrimaryKeyConstraint("account_id", "day", "kind", "source", name="movement_sums_pkey"),
    )
    op.create_table("movement_sums_end", Column("movement_id", BigInteger, primary_key=True, autoincrement=False))


def _create_calls() -> None:
    op.create_table(
        "calls",
        Column("id", String(64), primary_key=True),
        Column("time", DateTime, nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("resource", String(64), nullable=False),
        Column("engine", String(64), nullable=False),
        Column("outcome", String(32), nullable=False),
        Column("code", String(64), nullable=False),
        Column("message", Text, nullable=False),
        Column("transport", String(16), nullable=False),
        Column("cost", Integer, nullable=False),
        Column("cached", Boolean, nullable=False),
        Column("seconds", Float, nullable=False),
        Column("timings", Text, nullable=False),
        Column("query", Text, nullable=False),
        Column("attempts", Text, nullable=False),
    )
    for name in ("outcome", "engine", "key"):
        op.create_index(f"calls_by_{name}", "calls", ["account_id", "key_id" if name == "key" else name, "id"])
    op.create_index("calls_by_account", "calls", ["account_id", "id"])
    op.create_table(
        "call_sums",
        Column("account_id", String(64), nullable=False),
        Column("span", String(4), nullable=False),
        Column("dimension", String(8), nullable=False),
        Column("begins", DateTime, nullable=False),
        Column("value", String(64), nullable=False),
        Column("calls", BigInteger, nullable=False),
        Column("credits", BigInteger, nullable=False),
        Column("cached", BigInteger, nullable=False),
        PrimaryKeyConstraint("account_id", "span", "dimension", "begins", "value", name="call_sums_pkey"),
    )
