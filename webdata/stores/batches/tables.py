"""The tables of batches and schedules; a change of them needs a migration."""

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
    false,
)

from webdata.stores.accounts.tables import METADATA, Moment, partial_index

BATCHES = Table(
    "batches",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="batches_account"), nullable=False),
    Column("key_id", String(64), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("resource", String(64), nullable=False),
    Column("region", String(8)),
    Column("device", String(16)),
    Column("label", String(200), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("webhook_id", String(64)),  # that alone gets its events; null for all that want them
    Column("state", String(16), nullable=False),  # `submitting` until all of its chunks are there
    Column("reason", String(64)),
    Column("created", Moment, nullable=False),
    Column("started", Moment),
    Column("ended", Moment),
    Column("rows", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("chunks_done", Integer, nullable=False),
    Column("announced", Integer, nullable=False),  # the percentage of the last event about its progress
    Column("retries", Integer, nullable=False),  # how often its failures were retried
    Column("rounds", Integer, nullable=False, server_default="4"),  # how often a query that was lost is tried again
    Column("bytes", BigInteger, nullable=False, server_default="0"),  # stored of queries, and of chunks that are done
    Column("deleted", Moment),  # when its queries and results were
    Index("batches_by_account", "account_id", "id"),
    Index("batches_by_end", "ended"),
)
partial_index("batches_open", BATCHES.c.account_id, where=BATCHES.c.ended.is_(None))

BATCH_COUNTS = Table(
    "batch_counts",
    METADATA,
    Column("batch_id", String(64), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("kind", String(64), nullable=False),  # of failures; empty where there is none
    Column("rows", Integer, nullable=False),
    Column("cost", Integer, nullable=False),
    Column("cached", Integer, nullable=False),
    PrimaryKeyConstraint("batch_id", "outcome", "kind", name="batch_counts_pkey"),
)
"""How many rows of a batch have ended, by how: written in the transaction of each row, so that no page counts them."""

CHUNKS = Table(
    "chunks",
    METADATA,
    Column("batch_id", String(64), ForeignKey("batches.id", name="chunks_batch"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("first_row", Integer, nullable=False),
    Column("last_row", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("due", Moment, nullable=False),  # when a ticket for it may be issued, or issued again
    Column("issued", Boolean, nullable=False),  # whether a ticket is out
    Column("lease", String(128)),  # the process that runs it until lease_until
    Column("lease_until", Moment),
    Column("attempts", Integer, nullable=False),  # how often it was taken since a row of it has ended
    Column("rounds", Integer, nullable=False),  # how often all of its remaining rows were put off
    Column("reason", Text),  # why it was set aside
    Column("moved", Boolean, nullable=False, default=False, server_default=false()),  # its records out of the database
    Column("ended", Integer, nullable=False, server_default="0"),  # how many rows have ended
    Column("failed", Integer, nullable=False, server_default="0"),  # those of them without a record
    Column("bytes", BigInteger, nullable=False, server_default="0"),  # of results that are not counted with the batch
    PrimaryKeyConstraint("batch_id", "number", name="chunks_pkey"),
    Index("chunks_by_row", "batch_id", "last_row"),
)
"""What the workers change is apart from the queries, which never change."""
partial_index("chunks_open", CHUNKS.c.batch_id, CHUNKS.c.number, where=CHUNKS.c.state.in_(["open", "running"]))
partial_index("chunks_leased", CHUNKS.c.lease, where=CHUNKS.c.lease.is_not(None))

partial_index(
    "chunks_movable", CHUNKS.c.batch_id, CHUNKS.c.number, where=CHUNKS.c.state.in_(["done", "poison"]) & ~CHUNKS.c.moved
)
WAITS = CHUNKS.c.lease.is_(None) & ~CHUNKS.c.issued & CHUNKS.c.state.in_(["open", "running"])
partial_index("chunks_waiting", CHUNKS.c.batch_id, CHUNKS.c.due, where=WAITS)
partial_index("chunks_issued", CHUNKS.c.batch_id, where=CHUNKS.c.issued)

CHUNK_QUERIES = Table(
    "chunk_queries",
    METADATA,
    Column("batch_id", String(64), nullable=False),
    Column("number", Integer, nullable=False),
    Column("queries", LargeBinary, nullable=False),  # compressed JSON: the row numbers and queries
    PrimaryKeyConstraint("batch_id", "number", name="chunk_queries_pkey"),
)

RESULTS = Table(
    "results",
    METADATA,
    Column("batch_id", String(64), nullable=False),
    Column("row", Integer, nullable=False),
    Column("outcome", String(16), nullable=False),  # of a fetch, `refused` for what may not be run, or `internal`
    Column("failed", Boolean, nullable=False),
    Column("ended", Moment, nullable=False),
    Column("engine", String(64), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cost", Integer, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("kind", String(64)),  # of a failure
    Column("error", Text),  # of a failure, in a text of our own
    Column("place", Text),  # where the record is, if not here
    Column("record", LargeBinary),  # compressed JSON
    PrimaryKeyConstraint("batch_id", "row", name="results_pkey"),
)
"""One row for each query that has ended. Without foreign keys, whose checks would lock the batch for each of them."""
partial_index("results_failed", RESULTS.c.batch_id, RESULTS.c.row, where=RESULTS.c.failed)

LEADERS = Table(
    "leaders",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("process", String(128), nullable=False),
    Column("until", Moment, nullable=False),
)
"""What one process of all does at a time, and which one until when."""

SUBMISSIONS = Table(
    "submissions",
    METADATA,
    Column("account_id", String(64), ForeignKey("accounts.id", name="submissions_account"), nullable=False),
    Column("name", String(255), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("answer", Text, nullable=False),  # JSON
    Column("time", Moment, nullable=False),
    PrimaryKeyConstraint("account_id", "name", name="submissions_pkey"),
    Index("submissions_by_time", "time"),
)
"""Submissions of batches that have a name of their sender, an `Idempotency-Key`, by which they are not taken twice."""

SCHEDULES = Table(
    "schedules",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("account_id", String(64), ForeignKey("accounts.id", name="schedules_account"), nullable=False),
    Column("key_id", String(64), ForeignKey("keys.id", name="schedules_key"), nullable=False),
    Column("test", Boolean, nullable=False),
    Column("cron", String(200), nullable=False),
    Column("timezone", String(64), nullable=False),
    Column("label", String(200), nullable=False),
    Column("batch", Text, nullable=False),  # JSON, as it is submitted
    Column("created", Moment, nullable=False),
    Column("next_run", Moment),
    Column("parameters", Text, nullable=False, server_default="{}"),  # of the batch, without its queries
    Column("queries", Integer, nullable=False, server_default="0"),  # how many
    Index("schedules_by_account", "account_id"),
    Index("schedules_due", "next_run"),
)

SCHEDULE_RUNS = Table(
    "schedule_runs",
    METADATA,
    Column("schedule_id", String(64), ForeignKey("schedules.id", name="schedule_runs_schedule", ondelete="CASCADE")),
    Column("time", Moment, nullable=False),
    Column("begun", Moment, nullable=False),
    Column("missed", Integer, nullable=False),
    Column("batch_id", String(64)),
    Column("error", Text),
    PrimaryKeyConstraint("schedule_id", "time", name="schedule_runs_pkey"),
)
"""One for each time, whichever process notices it."""
