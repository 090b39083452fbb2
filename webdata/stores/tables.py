"""The tables of the SQL stores, equal to those that the last migration leaves."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
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


PLANS = Table(
    "plans",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("requests", Integer, nullable=False),
    Column("seconds", Integer, nullable=False),
    Column("in_flight", Integer, nullable=False),
)

ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("plan", String(64), ForeignKey("plans.name", name="accounts_plan"), nullable=False),
    Column("created", Moment, nullable=False),
    Column("balance", BigInteger, nullable=False, default=0),
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
)
"""The ledger: append-only, enforced by triggers of the database.

The unique constraint lets each request take a credit from `balance` once and from `reserved` once.
"""

RESERVATIONS = Table(
    "reservations",
    METADATA,
    Column("request_id", String(64), primary_key=True),
    Column("account_id", String(64), nullable=False),
    Column("key_id", String(64), nullable=False),
    Column("endpoint", String(64), nullable=False),
    Column("process", String(128), nullable=False),
    Column("time", Moment, nullable=False),
)
"""The reservations that have not ended."""

LINKS = Table(
    "links",
    LINKS_METADATA,
    Column("id", String(1024), primary_key=True),
    Column("address", Text, nullable=False),
)
