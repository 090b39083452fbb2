"""The tables of archived answers; a change of them needs a migration."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from webdata.stores.accounts.tables import METADATA, Moment

ANSWERS = Table(
    "answers",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="answers_account"), nullable=False),
    Column("key_id", String(64), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("endpoint", String(64), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("engine", String(64), nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("time", Moment, nullable=False),
    Column("day", String(10), nullable=False),  # of the time
    Column("expires", Moment, nullable=False),
    Column("query", Text, nullable=False),  # as JSON, as the next one
    Column("headers", Text, nullable=False),
    Column("body_size", Integer, nullable=False),
    Column("stored_size", Integer, nullable=False),
    Column("page_state", String(16), nullable=False),
    Column("page_facts", Text, nullable=False),  # as JSON
    Column("body", LargeBinary, nullable=False),  # compressed
    Column("page", LargeBinary),  # records of WARC
    Index("answers_by_account", "account_id", "test", "number"),
    Index("answers_by_day", "account_id", "test", "day", "number"),
    Index("answers_by_endpoint", "account_id", "test", "endpoint", "number"),
    Index("answers_by_expiry", "expires"),
)

ARCHIVE_SHARES = Table(
    "archive_shares",
    METADATA,
    Column("account_id", String(64), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("refused", BigInteger, nullable=False),
    PrimaryKeyConstraint("account_id", "test", name="archive_shares_pkey"),
)
"""The bytes of the answers of an account: changed in the transaction that adds or removes some."""
