"""Submissions of batches that are not taken twice, schedules with their runs, records outside of the database."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, String, Text, false, text
from sqlalchemy.schema import PrimaryKeyConstraint

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables; whether the records of a chunk were moved."""
    op.add_column("chunks", Column("moved", Boolean, nullable=False, server_default=false()))
    done = text("state IN ('done', 'poison') AND NOT moved")
    columns = ["batch_id", "number"]
    op.create_index("chunks_movable", "chunks", columns, sqlite_where=done, postgresql_where=done)
    op.create_table(
        "submissions",
        Column("account_id", String(64), ForeignKey("accounts.id", name="submissions_account"), nullable=False),
        Column("name", String(255), nullable=False),
        Column("digest", String(64), nullable=False),
        Column("answer", Text, nullable=False),
        Column("time", DateTime, nullable=False),
        PrimaryKeyConstraint("account_id", "name", name="submissions_pkey"),
    )
    op.create_index("submissions_by_time", "submissions", ["time"])
    op.create_table(
        "schedules",
        Column("id", String(64), primary_key=True),
        Column("account_id", String(64), ForeignKey("accounts.id", name="schedules_account"), nullable=False),
        Column("key_id", String(64), ForeignKey("keys.id", name="schedules_key"), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("cron", String(200), nullable=False),
        Column("timezone", String(64), nullable=False),
        Column("label", String(200), nullable=False),
        Column("batch", Text, nullable=False),
        Column("created", DateTime, nullable=False),
        Column("next_run", DateTime),
    )
    op.create_index("schedules_by_account", "schedules", ["account_id"])
    op.create_index("schedules_due", "schedules", ["next_run"])
    op.create_table(
        "schedule_runs",
        Column(
            "schedule_id", String(64), ForeignKey("schedules.id", name="schedule_runs_schedule", ondelete="CASCADE")
        ),
        Column("time", DateTime, nullable=False),
        Column("begun", DateTime, nullable=False),
        Column("missed", Integer, nullable=False),
        Column("batch_id", String(64)),
        Column("error", Text),
        PrimaryKeyConstraint("schedule_id", "time", name="schedule_runs_pkey"),
    )
