"""Batches, their chunks and results."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, LargeBinary, String, Text, text
from sqlalchemy.schema import PrimaryKeyConstraint

revision = "0006"
down_revision = "0005"

OUTCOMES = ("ok", "empty", "degraded", "not_found", "blocked", "layout", "upstream", "refused", "internal")


def upgrade() -> None:
    """Create the tables."""
    _create_batches()
    _create_chunks()
    _create_results()


def _create_batches() -> None:
    op.create_table(
        "batches",
        Column("id", String(64), primary_key=True),
        Column("account_id", String(64), ForeignKey("accounts.id", name="batches_account"), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("resource", String(64), nullable=False),
        Column("region", String(8)),
        Column("device", String(16)),
        Column("label", String(200), nullable=False),
        Column("priority", Integer, nullable=False),
        Column("webhook_id", String(64)),
        Column("state", String(16), nullable=False),
        Column("reason", String(64)),
        Column("created", DateTime, nullable=False),
        Column("started", DateTime),
        Column("ended", DateTime),
        Column("rows", Integer, nullable=False),
        Column("chunks", Integer, nullable=False),
        Column("chunks_done", Integer, nullable=False),
        Column("announced", Integer, nullable=False),
        Column("retries", Integer, nullable=False),
        Column("counts", Text),
    )
    op.create_index("batches_by_account", "batches", ["account_id", "id"])
    op.create_index("batches_by_end", "batches", ["ended"])
    _create_partial_index("batches_open", "batches", ["account_id"], "ended IS NULL")


def _create_chunks() -> None:
    counts = [
        Column(name, Integer, nullable=False, server_default="0") for name in ("ended", "cost", "cached", *OUTCOMES)
    ]
    op.create_table(
        "chunks",
        Column("batch_id", String(64), ForeignKey("batches.id", name="chunks_batch"), nullable=False),
        Column("number", Integer, nullable=False),
        Column("state", String(16), nullable=False),
        Column("first_row", Integer, nullable=False),
        Column("last_row", Integer, nullable=False),
        Column("size", Integer, nullable=False),
        Column("due", DateTime, nullable=False),
        Column("issued", Boolean, nullable=False),
        Column("lease", String(128)),
        Column("lease_until", DateTime),
        Column("attempts", Integer, nullable=False),
        Column("rounds", Integer, nullable=False),
        Column("reason", Text),
        *counts,
        PrimaryKeyConstraint("batch_id", "number", name="chunks_pkey"),
    )
    _create_partial_index("chunks_open", "chunks", ["batch_id", "number"], "state IN ('open', 'running')")
    _create_partial_index("chunks_issued", "chunks", ["batch_id"], "issued")
    _create_partial_index("chunks_leased", "chunks", ["lease"], "lease IS NOT NULL")
    op.create_table(
        "chunk_queries",
        Column("batch_id", String(64), nullable=False),
        Column("number", Integer, nullable=False),
        Column("queries", LargeBinary, nullable=False),
        PrimaryKeyConstraint("batch_id", "number", name="chunk_queries_pkey"),
    )


def _create_results() -> None:
    op.create_table(
        "results",
        Column("batch_id", String(64), nullable=False),
        Column("row", Integer, nullable=False),
        Column("outcome", String(16), nullable=False),
        Column("failed", Boolean, nullable=False),
        Column("ended", DateTime, nullable=False),
        Column("engine", String(64), nullable=False),
        Column("attempts", Integer, nullable=False),
        Column("cost", Integer, nullable=False),
        Column("cached", Boolean, nullable=False),
        Column("kind", String(64)),
        Column("error", Text),
        Column("place", Text),
        Column("record", LargeBinary),
        PrimaryKeyConstraint("batch_id", "row", name="results_pkey"),
    )
    op.create_table(
        "leaders",
        Column("name", String(64), primary_key=True),
        Column("process", String(128), nullable=False),
        Column("until", DateTime, nullable=False),
    )
    _create_partial_index("results_failed", "results", ["batch_id", "row"], "failed")


def _create_partial_index(name: str, table: str, columns: list[str], condition: str) -> None:
    op.create_index(name, table, columns, sqlite_where=text(condition), postgresql_where=text(condition))
