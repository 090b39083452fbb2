"""The tables of canaries; a change of them needs a migration."""

from sqlalchemy import Boolean, Column, PrimaryKeyConstraint, String, Table, Text

from webdata.stores.accounts.tables import METADATA, Moment

WATCHED_ENGINES = Table(
    "watched_engines",
    METADATA,
    Column("engine", String(64), nullable=False),
    Column("network", String(16), nullable=False),
    Column("next_round", Moment, nullable=False),
    Column("last_round", Moment),
    Column("drift", Text, nullable=False, server_default=""),  # as JSON; empty: it has not drifted
    PrimaryKeyConstraint("engine", "network", name="watched_engines_pkey"),
)

CANARY_ROUNDS = Table(
    "canary_rounds",
    METADATA,
    Column("engine", String(64), nullable=False),
    Column("network", String(16), nullable=False),
    Column("time", Moment, nullable=False),
    Column("good", Boolean, nullable=False),
    Column("pages", Text, nullable=False),  # as JSON
    PrimaryKeyConstraint("engine", "network", "time", name="canary_rounds_pkey"),
)
