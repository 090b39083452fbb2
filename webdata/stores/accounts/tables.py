"""The tables of the SQL stores; a change of them needs a migration."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

METADATA = MetaData()
LINKS_METADATA = MetaData()
"""A separate database: unlike keys and credits, links may be deleted."""


class Moment(TypeDecorator[datetime]):
    """An aware time, stored in UTC without its zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


def partial_index(name: str, *columns: Column[Any], where: ColumnElement[bool]) -> None:
    """Add an index of the rows of a table that a condition is true of."""
    Index(name, *columns, sqlite_where=where, postgresql_where=where)


PLANS = Table(
    "plans",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("requests", Integer, nullable=False),
    Column("seconds", Integer, nullable=False),
    Column("in_flight", Integer, nullable=False),
    Column("low_credits", Integer, nullable=False, server_default="100"),
    # How much each account may store (webdata.stores.accounts.model.Plan).
    Column("batch_rows", BigInteger, nullable=False, server_default="100000000"),
    Column("batch_bytes", BigInteger, nullable=False, server_default="10737418240"),
    Column("batches", Integer, nullable=False, server_default="10000"),
    Column("schedules", Integer, nullable=False, server_default="100"),
    Column("archive_days", Integer, nullable=False, server_default="0"),
    Column("archive_bytes", BigInteger, nullable=False, server_default="1073741824"),
)

ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("plan", String(64), ForeignKey("plans.name", name="accounts_plan"), nullable=False),
    Column("created", Moment, nullable=False),
    Column("balance", BigInteger, nullable=False, default=0),
    # The last event about its credits: 0 for none, 1 that they are low, 2 that they are exhausted, as at the beginning.
    Column("credits_notice", Integer, nullable=False, server_default="2"),
    Column("closed", Moment),  # when it was deleted: its ledger stays
    Column("folded", String(600), nullable=False, server_default=""),  # its name by how it looks
    Index("accounts_folded", "folded", unique=True),
    CheckConstraint("balance >= 0", name="accounts_balance"),
)

KEYS = Table(
    "keys",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", String(200), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("account_id", String(64), ForeignKey("accounts.id", name="keys_account"), nullable=False),
    Column("prefix", String(64), nullable=False),
    Column("scopes", Text, nullable=False),  # separated by spaces
    Column("expires", Moment),
    Column("revoked", Moment),
    Column("last_used", Moment),
    Column("replaced_by", String(64)),
    Column("engines", Text, nullable=False, server_default=""),  # separated by spaces
    Column("archive_days", Integer),  # null: as the plan says
    Index("keys_by_account", "account_id"),
)

MOVEMENTS = Table(
    "movements",
    METADATA,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("time", Moment, nullable=False),
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
    Index("movements_by_account", "account_id", "time"),
    Index("movements_by_kind", "account_id", "kind", "time"),
)
"""The ledger: append-only, enforced by triggers of the database.

The unique constraint lets each request take a credit from `balance` once and from `reserved` once.
"""

MOVEMENT_SUMS = Table(
    "movement_sums",
    METADATA,
    Column("account_id", String(64), nullable=False),
    Column("day", String(10), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("source", String(16), nullable=False),
    Column("movements", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "day", "kind", "source", name="movement_sums_pkey"),
)
"""The sums of the movements up to that in `movement_sums_end`, which has one row, and none before the first sum."""

MOVEMENT_SUMS_END = Table(
    "movement_sums_end",
    METADATA,
    Column("movement_id", BigInteger, primary_key=True, autoincrement=False),
)

RESERVATIONS = Table(
    "reservations",
    METADATA,
    Column("request_id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("key_id", String(64), nullable=False),
    Column("endpoint", String(64), nullable=False),
    Column("process", String(128), nullable=False),
    Column("time", Moment, nullable=False),
    Column("amount", BigInteger, nullable=False, server_default="1"),
)
"""The reservations that have not ended."""

UPSTREAM_REQUESTS = Table(
    "upstream_requests",
    METADATA,
    Column("upstream", String(64), nullable=False),
    Column("day", String(10), nullable=False),
    Column("requests", BigInteger, nullable=False),
    PrimaryKeyConstraint("upstream", "day", name="upstream_requests_pkey"),
)
"""The requests that each upstream was sent, or may have been, by the day in UTC."""

WEBHOOKS = Table(
    "webhooks",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="webhooks_account"), nullable=False),
    Column("url", Text, nullable=False),
    Column("events", Text, nullable=False),  # separated by spaces
    Column("description", Text, nullable=False),
    Column("secret", Text, nullable=False),  # in plain: it signs
    Column("created", Moment, nullable=False),
    Column("old_secret", Text),
    Column("old_secret_until", Moment),
    Column("enabled", Boolean, nullable=False),
    Column("disabled_reason", Text),
    Column("failures", Integer, nullable=False),
    Column("failing_since", Moment),
    Column("paused_until", Moment),  # its Retry-After
    Column("host", String(255), nullable=False, server_default=""),  # of the URL
    Column("confirmed", Moment),  # when a test was answered at this URL; null: nothing else is sent
    Index("webhooks_by_account", "account_id"),
)

EVENTS = Table(
    "events",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("type", String(64), nullable=False),
    Column("created", Moment, nullable=False),
    Column("body", Text, nullable=False),
    Column("once", String(200), unique=True),
    Index("events_by_time", "created"),
)
"""The outbox: an event and its deliveries are written in the transaction of what happened."""

DELIVERIES = Table(
    "deliveries",
    METADATA,
    Column("event_id", String(64), ForeignKey("events.id", name="deliveries_event", ondelete="CASCADE")),
    Column("webhook_id", String(64), ForeignKey("webhooks.id", name="deliveries_webhook", ondelete="CASCADE")),
    Column("status", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("next_attempt", Moment),
    Column("lease", String(128)),  # the process that attempts it until next_attempt
    Column("last_attempt", Moment),
    Column("response_status", Integer),
    Column("response_body", Text),
    Column("error", Text),
    PrimaryKeyConstraint("event_id", "webhook_id", name="deliveries_pkey"),
    Index("deliveries_by_webhook", "webhook_id", "event_id"),
)
partial_index(
    "deliveries_due", DELIVERIES.c.webhook_id, DELIVERIES.c.next_attempt, where=DELIVERIES.c.next_attempt.is_not(None)
)
partial_index("deliveries_leased", DELIVERIES.c.lease, where=DELIVERIES.c.lease.is_not(None))

ENGINES = Table(
    "engines",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("degraded", Boolean, nullable=False),
    Column("seen", Moment, nullable=False),
)
"""The engines that were degraded, and when one was last seen so."""

LINKS = Table(
    "links",
    LINKS_METADATA,
    Column("id", String(1024), primary_key=True),
    Column("address", Text, nullable=False),
)
