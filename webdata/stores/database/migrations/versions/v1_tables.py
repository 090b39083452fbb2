"""The tables as they are at the first release."""

from datetime import UTC, datetime
from typing import Any

from alembic import context, op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    String,
    Text,
    bindparam,
    false,
    text,
)
from sqlalchemy.schema import CheckConstraint, ForeignKeyConstraint, PrimaryKeyConstraint, UniqueConstraint

revision = "1"
down_revision = None


def upgrade() -> None:
    """Create the tables, and the default plan and account with its trial credits."""
    _create_batch_counts()
    _create_call_sums()
    _create_calls()
    _create_canary_rounds()
    _create_chunk_queries()
    _create_engines()
    _create_events()
    _create_leaders()
    _create_movement_sums()
    _create_movement_sums_end()
    _create_plans()
    _create_reservations()
    _create_watched_engines()
    _create_results()
    _create_upstream_requests()
    _create_accounts()
    _create_batches()
    _create_invitations()
    _create_keys()
    _create_members()
    _create_movements()
    _create_submissions()
    _create_webhooks()
    _create_browsers()
    _create_chunks()
    _create_deliveries()
    _create_schedules()
    _create_sessions()
    _create_schedule_runs()
    _make_append_only()
    if context.config.attributes["first_rows"]:
        _create_default_account()


def _create_batch_counts() -> None:
    op.create_table(
        "batch_counts",
        Column("batch_id", String(64), nullable=False),
        Column("outcome", String(16), nullable=False),
        Column("kind", String(64), nullable=False),
        Column("rows", Integer, nullable=False),
        Column("cost", Integer, nullable=False),
        Column("cached", Integer, nullable=False),
        PrimaryKeyConstraint("batch_id", "outcome", "kind", name="batch_counts_pkey"),
    )


def _create_call_sums() -> None:
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


def _create_calls() -> None:
    op.create_table(
        "calls",
        Column("id", String(64), nullable=False),
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
        PrimaryKeyConstraint("id"),
    )
    op.create_index("calls_by_account", "calls", ["account_id", "id"])
    op.create_index("calls_by_engine", "calls", ["account_id", "engine", "id"])
    op.create_index("calls_by_key", "calls", ["account_id", "key_id", "id"])
    op.create_index("calls_by_outcome", "calls", ["account_id", "outcome", "id"])


def _create_chunk_queries() -> None:
    op.create_table(
        "chunk_queries",
        Column("batch_id", String(64), nullable=False),
        Column("number", Integer, nullable=False),
        Column("queries", LargeBinary, nullable=False),
        PrimaryKeyConstraint("batch_id", "number", name="chunk_queries_pkey"),
    )


