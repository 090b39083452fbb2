"""The ends of rows of batches, in an SQL database: result, charge, counts and events in one transaction.

Transactions lock in one order, against deadlocks: results, account, chunks, batch; each by their keys.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, delete, update
from sqlalchemy.dialects import postgresql, sqlite

from webdata.domain.errors import OutOfCreditsError
from webdata.domain.events import BatchCompleted, BatchProgress
from webdata.stores.interfaces_batches import OUT_OF_CREDITS, EndedRow
from webdata.stores.ledger_state import Charge, Free
from webdata.stores.ledger_writer import LedgerWriter
from webdata.stores.packing import packed
from webdata.stores.sql_batches import NO_COUNTS, OPEN, about, announce, batch_of, pause, sums_of
from webdata.stores.tables_batches import BATCHES, CHUNKS, COUNTED, RESULTS

INSERT = {
    dialect.name: insert(RESULTS).on_conflict_do_nothing().returning(RESULTS.c.batch_id, RESULTS.c.row)
    for dialect, insert in ((postgresql.dialect, postgresql.insert), (sqlite.dialect, sqlite.insert))
}
COUNT = (
    update(CHUNKS)
    .where(CHUNKS.c.batch_id == bindparam("batch"), CHUNKS.c.number == bindparam("chunk"))
    .values(attempts=0, **{name: CHUNKS.c[name] + bindparam(f"more_{name}") for name in COUNTED})
    .returning(CHUNKS.c.ended, CHUNKS.c.size, CHUNKS.c.state)
)
DONE = (
    update(CHUNKS)
    .where(CHUNKS.c.batch_id == bindparam("batch"), CHUNKS.c.number == bindparam("chunk"))
    .values(state="done", lease=None, lease_until=None, issued=False)
)
REFUSED = delete(RESULTS).where(RESULTS.c.batch_id == bindparam("batch"), RESULTS.c.row == bindparam("number"))
Key = tuple[str, int]


def write_rows(ledger: LedgerWriter, rows: Sequence[EndedRow], now: datetime, on: Connection) -> list[bool | Exception]:
    """Write rows that have ended, those that are new; see `ChunkStore.end_row` for the result of each."""
    by_key = {_key(row): row for row in sorted(rows, key=_key, reverse=True)}
    new = [by_key[key] for key in sorted(_inserted(on, by_key.values()))]
    refused = _charge(on, ledger, new)
    written = {_key(row): row for row in new if _key(row) not in refused}
    _complete(on, _count(on, written.values()), now)
    for batch in {row.batch.id: row.batch for key, row in by_key.items() if key in refused}.values():
        pause(on, batch, OUT_OF_CREDITS, now)
    return [refused.get(_key(row)) or written.pop(_key(row), None) is not None for row in rows]


def _key(row: EndedRow) -> Key:
    return row.batch.id, row.result.row


def _inserted(on: Connection, rows: Iterable[EndedRow]) -> list[Key]:
    values = [_values(row) for row in rows]
    return [(row[0], row[1]) for row in on.execute(INSERT[on.dialect.name], values)] if values else []


def _values(row: EndedRow) -> dict[str, Any]:
    result = row.result
    return {
        **vars(result),
        "batch_id": row.batch.id,
        "failed": result.record is None and result.place is None,
        "record": None if result.record is None else packed(result.record),
    }


def _charge(on: Connection, ledger: LedgerWriter, rows: Sequence[EndedRow]) -> dict[Key, Exception]:
    """Charge rows, and remove the results of those that their account cannot pay; returns why it cannot."""
    charged = [row for row in rows if not row.batch.test and (row.result.cost or row.result.cached)]
    ends = ledger.write_within(on, [_operation(row) for row in charged]) if charged else ()
    refused: dict[Key, Exception] = {}
    for row, end in zip(charged, ends, strict=True):
        if isinstance(end, OutOfCreditsError):
            refused[_key(row)] = end
        elif isinstance(end, Exception):
            raise end
    if refused:
        on.execute(REFUSED, [{"batch": batch, "number": number} for batch, number in refused])
    return refused


def _operation(row: EndedRow) -> Charge | Free:
    batch, result = row.batch, row.result
    ids = (batch.account_id, f"{batch.id}/{result.row}", batch.key_id, batch.resource, result.outcome)
    return Charge(result.ended, *ids) if result.cost else Free(result.ended, *ids, result.cached)


def _count(on: Connection, rows: Iterable[EndedRow]) -> Counter[str]:
    """Add rows to the counts of their chunks; returns how many chunks of each batch are done with them."""
    more: dict[Key, Counter[str]] = {}
    for row in rows:
        counts = more.setdefault((row.batch.id, row.chunk), Counter())
        counts.update(ended=1, cost=row.result.cost, cached=int(row.result.cached))
        counts[row.result.outcome] += 1
    done = Counter[str]()
    for (batch, number), counts in sorted(more.items()):
        chunk = {"batch": batch, "chunk": number}
        ended, size, state = on.execute(COUNT, chunk | {f"more_{name}": counts[name] for name in COUNTED}).one()
        if ended >= size and state != "done":
            on.execute(DONE, chunk)
            done[batch] += 1
    return done


def _complete(on: Connection, done: Counter[str], now: datetime) -> None:
    """Add chunks that are done to their batches; the last one completes its batch."""
    for batch, chunks in sorted(done.items()):
        change = update(BATCHES).where(BATCHES.c.id == batch).values(chunks_done=BATCHES.c.chunks_done + chunks)
        row = on.execute(change.returning(*BATCHES.c)).one()
        if row.state not in OPEN:
            continue
        if row.chunks_done == row.chunks:
            _end(on, row, now)
        else:
            _announce_progress(on, row, now)


def _end(on: Connection, row: Row[Any], now: datetime) -> None:
    counts = sums_of(on, row.id)
    values = {"state": "done", "reason": None, "ended": now, "counts": orjson.dumps(counts).decode()}
    on.execute(update(BATCHES).where(BATCHES.c.id == row.id).values(**values))
    batch = batch_of(row, counts)
    data = BatchCompleted(**about(batch), outcomes=dict(batch.counts.outcomes), cost=batch.counts.cost)
    announce(on, batch, data, now, once=f"{data.type} {batch.id} {row.retries}")


def _announce_progress(on: Connection, row: Row[Any], now: datetime) -> None:
    percent = row.chunks_done * 10 // row.chunks * 10
    if percent > row.announced:
        on.execute(update(BATCHES).where(BATCHES.c.id == row.id).values(announced=percent))
        batch = batch_of(row, NO_COUNTS)
        data = BatchProgress(**about(batch), percent=percent)
        announce(on, batch, data, now, once=f"{data.type} {batch.id} {percent}")
