"""Webhooks, events and their deliveries; the mark of a plan, and the last event about an account's credits."""

from alembic import op
from sqlalchemy import Boolean, Column, DateTime, ForeignKey, Integer, String, Text, text
from sqlalchemy.schema import PrimaryKeyConstraint

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables; accounts whose credits are low already get no event about it."""
    op.add_column("plans", Column("low_credits", Integer, nullable=False, server_default="100"))
    op.add_column("accounts", Column("credits_notice", Integer, nullable=False, server_default="2"))
    op.execute("UPDATE accounts SET credits_notice = CASE WHEN balance > 100 THEN 0 WHEN balance > 0 THEN 1 ELSE 2 END")
    op.create_table(
        "webhooks",
        Column("id", String(64), primary_key=True),
        Column("account_id", String(64), ForeignKey("accounts.id", name="webhooks_account"), nullable=False),
        Column("url", Text, nullable=False),
        Column("events", Text, nullable=False),
        Column("description", Text, nullable=False),
        Column("secret", Text, nullable=False),
        Column("created", DateTime, nullable=False),
        Column("old_secret", Text),
        Column("old_secret_until", DateTime),
        Column("enabled", Boolean, nullable=False),
        Column("disabled_reason", Text),
        Column("failures", Integer, nullable=False),
        Column("failing_since", DateTime),
        Column("paused_until", DateTime),
    )
    op.create_index("webhooks_by_account", "webhooks", ["account_id"])
    op.create_table(
        "events",
        Column("id", String(64), primary_key=True),
        Column("type", String(64), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("body", Text, nullable=False),
        Column("once", String(200), unique=True),
    )
    op.create_index("events_by_time", "events", ["created"])
    _create_deliveries()
    op.create_table(
        "engines",
        Column("name", String(64), primary_key=True),
        Column("degraded", Boolean, nullable=False),
        Column("seen", DateTime, nullable=False),
    )


def _create_deliveries() -> None:
    op.create_table(
        "deliveries",
        Column("event_id", String(64), ForeignKey("events.id", name="deliveries_event", ondelete="CASCADE")),
        Column("webhook_id", String(64), ForeignKey("webhooks.id", name="deliveries_webhook", ondelete="CASCADE")),
        Column("status", String(16), nullable=False),
        Column("attempts", Integer, nullable=False),
        Column("step", Integer, nullable=False),
        Column("next_attempt", DateTime),
        Column("lease", String(128)),
        Column("last_attempt", DateTime),
        Column("response_status", Integer),
        Column("response_body", Text),
        Column("error", Text),
        PrimaryKeyConstraint("event_id", "webhook_id", name="deliveries_pkey"),
    )
    op.create_index("deliveries_by_webhook", "deliveries", ["webhook_id", "event_id"])
    for name, columns, present in (
        ("deliveries_due", ["webhook_id", "next_attempt"], text("next_attempt IS NOT NULL")),
        ("deliveries_leased", ["lease"], text("lease IS NOT NULL")),
    ):
        op.create_index(name, "deliveries", columns, sqlite_where=present, postgresql_where=present)
