"""The tables of the log of calls; a change of them needs a migration."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from webdata.stores.accounts.tables import METADATA, Moment

CALLS = Table(
    "calls",
    METADATA,
    Column("id", String(64), primary_key=True),  # that of its request, which sorts by time
    Column("time", Moment, nullable=False),
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
    Column("timings", Text, nullable=False),  # as JSON, as the next two
    Column("query", Text, nullable=False),
    Column("attempts", Text, nullable=False),
    Index("calls_by_account", "account_id", "id"),
    Index("calls_by_outcome", "account_id", "outcome", "id"),
    Index("calls_by_engine", "account_id", "engine", "id"),
    Index("calls_by_key", "account_id", "key_id", "id"),
)

CALL_SUMS = Table(
    "call_sums",
    METADATA,
    Column("account_id", String(64), nullable=False),
    Column("span", String(4), nullable=False),
    Column("dimension", String(8), nullable=False),
    Column("begins", Moment, nullable=False),
    Column("value", String(64), nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("credits", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "span", "dimension", "begins", "value", name="call_sums_pkey"),
)
"""The calls of each hour and day by one dimension, so that no page has to count them."""
