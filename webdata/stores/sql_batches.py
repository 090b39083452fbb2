"""Batches and their results in an SQL database, as their owners see them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update
from sqlalchemy.sql.dml import Delete

from webdata.domain.events import BatchCancelled, BatchPaused, Event, EventData
from webdata.stores.database import Database
from webdata.stores.interfaces_batches import (
    KEY_REVOKED,
    OUT_OF_CREDITS,
    REQUESTED,
    Batch,
    BatchState,
    Counts,
    QueryRow,
    Result,
    Submitted,
    Which,
)
from webdata.stores.outbox import add_event_for, add_events
from webdata.stores.packing import packed, unpacked
from webdata.stores.sql_submissions import add_submission, earlier_submission
from webdata.stores.tables import KEYS, WEBHOOKS
from webdata.stores.tables_batches import BATCHES, CHUNK_QUERIES, CHUNKS, COUNTED, OUTCOMES, RESULTS, SUBMISSIONS

SUBMITTING = "submitting"
OPEN = ("queued", "running", "paused")
SUMS = [func.sum(CHUNKS.c[name]).label(name) for name in COUNTED]
RETRIED_AT_ONCE = 20
"""Chunks whose failures are removed in one transaction."""
NO_COUNTS = dict.fromkeys(COUNTED, 0)
WITH_RECORD = ("ok", "empty", "degraded")
"""The outcomes that are no failures."""


class SqlBatches:
    """A BatchStore in the tables `batches`, `chunks`, `chunk_queries` and `results`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, batch: Batch) -> None:
        await self._database.write(lambda on: on.execute(insert(BATCHES), _row_of(batch)), durable=False)

    async def add_chunks(self, batch_id: str, first: int, chunks: Sequence[Sequence[QueryRow]]) -> None:
        await self._database.write(lambda on: _add_chunks(on, batch_id, first, chunks), durable=False)

    async def publish(self, batch_id: str, now: datetime, submitted: Submitted | None = None) -> Batch:
        return await self._database.write(lambda on: _publish(on, batch_id, now, submitted))

    async def submitted(self, account_id: str, name: str, now: datetime) -> Submitted | None:
        return await self._database.read(lambda on: earlier_submission(on, account_id, name, now))

    async def discard(self, batch_id: str) -> None:
        await self._database.write(lambda on: _remove_unpublished(on, batch_id), durable=False)

    async def find(self, account_id: str, batch_id: str) -> Batch | None:
        return await self._database.read(lambda on: _find(on, account_id, batch_id))

    async def page(
        self, account_id: str, limit: int, before: str | None = None, state: BatchState | None = None
    ) -> list[Batch]:
        query = select(BATCHES).where(BATCHES.c.account_id == account_id, BATCHES.c.state != SUBMITTING)
        query = query.order_by(BATCHES.c.id.desc()).limit(limit)
        if before:
            query = query.where(BATCHES.c.id < before)
        if state:
            query = query.where(BATCHES.c.state == state)
        return await self._database.read(lambda on: batches_of(on, on.execute(query).all()))

    async def pause(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        return await self._database.write(lambda on: _pause(on, account_id, batch_id, now))

    async def resume(self, account_id: str, batch_id: str) -> Batch | None:
        return await self._database.write(lambda on: _resume(on, account_id, batch_id))

    async def cancel(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        return await self._database.write(lambda on: _cancel(on, account_id, batch_id, now))

    async def retry_failures(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        last: int | None = -1
        while last is not None:
            last = await self._database.write(partial(_retry_some, account_id, batch_id, last, now))
        return await self.find(account_id, batch_id)

    async def results(self, batch_id: str, after: int, limit: int, which: Which = "all") -> list[Result]:
        query = select(RESULTS).where(RESULTS.c.batch_id == batch_id, RESULTS.c.row > after)
        if which == "failures":
            query = query.where(RESULTS.c.failed)
        elif which == "records":
            query = query.where(~RESULTS.c.failed)
        query = query.order_by(RESULTS.c.row).limit(limit)
        return await self._database.read(lambda on: [_result(row) for row in on.execute(query)])

    async def complete_to(self, batch_id: str) -> int | None:
        query = select(CHUNKS.c.first_row).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.state.in_(["open", "running"]))
        query = query.order_by(CHUNKS.c.number).limit(1)
        first = await self._database.read(lambda on: on.execute(query).scalar())
        return None if first is None else first - 1

    async def failures_by_kind(self, batch_id: str) -> Mapping[tuple[str, str | None], int]:
        group = (RESULTS.c.outcome, RESULTS.c.kind)
        query = select(*group, func.count()).where(RESULTS.c.batch_id == batch_id, RESULTS.c.failed).group_by(*group)
        return await self._database.read(lambda on: {(row[0], row[1]): row[2] for row in on.execute(query)})

    async def queries(self, batch_id: str, number: int) -> Sequence[QueryRow]:
        return await self._database.read(lambda on: _queries(on, batch_id, number))

    async def chunk_after(self, batch_id: str, row: int) -> int | None:
        query = select(CHUNKS.c.number).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.last_row > row)
        query = query.order_by(CHUNKS.c.number).limit(1)
        return await self._database.read(lambda on: on.execute(query).scalar())

    async def last_row(self, batch_id: str, after: int, limit: int, to: int | None) -> int | None:
        query = select(RESULTS.c.row).where(RESULTS.c.batch_id == batch_id, RESULTS.c.row > after)
        if to is not None:
            query = query.where(RESULTS.c.row <= to)
        page = query.order_by(RESULTS.c.row).limit(limit).subquery()
        return await self._database.read(lambda on: on.execute(select(func.max(page.c.row))).scalar())

    async def remove_old(self, before: datetime, forgotten: datetime, most: int) -> int:
        return await self._database.write(lambda on: _remove_old(on, before, forgotten, most), durable=False)


def _row_of(batch: Batch) -> dict[str, Any]:
    row = {name: value for name, value in asdict(batch).items() if name != "counts"}
    return {**row, "state": SUBMITTING, "rows": 0, "chunks": 0, "chunks_done": 0, "announced": 0, "retries": 0}


def _add_chunks(on: Connection, batch_id: str, first: int, chunks: Sequence[Sequence[QueryRow]]) -> None:
    ids = [{"batch_id": batch_id, "number": number} for number, _ in enumerate(chunks, first)]
    due = on.execute(select(BATCHES.c.created).where(BATCHES.c.id == batch_id)).scalar_one()
    fresh = {"state": "open", "due": due, "issued": False, "attempts": 0, "rounds": 0}
    bounds = [{"first_row": rows[0].row, "last_row": rows[-1].row, "size": len(rows)} for rows in chunks]
    on.execute(insert(CHUNKS), [{**one, **fresh, **bound} for one, bound in zip(ids, bounds, strict=True)])
    queries = [{**one, "queries": _packed_queries(rows)} for one, rows in zip(ids, chunks, strict=True)]
    on.execute(insert(CHUNK_QUERIES), queries)


def _packed_queries(rows: Sequence[QueryRow]) -> bytes:
    return packed(orjson.dumps([(row, orjson.Fragment(query)) for row, query in rows]))


def _queries(on: Connection, batch_id: str, number: int) -> list[QueryRow]:
    return [QueryRow(row, orjson.dumps(query)) for row, query in queries_of(on, batch_id, number)]


def queries_of(on: Connection, batch_id: str, number: int) -> list[tuple[int, dict[str, Any]]]:
    """The row numbers and queries of a chunk."""
    query = select(CHUNK_QUERIES.c.queries)
    query = query.where(CHUNK_QUERIES.c.batch_id == batch_id, CHUNK_QUERIES.c.number == number)
    data = on.execute(query).scalar()
    return [] if data is None else [(row, values) for row, values in orjson.loads(unpacked(data))]


def _publish(on: Connection, batch_id: str, now: datetime, submitted: Submitted | None) -> Batch:
    if submitted:
        add_submission(on, submitted)
    query = select(func.count(), func.sum(CHUNKS.c.size)).where(CHUNKS.c.batch_id == batch_id)
    chunks, rows = on.execute(query).one()
    change = update(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.state == SUBMITTING)
    change = change.values(state="queued", created=now, rows=rows, chunks=chunks)
    row = on.execute(change.returning(*BATCHES.c)).first() if chunks else None
    if row is None:
        raise LookupError(f"the batch {batch_id} has no queries, or is not being submitted")
    batch = batch_of(row, NO_COUNTS)
    revoked = select(KEYS.c.id).where(KEYS.c.id == batch.key_id, KEYS.c.revoked.is_not(None))
    if on.execute(revoked).first():  # while the queries came
        pause(on, batch, KEY_REVOKED, now)
        return replace(batch, state="paused", reason=KEY_REVOKED)
    return batch


def _remove_unpublished(on: Connection, batch_id: str) -> None:
    if on.execute(select(BATCHES.c.id).where(BATCHES.c.id == batch_id, BATCHES.c.state == SUBMITTING)).first():
        for table in (CHUNK_QUERIES, CHUNKS):
            on.execute(delete(table).where(table.c.batch_id == batch_id))
        on.execute(delete(BATCHES).where(BATCHES.c.id == batch_id))


def _find(on: Connection, account_id: str, batch_id: str, *, lock: bool = False) -> Batch | None:
    query = select(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.account_id == account_id)
    query = query.where(BATCHES.c.state != SUBMITTING)
    row = on.execute(query.with_for_update() if lock else query).first()
    return None if row is None else batches_of(on, [row])[0]


def batches_of(on: Connection, rows: Sequence[Row[Any]]) -> list[Batch]:
    """The batches of rows of the table, with their counts: those of a batch that is done are not summed any more."""
    moving = [row.id for row in rows if row.counts is None]
    query = select(CHUNKS.c.batch_id, *SUMS).where(CHUNKS.c.batch_id.in_(moving)).group_by(CHUNKS.c.batch_id)
    sums = {row.batch_id: row._asdict() for row in on.execute(query)} if moving else {}
    return [batch_of(row, orjson.loads(row.counts) if row.counts else sums.get(row.id, NO_COUNTS)) for row in rows]


def batch_of(row: Row[Any], counts: Mapping[str, Any]) -> Batch:
    """The batch of a row of the table."""
    names = ("id", "account_id", "key_id", "test", "resource", "created", "region", "device", "label", "priority")
    others = ("webhook_id", "state", "reason", "started", "ended", "rows")
    outcomes = {name: int(counts[name]) for name in OUTCOMES if counts[name]}
    return Batch(
        **{name: getattr(row, name) for name in (*names, *others)},
        counts=Counts(int(counts["ended"]), int(counts["cost"]), int(counts["cached"]), outcomes),
    )


def sums_of(on: Connection, batch_id: str) -> dict[str, int]:
    """The sums of the counts of a batch's chunks."""
    row = on.execute(select(*SUMS).where(CHUNKS.c.batch_id == batch_id)).one()
    return {name: int(value or 0) for name, value in row._asdict().items()}


def announce(on: Connection, batch: Batch, data: EventData, now: datetime, once: str | None = None) -> None:
    """Add an event of a batch, for its own webhook or for all that want it."""
    event = Event(batch.account_id, data, now, once)
    if batch.webhook_id:
        own = select(WEBHOOKS.c.id).where(WEBHOOKS.c.id == batch.webhook_id, WEBHOOKS.c.enabled)
        if on.execute(own).first():  # it may be deleted
            add_event_for(on, event, [batch.webhook_id])
    else:
        add_events(on, [event])


def about(batch: Batch) -> dict[str, Any]:
    """What every event says of a batch."""
    return {"id": batch.id, "label": batch.label, "resource": batch.resource, "rows": batch.rows}


def pause(on: Connection, batch: Batch, reason: str, now: datetime) -> None:
    """Pause a batch, unless it is not open, and add the event."""
    change = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.state.in_(["queued", "running"]))
    if on.execute(change.values(state="paused", reason=reason)).rowcount:
        announce(on, batch, BatchPaused(**about(batch), reason=reason), now)