def _create_engines() -> None:
    op.create_table(
        "engines",
        Column("name", String(64), nullable=False),
        Column("degraded", Boolean, nullable=False),
        Column("seen", DateTime, nullable=False),
        PrimaryKeyConstraint("name"),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        Column("id", String(64), nullable=False),
        Column("type", String(64), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("body", Text, nullable=False),
        Column("once", String(200), nullable=True),
        PrimaryKeyConstraint("id"),
        UniqueConstraint("once"),
    )
    op.create_index("events_by_time", "events", ["created"])


def _create_leaders() -> None:
    op.create_table(
        "leaders",
        Column("name", String(64), nullable=False),
        Column("process", String(128), nullable=False),
        Column("until", DateTime, nullable=False),
        PrimaryKeyConstraint("name"),
    )


def _create_movement_sums() -> None:
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


def _create_movement_sums_end() -> None:
    op.create_table(
        "movement_sums_end",
        Column("movement_id", BigInteger, autoincrement=False, nullable=False),
        PrimaryKeyConstraint("movement_id"),
    )


def _create_plans() -> None:
    op.create_table(
        "plans",
        Column("name", String(64), nullable=False),
        Column("requests", Integer, nullable=False),
        Column("seconds", Integer, nullable=False),
        Column("in_flight", Integer, nullable=False),
        Column("low_credits", Integer, server_default="100", nullable=False),
        Column("batch_rows", BigInteger, server_default="100000000", nullable=False),
        Column("batch_bytes", BigInteger, server_default="10737418240", nullable=False),
        Column("batches", Integer, server_default="10000", nullable=False),
        Column("schedules", Integer, server_default="100", nullable=False),
        PrimaryKeyConstraint("name"),
    )


def _create_reservations() -> None:
    op.create_table(
        "reservations",
        Column("request_id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("endpoint", String(64), nullable=False),
        Column("process", String(128), nullable=False),
        Column("time", DateTime, nullable=False),
        Column("amount", BigInteger, server_default="1", nullable=False),
        PrimaryKeyConstraint("request_id"),
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
        Column("kind", String(64), nullable=True),
        Column("error", Text, nullable=True),
        Column("place", Text, nullable=True),
        Column("record", LargeBinary, nullable=True),
        PrimaryKeyConstraint("batch_id", "row", name="results_pkey"),
    )
    op.create_index(
        "results_failed", "results", ["batch_id", "row"], sqlite_where=text("failed"), postgresql_where=text("failed")
    )


def _create_upstream_requests() -> None:
    op.create_table(
        "upstream_requests",
        Column("upstream", String(64), nullable=False),
        Column("day", String(10), nullable=False),
        Column("requests", BigInteger, nullable=False),
        PrimaryKeyConstraint("upstream", "day", name="upstream_requests_pkey"),
    )


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        Column("id", String(64), nullable=False),
        Column("name", String(200), nullable=False),
        Column("plan", String(64), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("balance", BigInteger, nullable=False),
        Column("credits_notice", Integer, server_default="2", nullable=False),
        Column("closed", DateTime, nullable=True),
        Column("folded", String(600), server_default="", nullable=False),
        CheckConstraint("balance >= 0", name="accounts_balance"),
        ForeignKeyConstraint(["plan"], ["plans.name"], name="accounts_plan"),
        PrimaryKeyConstraint("id"),
        UniqueConstraint("name"),
    )
    op.create_index("accounts_folded", "accounts", ["folded"], unique=True)


def _create_batches() -> None:
    op.create_table(
        "batches",
        Column("id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("resource", String(64), nullable=False),
        Column("region", String(8), nullable=True),
        Column("device", String(16), nullable=True),
        Column("label", String(200), nullable=False),
        Column("priority", Integer, nullable=False),
        Column("webhook_id", String(64), nullable=True),
        Column("state", String(16), nullable=False),
        Column("reason", String(64), nullable=True),
        Column("created", DateTime, nullable=False),
        Column("started", DateTime, nullable=True),
        Column("ended", DateTime, nullable=True),
        Column("rows", Integer, nullable=False),
        Column("chunks", Integer, nullable=False),
        Column("chunks_done", Integer, nullable=False),
        Column("announced", Integer, nullable=False),
        Column("retries", Integer, nullable=False),
        Column("rounds", Integer, server_default="4", nullable=False),
        Column("bytes", BigInteger, server_default="0", nullable=False),
        Column("deleted", DateTime, nullable=True),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="batches_account"),
        PrimaryKeyConstraint("id"),
    )
    op.create_index("batches_by_account", "batches", ["account_id", "id"])
    op.create_index("batches_by_end", "batches", ["ended"])
    op.create_index(
        "batches_open",
        "batches",
        ["account_id"],
        sqlite_where=text("ended IS NULL"),
        postgresql_where=text("ended IS NULL"),
    )


def _create_invitations() -> None:
    op.create_table(
        "invitations",
        Column("digest", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("role", String(16), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("expires", DateTime, nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="invitations_account"),
        PrimaryKeyConstraint("digest"),
    )


def _create_keys() -> None:
    op.create_table(
        "keys",
        Column("id", String(64), nullable=False),
        Column("digest", String(64), nullable=False),
        Column("name", String(200), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("created", DateTime, nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("prefix", String(64), nullable=False),
        Column("scopes", Text, nullable=False),
        Column("expires", DateTime, nullable=True),
        Column("revoked", DateTime, nullable=True),
        Column("last_used", DateTime, nullable=True),
        Column("replaced_by", String(64), nullable=True),
        Column("engines", Text, server_default="", nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="keys_account"),
        PrimaryKeyConstraint("id"),
        UniqueConstraint("digest"),
    )
    op.create_index("keys_by_account", "keys", ["account_id"])


def _create_members() -> None:
    op.create_table(
        "members",
        Column("id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("name", String(200), nullable=False),
        Column("folded", String(600), nullable=False),
        Column("role", String(16), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("password", Text, nullable=False),
        Column("totp_secret", String(64), nullable=True),
        Column("totp_step", Integer, nullable=False),
        Column("recovery_codes", Text, nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="members_account"),
        PrimaryKeyConstraint("id"),
        UniqueConstraint("folded"),
    )
    op.create_index("members_by_account", "members", ["account_id"])


def _create_movements() -> None:
    op.create_table(
        "movements",
        Column("id", BigInteger().with_variant(Integer, "sqlite"), nullable=False),
        Column("time", DateTime, nullable=False),
        Column("kind", String(16), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("source", String(16), nullable=False),
        Column("target", String(16), nullable=False),
        Column("amount", BigInteger, nullable=False),
        Column("request_id", String(64), nullable=True),
        Column("key_id", String(64), nullable=True),
        Column("endpoint", String(64), nullable=True),
        Column("outcome", String(32), nullable=True),
        Column("cached", Boolean, nullable=False),
        Column("note", Text, nullable=False),
        CheckConstraint("amount >= 0", name="movements_amount"),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="movements_account"),
        PrimaryKeyConstraint("id"),
        UniqueConstraint("request_id", "source", name="movements_request"),
    )
    op.create_index("movements_by_account", "movements", ["account_id", "time"])
    op.create_index("movements_by_kind", "movements", ["account_id", "kind", "time"])


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        Column("account_id", String(64), nullable=False),
        Column("name", String(255), nullable=False),
        Column("digest", String(64), nullable=False),
        Column("answer", Text, nullable=False),
        Column("time", DateTime, nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="submissions_account"),
        PrimaryKeyConstraint("account_id", "name", name="submissions_pkey"),
    )
    op.create_index("submissions_by_time", "submissions", ["time"])


def _create_webhooks() -> None:
    op.create_table(
        "webhooks",
        Column("id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("url", Text, nullable=False),
        Column("events", Text, nullable=False),
        Column("description", Text, nullable=False),
        Column("secret", Text, nullable=False),
        Column("created", DateTime, nullable=False),
        Column("old_secret", Text, nullable=True),
        Column("old_secret_until", DateTime, nullable=True),
        Column("enabled", Boolean, nullable=False),
        Column("disabled_reason", Text, nullable=True),
        Column("failures", Integer, nullable=False),
        Column("failing_since", DateTime, nullable=True),
        Column("paused_until", DateTime, nullable=True),
        Column("host", String(255), server_default="", nullable=False),
        Column("confirmed", DateTime, nullable=True),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="webhooks_account"),
        PrimaryKeyConstraint("id"),
    )
    op.create_index("webhooks_by_account", "webhooks", ["account_id"])


def _create_browsers() -> None:
    op.create_table(
        "browsers",
        Column("digest", String(64), nullable=False),
        Column("member_id", String(64), nullable=True),
        Column("created", DateTime, nullable=False),
        ForeignKeyConstraint(["member_id"], ["members.id"], name="browsers_member", ondelete="CASCADE"),
        PrimaryKeyConstraint("digest"),
    )
    op.create_index("browsers_by_member", "browsers", ["member_id"])


def _create_chunks() -> None:
    op.create_table(
        "chunks",
        Column("batch_id", String(64), nullable=False),
        Column("number", Integer, nullable=False),
        Column("state", String(16), nullable=False),
        Column("first_row", Integer, nullable=False),
        Column("last_row", Integer, nullable=False),
        Column("size", Integer, nullable=False),
        Column("due", DateTime, nullable=False),
        Column("issued", Boolean, nullable=False),
        Column("lease", String(128), nullable=True),
        Column("lease_until", DateTime, nullable=True),
        Column("attempts", Integer, nullable=False),
        Column("rounds", Integer, nullable=False),
        Column("reason", Text, nullable=True),
        Column("moved", Boolean, server_default=false(), nullable=False),
        Column("ended", Integer, server_default="0", nullable=False),
        Column("failed", Integer, server_default="0", nullable=False),
        Column("bytes", BigInteger, server_default="0", nullable=False),
        ForeignKeyConstraint(["batch_id"], ["batches.id"], name="chunks_batch"),
        PrimaryKeyConstraint("batch_id", "number", name="chunks_pkey"),
    )
    op.create_index("chunks_by_row", "chunks", ["batch_id", "last_row"])
    op.create_index(
        "chunks_issued", "chunks", ["batch_id"], sqlite_where=text("issued"), postgresql_where=text("issued")
    )
    op.create_index(
        "chunks_leased",
        "chunks",
        ["lease"],
        sqlite_where=text("lease IS NOT NULL"),
        postgresql_where=text("lease IS NOT NULL"),
    )
    op.create_index(
        "chunks_movable",
        "chunks",
        ["batch_id", "number"],
        sqlite_where=text("state IN ('done', 'poison') AND moved = 0"),
        postgresql_where=text("state IN ('done', 'poison') AND NOT moved"),
    )
    op.create_index(
        "chunks_open",
        "chunks",
        ["batch_id", "number"],
        sqlite_where=text("state IN ('open', 'running')"),
        postgresql_where=text("state IN ('open', 'running')"),
    )
    op.create_index(
        "chunks_waiting",
        "chunks",
        ["batch_id", "due"],
        sqlite_where=text("lease IS NULL AND issued = 0 AND state IN ('open', 'running')"),
        postgresql_where=text("lease IS NULL AND NOT issued AND state IN ('open', 'running')"),
    )


def _create_deliveries() -> None:
    op.create_table(
        "deliveries",
        Column("event_id", String(64), nullable=False),
        Column("webhook_id", String(64), nullable=False),
        Column("status", String(16), nullable=False),
        Column("attempts", Integer, nullable=False),
        Column("step", Integer, nullable=False),
        Column("next_attempt", DateTime, nullable=True),
        Column("lease", String(128), nullable=True),
        Column("last_attempt", DateTime, nullable=True),
        Column("response_status", Integer, nullable=True),
        Column("response_body", Text, nullable=True),
        Column("error", Text, nullable=True),
        ForeignKeyConstraint(["event_id"], ["events.id"], name="deliveries_event", ondelete="CASCADE"),
        ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="deliveries_webhook", ondelete="CASCADE"),
        PrimaryKeyConstraint("event_id", "webhook_id", name="deliveries_pkey"),
    )
    op.create_index("deliveries_by_webhook", "deliveries", ["webhook_id", "event_id"])
    op.create_index(
        "deliveries_due",
        "deliveries",
        ["webhook_id", "next_attempt"],
        sqlite_where=text("next_attempt IS NOT NULL"),
        postgresql_where=text("next_attempt IS NOT NULL"),
    )
    op.create_index(
        "deliveries_leased",
        "deliveries",
        ["lease"],
        sqlite_where=text("lease IS NOT NULL"),
        postgresql_where=text("lease IS NOT NULL"),
    )


def _create_schedules() -> None:
    op.create_table(
        "schedules",
        Column("id", String(64), nullable=False),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("test", Boolean, nullable=False),
        Column("cron", String(200), nullable=False),
        Column("timezone", String(64), nullable=False),
        Column("label", String(200), nullable=False),
        Column("batch", Text, nullable=False),
        Column("created", DateTime, nullable=False),
        Column("next_run", DateTime, nullable=True),
        Column("parameters", Text, server_default="{}", nullable=False),
        Column("queries", Integer, server_default="0", nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="schedules_account"),
        ForeignKeyConstraint(["key_id"], ["keys.id"], name="schedules_key"),
        PrimaryKeyConstraint("id"),
    )
    op.create_index("schedules_by_account", "schedules", ["account_id"])
    op.create_index("schedules_due", "schedules", ["next_run"])


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        Column("digest", String(64), nullable=False),
        Column("id", String(64), nullable=False),
        Column("member_id", String(64), nullable=True),
        Column("account_id", String(64), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("last_seen", DateTime, nullable=False),
        Column("address", String(64), nullable=False),
        Column("browser", String(500), nullable=False),
        Column("needs_second_factor", Boolean, nullable=False),
        ForeignKeyConstraint(["account_id"], ["accounts.id"], name="sessions_account"),
        ForeignKeyConstraint(["member_id"], ["members.id"], name="sessions_member", ondelete="CASCADE"),
        PrimaryKeyConstraint("digest"),
        UniqueConstraint("id"),
    )
    op.create_index("sessions_by_member", "sessions", ["member_id", "last_seen"])


def _create_schedule_runs() -> None:
    op.create_table(
        "schedule_runs",
        Column("schedule_id", String(64), nullable=False),
        Column("time", DateTime, nullable=False),
        Column("begun", DateTime, nullable=False),
        Column("missed", Integer, nullable=False),
        Column("batch_id", String(64), nullable=True),
        Column("error", Text, nullable=True),
        ForeignKeyConstraint(["schedule_id"], ["schedules.id"], name="schedule_runs_schedule", ondelete="CASCADE"),
        PrimaryKeyConstraint("schedule_id", "time", name="schedule_runs_pkey"),
    )


def _create_canary_rounds() -> None:
    op.create_table(
        "canary_rounds",
        Column("engine", String(64), nullable=False),
        Column("network", String(16), nullable=False),
        Column("time", DateTime, nullable=False),
        Column("good", Boolean, nullable=False),
        Column("pages", Text, nullable=False),
        PrimaryKeyConstraint("engine", "network", "time", name="canary_rounds_pkey"),
    )


def _create_watched_engines() -> None:
    op.create_table(
        "watched_engines",
        Column("engine", String(64), nullable=False),
        Column("network", String(16), nullable=False),
        Column("next_round", DateTime, nullable=False),
        Column("last_round", DateTime, nullable=True),
        Column("drift", Text, server_default="", nullable=False),
        PrimaryKeyConstraint("engine", "network", name="watched_engines_pkey"),
    )


def _make_append_only() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER movements_no_{change.lower()} BEFORE {change} ON movements "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION movements_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER movements_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON movements "
        "FOR EACH STATEMENT EXECUTE FUNCTION movements_append_only()"
    )


def _create_default_account() -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    _execute("INSERT INTO plans (name, requests, seconds, in_flight) VALUES ('default', 60, 60, 32)")
    _execute(
        "INSERT INTO accounts (id, name, folded, plan, created, balance, credits_notice) "
        "VALUES ('acc_default', 'default', 'default', 'default', :now, 1000, 0)",
        now=now,
    )
    _execute(
        "INSERT INTO movements (time, kind, account_id, source, target, amount, cached, note) "
        "VALUES (:now, 'credit', 'acc_default', 'issued', 'balance', 1000, :cached, 'trial')",
        now=now,
        cached=False,
    )


def _execute(statement: str, **values: Any) -> None:
    op.get_bind().execute(
        text(statement).bindparams(
            *(bindparam(name, type_=DateTime) for name in values if name == "now"),
            *(bindparam(name, type_=Boolean) for name in values if name == "cached"),
        ),
        values,
    )
