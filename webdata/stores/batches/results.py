"""The ends of rows of batches, in an SQL database: result, charge, counts and events in one transaction.

They lock in the order of `webdata.stores.accounts.locks`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, text, update

from webdata.domain.errors import OutOfCreditsError
from webdata.domain.events import BatchCompleted, BatchProgress
from webdata.stores.accounts.locks import hold_accounts
from webdata.stores.answers.sql import add_answer
from webdata.stores.batches.model import OUT_OF_CREDITS, QUOTA_EXCEEDED, EndedRow, RowResult
from webdata.stores.batches.quotas import quota, stored
from webdata.stores.batches.sql import OPEN_STATES, about, announce, batch_of, batches_of, pause
from webdata.stores.batches.tables import BATCHES, CHUNKS, RESULTS
from webdata.stores.database.inserts import insert_into
from webdata.stores.database.packing import packed
from webdata.stores.ledger.ledger_state import Charge, Free
from webdata.stores.ledger.ledger_writer import LedgerWriter

COUNT = (
    update(CHUNKS)
    .where(CHUNKS.c.batch_id == bindparam("batch"), CHUNKS.c.number == bindparam("chunk"))
    .values(
        attempts=0,
        ended=CHUNKS.c.ended + bindparam("more"),
        failed=CHUNKS.c.failed + bindparam("more_failed"),
        bytes=CHUNKS.c.bytes + bindparam("more_bytes"),
    )
    .returning(CHUNKS.c.ended, CHUNKS.c.size, CHUNKS.c.state, CHUNKS.c.bytes)
)
COUNT_OF_BATCH = text(
    "INSERT INTO batch_counts (batch_id, outcome, kind, rows, cost, cached) "
    "VALUES (:batch, :outcome, :kind, :rows, :cost, :cached) ON CONFLICT (batch_id, outcome, kind) DO UPDATE SET "
    "rows = batch_counts.rows + excluded.rows, cost = batch_counts.cost + excluded.cost, "
    "cached = batch_counts.cached + excluded.cached"
)
DONE = (
    update(CHUNKS)
    .where(CHUNKS.c.batch_id == bindparam("batch"), CHUNKS.c.number == bindparam("chunk"))
    .values(state="done", lease=None, lease_until=None, issued=False, bytes=0)
)
REFUSED = delete(RESULTS).where(RESULTS.c.batch_id == bindparam("batch"), RESULTS.c.row == bindparam("number"))
Key = tuple[str, int]


def write_rows(
    ledger: LedgerWriter, rows: Sequence[EndedRow], now: datetime, connection: Connection
) -> list[bool | Exception]:
    """Write rows that have ended, those that are new; see `ChunkStore.end_row` for the result of each."""
    by_key = {_key(row): row for row in sorted(rows, key=_key, reverse=True)}
    values = [_values(row) for row in by_key.values()]
    hold_accounts(connection, {row.batch.account_id for row in rows})
    sizes = {(one["batch_id"], one["row"]): len(one["record"] or b"") for one in values}
    new = [by_key[key] for key in sorted(_inserted(connection, values))]
    refused = _charge(connection, ledger, new)
    written = {_key(row): row for row in new if _key(row) not in refused}
    for _, row in sorted(written.items(), key=lambda one: one[1].batch.account_id):  # as whoever adds some locks them
        if row.archived:
            add_answer(connection, row.archived)
    _complete(connection, _count(connection, written.values(), sizes), now)
    for batch in {row.batch.id: row.batch for key, row in by_key.items() if key in refused}.values():
        pause(connection, batch, OUT_OF_CREDITS, now)
    return [refused.get(_key(row)) or written.pop(_key(row), None) is not None for row in rows]


def _key(row: EndedRow) -> Key:
    return row.batch.id, row.result.row


def _inserted(connection: Connection, values: Sequence[dict[str, Any]]) -> list[Key]:
    """Insert results, those that are new; returns their keys."""
    adding = insert_into(RESULTS, connection.dialect).on_conflict_do_nothing()
    added = connection.execute(adding.returning(RESULTS.c.batch_id, RESULTS.c.row), values) if values else ()
    return [(row[0], row[1]) for row in added]


def _values(row: EndedRow) -> dict[str, Any]:
    result = row.result
    return {
        **vars(result),
        "batch_id": row.batch.id,
        "failed": _is_failure(result),
        "record": None if result.record is None else packed(result.record),
    }


def _charge(connection: Connection, ledger: LedgerWriter, rows: Sequence[EndedRow]) -> dict[Key, Exception]:
    """Charge rows, and remove the results of those that their account cannot pay; returns why it cannot."""
    charged = [row for row in rows if not row.batch.test and (row.result.cost or row.result.cached)]
    ends = ledger.write_within(connection, [_operation(row) for row in charged]) if charged else ()
    refused: dict[Key, Exception] = {}
    for row, end in zip(charged, ends, strict=True):
        if isinstance(end, OutOfCreditsError):
            refused[_key(row)] = end
        elif isinstance(end, Exception):
            raise end
    if refused:
        connection.execute(REFUSED, [{"batch": batch, "number": number} for batch, number in refused])
    return refused


def _operation(row: EndedRow) -> Charge | Free:
    batch, result = row.batch, row.result
    ids = (batch.account_id, f"{batch.id}/{result.row}", batch.key_id, batch.resource, result.outcome)
    return Charge(result.ended, *ids, result.cost) if result.cost else Free(result.ended, *ids, result.cached)


class _Done(NamedTuple):
    """What is done of batches."""

    chunks: Counter[str]
    bytes: Counter[str]
    """Bytes of the results of those chunks."""


def _count(connection: Connection, rows: Iterable[EndedRow], sizes: Mapping[Key, int]) -> _Done:
    """Add rows to the counts of their chunks and batches; returns which chunks are done with them."""
    more: dict[Key, Counter[str]] = {}
    of_batches: dict[tuple[str, str, str], Counter[str]] = {}
    for row in rows:
        result = row.result
        counts = more.setdefault((row.batch.id, row.chunk), Counter())
        counts.update(more=1, more_failed=int(_is_failure(result)), more_bytes=sizes[_key(row)])
        of_batch = of_batches.setdefault((row.batch.id, result.outcome, result.kind or ""), Counter())
        of_batch.update(rows=1, cost=result.cost, cached=int(result.cached))
    done = _Done(Counter(), Counter())
    for (batch, number), counts in sorted(more.items()):
        chunk = {"batch": batch, "chunk": number}
        ended, size, state, stored_bytes = connection.execute(COUNT, {**chunk, **counts}).one()
        if ended >= size and state != "done":
            connection.execute(DONE, chunk)
            done.chunks[batch] += 1
            done.bytes[batch] += stored_bytes
    if of_batches:
        names = ("batch", "outcome", "kind")
        connection.execute(
            COUNT_OF_BATCH, [{**dict(zip(names, key, strict=True)), **of_batches[key]} for key in sorted(of_batches)]
        )
    return done


def _is_failure(result: RowResult) -> bool:
    return result.record is None and result.place is None


def _complete(connection: Connection, done: _Done, now: datetime) -> None:
    """Add chunks that are done to their batches; the last one completes its batch."""
    for batch, chunks in sorted(done.chunks.items()):
        more = {"chunks_done": BATCHES.c.chunks_done + chunks, "bytes": BATCHES.c.bytes + done.bytes[batch]}
        change = update(BATCHES).where(BATCHES.c.id == batch).values(**more)
        row = connection.execute(change.returning(*BATCHES.c)).one()
        if row.state not in OPEN_STATES:
            continue
        if row.chunks_done == row.chunks:
            _end(connection, row, now)
        else:
            _announce_progress(connection, row, now)
            if stored(connection, row.account_id, row.test).bytes > quota(connection, row.account_id, row.test).bytes:
                pause(connection, batch_of(row), QUOTA_EXCEEDED, now)


def _end(connection: Connection, row: Row[Any], now: datetime) -> None:
    connection.execute(update(BATCHES).where(BATCHES.c.id == row.id).values(state="done", reason=None, ended=now))
    (batch,) = batches_of(connection, [row])
    data = BatchCompleted(**about(batch), outcomes=dict(batch.counts.outcomes), cost=batch.counts.cost)
    announce(connection, batch, data, now, once=f"{data.type} {batch.id} {row.retries}")


def _announce_progress(connection: Connection, row: Row[Any], now: datetime) -> None:
    percent = row.chunks_done * 10 // row.chunks * 10
    if percent > row.announced:
        connection.execute(update(BATCHES).where(BATCHES.c.id == row.id).values(announced=percent))
        batch = batch_of(row)
        data = BatchProgress(**about(batch), percent=percent)
        announce(connection, batch, data, now, once=f"{data.type} {batch.id} {percent}")