def pause_batches_of_key(on: Connection, key_id: str, now: datetime) -> None:
    """Pause the batches that a revoked key has made, also those that would go on when there are credits."""
    without_credits = (BATCHES.c.state == "paused") & (BATCHES.c.reason == OUT_OF_CREDITS)
    going_on = BATCHES.c.ended.is_(None) & (BATCHES.c.state.in_(["queued", "running"]) | without_credits)
    query = select(BATCHES).where(BATCHES.c.key_id == key_id, going_on).order_by(BATCHES.c.id)
    for batch in batches_of(on, on.execute(query).all()):
        pause(on, batch, KEY_REVOKED, now)
    on.execute(update(BATCHES).where(BATCHES.c.key_id == key_id, without_credits).values(reason=KEY_REVOKED))


def _pause(on: Connection, account_id: str, batch_id: str, now: datetime) -> Batch | None:
    batch = _find(on, account_id, batch_id, lock=True)
    if batch is None:
        return None
    if batch.state == "paused":  # for want of credits, it may be: now it stays so
        on.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(reason=REQUESTED))
    elif batch.state in OPEN:
        pause(on, batch, REQUESTED, now)
    else:
        raise ValueError(f"the batch is {batch.state}: only one that is queued or running can be paused")
    return _find(on, account_id, batch_id)


