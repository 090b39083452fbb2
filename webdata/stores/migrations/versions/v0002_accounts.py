"""Accounts, plans and the ledger. Existing keys belong to the default account, which starts with trial credits."""

from datetime import UTC, datetime
from typing import Any

from alembic import context, op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    String,
    Text,
    bindparam,
    text,
)
from sqlalchemy.schema import CheckConstraint, UniqueConstraint

revision = "0002"
down_revision = "0001"

PREFIX = "CASE WHEN test THEN 'wd_test_' ELSE 'wd_live_' END"
"""The known part of the secrets of existing keys."""


def upgrade() -> None:
    """Create the tables, the default plan and account, and add the new columns of keys."""
    _create_tables()
    _make_append_only()
    if context.config.attributes["first_rows"]:
        _create_default_account()
    _extend_keys()


def _create_tables() -> None:
    op.create_table(
        "plans",
        Column("name", String(64), primary_key=True),
        Column("requests", Integer, nullable=False),
        Column("seconds", Integer, nullable=False),
        Column("in_flight", Integer, nullable=False),
    )
    op.create_table(
        "accounts",
        Column("id", String(64), primary_key=True),
        Column("name", String(200), nullable=False, unique=True),
        Column("plan", String(64), ForeignKey("plans.name", name="accounts_plan"), nullable=False),
        Column("created", DateTime, nullable=False),
        Column("balance", BigInteger, nullable=False),
        CheckConstraint("balance >= 0", name="accounts_balance"),
    )
    op.create_table(
        "movements",
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        Column("time", DateTime, nullable=False),
        Column("kind", String(16), nullable=False),
        Column("account_id", String(64), ForeignKey("accounts.id", name="movements_account"), nullable=False),
        Column("source", String(16), nullable=False),
        Column("target", String(16), nullable=False),
        Column("amount", BigInteger, nullable=False),
        Column("request_id", String(64)),
        Column("key_id", String(64)),
        Column("endpoint", String(64)),
        Column("outcome", String(32)),
        Column("cached", Boolean, nullable=False),
        Column("note", Text, nullable=False),
        CheckConstraint("amount >= 0", name="movements_amount"),
        UniqueConstraint("request_id", "source", name="movements_request"),
    )
    op.create_index("movements_by_account", "movements", ["account_id", "time"])
    op.create_table(
        "reservations",
        Column("request_id", String(64), primary_key=True),
        Column("account_id", String(64), nullable=False),
        Column("key_id", String(64), nullable=False),
        Column("endpoint", String(64), nullable=False),
        Column("process", String(128), nullable=False),
        Column("time", DateTime, nullable=False),
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
        "INSERT INTO accounts (id, name, plan, created, balance) "
        "VALUES ('acc_default', 'default', 'default', :now, 1000)",
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


def _extend_keys() -> None:
    with op.batch_alter_table("keys") as keys:
        keys.add_column(Column("account_id", String(64), nullable=False, server_default="acc_default"))
        keys.add_column(Column("prefix", String(64), nullable=False, server_default=""))
        keys.add_column(Column("scopes", Text, nullable=False, server_default=""))
        keys.add_column(Column("expires", DateTime))
        keys.add_column(Column("revoked", DateTime))
        keys.add_column(Column("last_used", DateTime))
        keys.add_column(Column("replaced_by", String(64)))
        keys.create_foreign_key("keys_account", "accounts", ["account_id"], ["id"])
    op.execute(f"UPDATE keys SET prefix = {PREFIX}")  # noqa: S608  # a constant