def _resume(on: Connection, account_id: str, batch_id: str) -> Batch | None:
    batch = _find(on, account_id, batch_id, lock=True)
    if batch is None:
        return None
    if batch.state != "paused":
        raise ValueError(f"the batch is {batch.state}: only one that is paused can be resumed")
    state = "running" if batch.started else "queued"
    on.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(state=state, reason=None))
    return _find(on, account_id, batch_id)


def _cancel(on: Connection, account_id: str, batch_id: str, now: datetime) -> Batch | None:
    batch = _find(on, account_id, batch_id, lock=True)
    if batch is None:
        return None
    if batch.state not in OPEN:
        raise ValueError(f"the batch is {batch.state}: only one that has not ended can be cancelled")
    on.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(state="cancelled", reason=None, ended=now))
    announce(on, batch, BatchCancelled(**about(batch)), now)
    return _find(on, account_id, batch_id)


def _retry_some(account_id: str, batch_id: str, after: int, now: datetime, on: Connection) -> int | None:
    """Open some chunks with failures again; returns the number of the last one, None where there is no further one."""
    batch = _find(on, account_id, batch_id)
    if batch is None:
        return None
    if batch.state not in ("done", "paused", "queued", "running"):
        raise ValueError(f"the batch is {batch.state}: only failures of one that is not cancelled can be retried")
    failed = CHUNKS.c.ended - _with_record()
    query = select(CHUNKS.c.number, CHUNKS.c.first_row, CHUNKS.c.last_row)
    query = query.where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.number > after, failed > 0)
    query = query.where(CHUNKS.c.state.in_(["done", "poison"]))
    chunks = on.execute(query.order_by(CHUNKS.c.number).limit(RETRIED_AT_ONCE)).all()
    for chunk in chunks:
        on.execute(_failures(batch_id, chunk.first_row, chunk.last_row))
        _reopen(on, batch_id, chunk.number, now)
    if chunks:
        values: dict[str, Any] = {"chunks_done": BATCHES.c.chunks_done - len(chunks), "counts": None}
        if batch.state == "done":
            values |= {"state": "running", "ended": None, "retries": BATCHES.c.retries + 1, "announced": 100}
        on.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(**values))
    return chunks[-1].number if len(chunks) == RETRIED_AT_ONCE else None


def _failures(batch_id: str, first: int, last: int) -> Delete:
    return delete(RESULTS).where(RESULTS.c.batch_id == batch_id, RESULTS.c.row.between(first, last), RESULTS.c.failed)


def _reopen(on: Connection, batch_id: str, number: int, now: datetime) -> None:
    values: dict[str, Any] = {name: 0 for name in OUTCOMES if name not in WITH_RECORD}
    change = update(CHUNKS).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.number == number)
    fresh = {"state": "open", "due": now, "issued": False, "attempts": 0, "rounds": 0, "reason": None, "moved": False}
    on.execute(change.values(**values, **fresh, ended=_with_record()))


def _with_record() -> ColumnElement[Any]:
    """The rows of a chunk that have a record."""
    return CHUNKS.c.ok + CHUNKS.c.empty + CHUNKS.c.degraded


def _result(row: Row[Any]) -> Result:
    names = ("row", "outcome", "ended", "engine", "attempts", "cost", "cached", "kind", "error", "place")
    record = None if row.record is None else unpacked(row.record)
    return Result(**{name: getattr(row, name) for name in names}, record=record)


def _remove_old(on: Connection, before: datetime, forgotten: datetime, most: int) -> int:
    """Remove rows of the first batch that is old: its results first, itself last; and the names of old submissions."""
    on.execute(delete(SUBMISSIONS).where(SUBMISSIONS.c.time < forgotten))
    unpublished = (BATCHES.c.state == SUBMITTING) & (BATCHES.c.created < forgotten)
    query = select(BATCHES.c.id).where((BATCHES.c.ended < before) | unpublished).order_by(BATCHES.c.ended).limit(1)
    batch_id = on.execute(query).scalar()
    if batch_id is None:
        return 0
    for table, key in ((RESULTS, "row"), (CHUNK_QUERIES, "number"), (CHUNKS, "number")):
        some = select(table.c[key]).where(table.c.batch_id == batch_id).order_by(table.c[key]).limit(most)
        removed = on.execute(delete(table).where(table.c.batch_id == batch_id, table.c[key].in_(some))).rowcount
        if removed:
            return removed
    return on.execute(delete(BATCHES).where(BATCHES.c.id == batch_id)).rowcount
