"""Batches and their results in an SQL database, as their owners see them: a batch of another one does not exist."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Row, case, delete, func, insert, select, true, update

from webdata.domain.errors import ConflictError
from webdata.domain.events import BatchCancelled, BatchPaused, Event, EventData
from webdata.domain.outcome import WITH_RECORD
from webdata.stores.accounts.locks import hold_accounts, is_key_revoked, lock_account
from webdata.stores.accounts.tables import WEBHOOKS
from webdata.stores.batches.ended import EndedRows, ended_rows, select_ended
from webdata.stores.batches.model import (
    KEY_REVOKED,
    OUT_OF_CREDITS,
    REQUESTED,
    Batch,
    BatchState,
    Counts,
    QueryRow,
    Reach,
    RowResult,
    Stored,
    Submitted,
    WaitingRows,
    Which,
)
from webdata.stores.batches.quotas import check_quota, quota, stored, within_quota
from webdata.stores.batches.submissions import add_submission, earlier_submission
from webdata.stores.batches.tables import (
    BATCH_COUNTS,
    BATCHES,
    CHUNK_QUERIES,
    CHUNKS,
    RESULTS,
    SUBMISSIONS,
    WAITS,
)
from webdata.stores.database.packing import packed, unpacked
from webdata.stores.database.store import Store, reading, reading_apart, writing
from webdata.stores.webhooks.outbox import ENABLED, add_event_for, add_events

SUBMITTING = "submitting"
REMOVING = "removing"
HIDDEN = (SUBMITTING, REMOVING)
"""States of batches that nobody sees: those that are not complete yet, and those that are removed in steps."""
BEGINS = ("queued", "running")
"""The states of a batch in which rows begin."""
OPEN_STATES = (*BEGINS, "paused")
RETRIED_AT_ONCE = 20
"""Chunks whose failures are removed in one transaction."""
RETRIED = (*OPEN_STATES, "done")
"""The states of a batch whose failures may be retried."""
KEY_IS_REVOKED = (
    "the key that made the batch was revoked, so none of its queries runs again: submit them with another key"
)


class BatchStore(Store):
    """The batches of accounts, in the tables `batches`, `chunks`, `chunk_queries` and `results`."""

    async def begin(self, batch: Batch) -> None:
        """Begin to add a batch, which nobody sees until `publish`."""
        await self._database.write(
            lambda connection: connection.execute(insert(BATCHES), _row_of(batch)), durable=False
        )

    @writing(durable=False)
    def add_chunks(
        self, connection: Connection, batch_id: str, first: int, chunks: Sequence[Sequence[QueryRow]]
    ) -> None:
        """Add chunks of CHUNK_ROWS queries each, the last of a batch has fewer; `first` is the number of the first.

        Numbers begin at 0 and have no gaps. Some hundred chunks at a time are written in some 10 ms.
        """
        ids = [{"batch_id": batch_id, "number": number} for number, _ in enumerate(chunks, first)]
        due = connection.execute(select(BATCHES.c.created).where(BATCHES.c.id == batch_id)).scalar_one()
        fresh = {"state": "open", "due": due, "issued": False, "attempts": 0, "rounds": 0}
        bounds = [{"first_row": rows[0].row, "last_row": rows[-1].row, "size": len(rows)} for rows in chunks]
        connection.execute(insert(CHUNKS), [{**one, **fresh, **bound} for one, bound in zip(ids, bounds, strict=True)])
        queries = [{**one, "queries": _packed_queries(rows)} for one, rows in zip(ids, chunks, strict=True)]
        connection.execute(insert(CHUNK_QUERIES), queries)

    @writing()
    def publish(
        self, connection: Connection, batch_id: str, now: datetime, submitted: Submitted | None = None
    ) -> Batch:
        """Make a batch with all of its chunks visible and ready to run. Raises LookupError for one that has none.

        Raises QuotaError where its account then stored more than its plan allows, also where several are published at
        once. With `submitted` raises AlreadySubmittedError, and changes nothing, where there is one under its name that
        is younger than REPEATED_WITHIN.
        """
        if submitted:
            add_submission(connection, submitted)
        query = select(func.count(), func.sum(CHUNKS.c.size)).where(CHUNKS.c.batch_id == batch_id)
        chunks, rows = connection.execute(query).one()
        of_batch = (BATCHES.c.id == batch_id) & (BATCHES.c.state == SUBMITTING)
        owner = connection.execute(
            select(BATCHES.c.account_id, BATCHES.c.test, BATCHES.c.key_id).where(of_batch)
        ).first()
        row, revoked = None, False
        if owner and chunks:
            lock_account(connection, owner.account_id)
            revoked = is_key_revoked(connection, owner.key_id)
            row = _published(connection, of_batch, owner.account_id, owner.test, now, chunks, rows)
        if row is None:
            raise LookupError(f"the batch {batch_id} has no queries, or is not being submitted")
        batch = batch_of(row)
        if revoked:  # while the queries came
            pause(connection, batch, KEY_REVOKED, now)
            return replace(batch, state="paused", reason=KEY_REVOKED)
        return batch

    async def submitted(self, account_id: str, name: str, now: datetime) -> Submitted | None:
        """The submission under a name, unless it is older than REPEATED_WITHIN."""
        return await self._database.read(lambda connection: earlier_submission(connection, account_id, name, now))

    @writing(durable=False)
    def discard(self, connection: Connection, batch_id: str) -> None:
        """Remove a batch that is not published. Those that are forgotten are removed by `remove_old`."""
        unpublished = select(BATCHES.c.id).where(BATCHES.c.id == batch_id, BATCHES.c.state == SUBMITTING)
        if connection.execute(unpublished.with_for_update()).first():
            for table in (CHUNK_QUERIES, CHUNKS):
                connection.execute(delete(table).where(table.c.batch_id == batch_id))
            connection.execute(delete(BATCHES).where(BATCHES.c.id == batch_id))

    async def find(self, account_id: str, batch_id: str) -> Batch | None:
        """The batch with this id, with its counts now."""
        return await self._database.read(lambda connection: _find(connection, account_id, batch_id))

    async def page(
        self,
        account_id: str,
        limit: int,
        before: str | None = None,
        state: BatchState | None = None,
        reach: Reach | None = None,
    ) -> list[Batch]:
        """The batches of an account, newest first; those before an id, those in a state, those within a reach."""
        query = select(BATCHES).where(BATCHES.c.account_id == account_id, BATCHES.c.state.not_in(HIDDEN))
        query = query.order_by(BATCHES.c.id.desc()).limit(limit)
        if before:
            query = query.where(BATCHES.c.id < before)
        if state:
            query = query.where(BATCHES.c.state == state)
        if reach:
            query = query.where(BATCHES.c.test == reach.test)
        if reach and reach.resources:
            query = query.where(BATCHES.c.resource.in_(sorted(reach.resources)))
        return await self._database.read(lambda connection: batches_of(connection, connection.execute(query).all()))

    async def ended_since(self, account_id: str, since: datetime) -> EndedRows:
        """The rows that have ended of the batches that were made since a time."""
        query = select_ended(account_id, since, HIDDEN)
        return ended_rows(await self._database.read_apart(lambda connection: connection.execute(query).one()))

    @writing()
    def pause(self, connection: Connection, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """Begin no further row; the rows that run are finished. Adds a `batch.paused`.

        As `resume`, `cancel` and `retry_failures`: returns the batch as it is then, None where it does not exist, and
        raises ConflictError with the reason where its state does not allow it.
        """
        batch = _find(connection, account_id, batch_id, lock=True)
        if batch is None:
            return None
        if batch.state == "paused":  # for want of credits, it may be: now it stays so
            waits = update(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.reason == OUT_OF_CREDITS)
            connection.execute(waits.values(reason=REQUESTED))
        elif batch.state in OPEN_STATES:
            pause(connection, batch, REQUESTED, now)
        else:
            raise ConflictError(f"the batch is {batch.state}: only one that is queued or running can be paused")
        return _find(connection, account_id, batch_id)

    @writing()
    def resume(self, connection: Connection, account_id: str, batch_id: str) -> Batch | None:
        """Go on with a batch that is paused. Raises ConflictError also where the key that made it is revoked."""
        found = _find(connection, account_id, batch_id)
        if found is None:
            return None
        hold_accounts(connection, [account_id])
        revoked = is_key_revoked(connection, found.key_id)
        batch = _find(connection, account_id, batch_id, lock=True)
        if batch is None:
            return None
        if batch.state != "paused":
            raise ConflictError(f"the batch is {batch.state}: only one that is paused can be resumed")
        if revoked:
            raise ConflictError(KEY_IS_REVOKED)
        state = "running" if batch.started else "queued"
        connection.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(state=state, reason=None))
        return _find(connection, account_id, batch_id)

    async def cancel(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """End a batch: no further row begins, those that have ended stay. Adds a `batch.cancelled`."""
        return await self._database.write(lambda connection: _cancel(connection, account_id, batch_id, now))

    @writing()
    def delete(self, connection: Connection, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """Cancel a batch that has not ended, and have its queries and results deleted, by `free` and for ever."""
        batch = _find(connection, account_id, batch_id, lock=True)
        if batch is None or batch.deleted:
            return batch
        change = update(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.deleted.is_(None))
        connection.execute(change.values(deleted=now))
        return (
            _cancel(connection, account_id, batch_id, now)
            if batch.state in OPEN_STATES
            else _find(connection, account_id, batch_id)
        )

    @writing(durable=False)
    def free(self, connection: Connection, batch_id: str, most: int) -> int:
        """Remove at most `most` rows of a batch that was deleted; returns how many, 0 when nothing is left."""
        is_deleted = select(BATCHES.c.id).where(BATCHES.c.id == batch_id, BATCHES.c.deleted.is_not(None))
        if not connection.execute(is_deleted).first():
            return 0
        removed = _remove_rows(
            connection, batch_id, most, CHUNKS.c.state != "running"
        )  # those that run are counted to their ends
        if not removed:
            connection.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(bytes=0))
        return removed

    async def stored(self, account_id: str, test: bool) -> Stored:
        """How much the live or `test` keys of an account store."""
        return await self._database.read(lambda connection: stored(connection, account_id, test))

    async def check_quota(self, account_id: str, test: bool, more: Stored) -> None:
        """Raise QuotaError where so much more is more than the plan of an account allows."""
        await self._database.read(lambda connection: check_quota(connection, account_id, test, more))

    async def retry_failures(self, account_id: str, batch_id: str, now: datetime) -> Batch | None:
        """Run the failures of a batch that is not cancelled again; they are no results until they have ended again.

        Raises ConflictError also where the key that made it is revoked.
        """
        last: int | None = -1
        while last is not None:
            last = await self._database.write(partial(_retry_some, account_id, batch_id, last, now))
        return await self.find(account_id, batch_id)

    async def results(self, batch_id: str, after: int, limit: int, which: Which = "all") -> list[RowResult]:
        """Results of rows whose number is larger than `after`, in the order of the rows."""
        query = select(RESULTS).where(RESULTS.c.batch_id == batch_id, RESULTS.c.row > after)
        if which == "failures":
            query = query.where(RESULTS.c.failed)
        elif which == "records":
            query = query.where(~RESULTS.c.failed)
        query = query.order_by(RESULTS.c.row).limit(limit)
        return await self._database.read_apart(lambda connection: [_result(row) for row in connection.execute(query)])

    @reading
    def complete_to(self, connection: Connection, batch_id: str) -> int | None:
        """The row before the first that has not ended, or a row before that; None where all have ended.

        Rows up to it are read by `results` without a gap, while others run.
        """
        query = select(CHUNKS.c.number, CHUNKS.c.first_row, CHUNKS.c.last_row)
        query = query.where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.state.in_(["open", "running"]))
        chunk = connection.execute(query.order_by(CHUNKS.c.number).limit(1)).first()
        if chunk is None:
            return None
        ended = select(RESULTS.c.row).where(RESULTS.c.batch_id == batch_id)
        has_ended = set(
            connection.execute(ended.where(RESULTS.c.row.between(chunk.first_row, chunk.last_row))).scalars()
        )
        queries = queries_of(connection, batch_id, chunk.number) if has_ended else ()
        first = next((row for row, _ in queries if row not in has_ended), chunk.first_row)
        return first - 1

    async def failures_by_kind(self, batch_id: str) -> Mapping[tuple[str, str | None], int]:
        """The number of failures by outcome and kind."""
        row = BATCH_COUNTS.c
        query = select(row.outcome, row.kind, row.rows).where(row.batch_id == batch_id, row.rows > 0)
        query = query.where(row.outcome.not_in(WITH_RECORD))
        return await self._database.read(
            lambda connection: {(outcome, kind or None): rows for outcome, kind, rows in connection.execute(query)}
        )

    @reading_apart
    def queries(self, connection: Connection, batch_id: str, number: int) -> Sequence[QueryRow]:
        """The queries of a chunk; none where it does not exist."""
        return [QueryRow(row, orjson.dumps(query)) for row, query in queries_of(connection, batch_id, number)]

    async def chunk_after(self, batch_id: str, row: int) -> int | None:
        """The number of the first chunk with a row behind this one; None where there is none."""
        query = select(CHUNKS.c.number).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.last_row > row)
        query = query.order_by(CHUNKS.c.last_row).limit(1)
        return await self._database.read(lambda connection: connection.execute(query).scalar())

    async def last_row(self, batch_id: str, after: int, limit: int, to: int | None) -> int | None:
        """The row of the last of `limit` results behind a row, and up to another one; None where there is none."""
        query = select(RESULTS.c.row).where(RESULTS.c.batch_id == batch_id, RESULTS.c.row > after)
        if to is not None:
            query = query.where(RESULTS.c.row <= to)
        page = query.order_by(RESULTS.c.row).limit(limit).subquery()
        return await self._database.read_apart(
            lambda connection: connection.execute(select(func.max(page.c.row))).scalar()
        )

    @writing(durable=False)
    def remove_old(self, connection: Connection, before: datetime, forgotten: datetime, most: int) -> int:
        """Remove at most `most` rows of one batch that ended before a time, or was begun before `forgotten` and never
        published, or was deleted before then.

        Returns how many; 0 when nothing is left to remove.
        """
        connection.execute(delete(SUBMISSIONS).where(SUBMISSIONS.c.time < forgotten))
        batch_id = connection.execute(select(BATCHES.c.id).where(BATCHES.c.state == REMOVING).limit(1)).scalar()
        if batch_id is None:
            batch_id = _hide_old(connection, before, forgotten)
        if batch_id is None:
            return 0
        if removed := _remove_rows(connection, batch_id, most, true()):
            return removed
        connection.execute(delete(BATCH_COUNTS).where(BATCH_COUNTS.c.batch_id == batch_id))
        return connection.execute(delete(BATCHES).where(BATCHES.c.id == batch_id)).rowcount


def _row_of(batch: Batch) -> dict[str, Any]:
    row = {name: value for name, value in asdict(batch).items() if name not in ("counts", "waiting")}
    return {**row, "state": SUBMITTING, "rows": 0, "chunks": 0, "chunks_done": 0, "announced": 0, "retries": 0}


def _packed_queries(rows: Sequence[QueryRow]) -> bytes:
    return packed(orjson.dumps([(row, orjson.Fragment(query)) for row, query in rows]))


def queries_of(connection: Connection, batch_id: str, number: int) -> list[tuple[int, dict[str, Any]]]:
    """The row numbers and queries of a chunk."""
    query = select(CHUNK_QUERIES.c.queries)
    query = query.where(CHUNK_QUERIES.c.batch_id == batch_id, CHUNK_QUERIES.c.number == number)
    data = connection.execute(query).scalar()
    return [] if data is None else [(row, values) for row, values in orjson.loads(unpacked(data))]


def _published(
    connection: Connection,
    of_batch: ColumnElement[bool],
    account_id: str,
    test: bool,
    now: datetime,
    chunks: int,
    rows: int,
) -> Row[Any] | None:
    """The row of a batch that is published within the quota of its account, which is locked; raises QuotaError."""
    lengths = select(func.coalesce(func.sum(func.length(CHUNK_QUERIES.c.queries)), 0)).join(
        BATCHES, BATCHES.c.id == CHUNK_QUERIES.c.batch_id
    )
    more = Stored(rows, connection.execute(lengths.where(of_batch)).scalar_one(), 1)
    change = update(BATCHES).where(of_batch, within_quota(account_id, test, more, quota(connection, account_id, test)))
    change = change.values(state="queued", created=now, rows=rows, chunks=chunks, bytes=more.bytes)
    row = connection.execute(change.returning(*BATCHES.c)).first()
    if row is None:
        check_quota(connection, account_id, test, more)
    return row


def _find(connection: Connection, account_id: str, batch_id: str, *, lock: bool = False) -> Batch | None:
    query = select(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.account_id == account_id)
    query = query.where(BATCHES.c.state.not_in(HIDDEN))
    if lock:
        hold_accounts(connection, [account_id])
        query = query.with_for_update()
    row = connection.execute(query).first()
    return None if row is None else batches_of(connection, [row])[0]


def batches_of(connection: Connection, rows: Sequence[Row[Any]]) -> list[Batch]:
    """The batches of rows of the table, with their counts."""
    query = select(BATCH_COUNTS).where(BATCH_COUNTS.c.batch_id.in_([row.id for row in rows]))
    counts: dict[str, list[Row[Any]]] = {}
    for count in connection.execute(query.order_by(BATCH_COUNTS.c.batch_id, BATCH_COUNTS.c.outcome)):
        counts.setdefault(count.batch_id, []).append(count)
    waiting = _waiting(connection, [row.id for row in rows if row.state in BEGINS], datetime.now(UTC))
    return [replace(batch_of(row, counts.get(row.id, ())), waiting=waiting.get(row.id)) for row in rows]


def _waiting(connection: Connection, batch_ids: Sequence[str], now: datetime) -> dict[str, WaitingRows]:
    """What of batches is put off until later; only chunks that are put off are read."""
    rows, next_try = func.sum(CHUNKS.c.size - CHUNKS.c.ended), func.min(CHUNKS.c.due)
    query = select(CHUNKS.c.batch_id, rows, next_try).where(CHUNKS.c.batch_id.in_(batch_ids), WAITS, CHUNKS.c.due > now)
    found = connection.execute(query.group_by(CHUNKS.c.batch_id)) if batch_ids else ()
    return {row[0]: WaitingRows(int(row[1]), row[2]) for row in found}


def batch_of(row: Row[Any], counts: Sequence[Row[Any]] = ()) -> Batch:
    """The batch of a row of the table, with the rows of its counts."""
    names = ("id", "account_id", "key_id", "test", "resource", "created", "region", "device", "label", "priority")
    others = ("rounds", "webhook_id", "state", "reason", "started", "ended", "rows", "deleted")
    return Batch(**{name: getattr(row, name) for name in (*names, *others)}, counts=_counts(counts))


def _counts(rows: Sequence[Row[Any]]) -> Counts:
    outcomes = Counter[str]()
    for row in rows:
        outcomes[row.outcome] += row.rows
    cost, cached = sum(row.cost for row in rows), sum(row.cached for row in rows)
    return Counts(outcomes.total(), cost, cached, +outcomes)


def announce(connection: Connection, batch: Batch, data: EventData, now: datetime, once: str | None = None) -> None:
    """Add an event of a batch, for its own webhook or for all that want it."""
    event = Event(batch.account_id, data, now, once)
    if batch.webhook_id:
        own = ENABLED.where(WEBHOOKS.c.id == batch.webhook_id)
        if connection.execute(own).first():  # it may be deleted
            add_event_for(connection, event, [batch.webhook_id])
    else:
        add_events(connection, [event])


def about(batch: Batch) -> dict[str, Any]:
    """What every event says of a batch."""
    return {"id": batch.id, "label": batch.label, "resource": batch.resource, "rows": batch.rows}


def pause(connection: Connection, batch: Batch, reason: str, now: datetime) -> None:
    """Pause a batch, unless it is not open, and add the event."""
    change = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.state.in_(BEGINS))
    if connection.execute(change.values(state="paused", reason=reason)).rowcount:
        announce(connection, batch, BatchPaused(**about(batch), reason=reason), now)


def pause_batches_of_key(connection: Connection, key_id: str, now: datetime) -> None:
    """Pause the batches that a revoked key has made, also those that would go on when there are credits."""
    query = select(BATCHES).where(BATCHES.c.key_id == key_id, BATCHES.c.state.in_(OPEN_STATES)).order_by(BATCHES.c.id)
    for row in connection.execute(query.with_for_update()).all():
        pause(connection, batch_of(row), KEY_REVOKED, now)
    paused = update(BATCHES).where(BATCHES.c.key_id == key_id, BATCHES.c.state == "paused")
    connection.execute(paused.values(reason=KEY_REVOKED))


def _cancel(connection: Connection, account_id: str, batch_id: str, now: datetime) -> Batch | None:
    batch = _find(connection, account_id, batch_id, lock=True)
    if batch is None:
        return None
    if batch.state not in OPEN_STATES:
        raise ConflictError(f"the batch is {batch.state}: only one that has not ended can be cancelled")
    connection.execute(
        update(BATCHES).where(BATCHES.c.id == batch_id).values(state="cancelled", reason=None, ended=now)
    )
    announce(connection, batch, BatchCancelled(**about(batch)), now)
    return _find(connection, account_id, batch_id)


def _remove_rows(connection: Connection, batch_id: str, most: int, chunks: ColumnElement[bool]) -> int:
    """Remove at most `most` results, queries or `chunks` of a batch; returns how many."""
    for table, key, which in ((RESULTS, "row", true()), (CHUNK_QUERIES, "number", true()), (CHUNKS, "number", chunks)):
        some = select(table.c[key]).where(table.c.batch_id == batch_id, which).order_by(table.c[key]).limit(most)
        removed = connection.execute(delete(table).where(table.c.batch_id == batch_id, table.c[key].in_(some))).rowcount
        if removed:
            return removed
    return 0


def _retry_some(account_id: str, batch_id: str, after: int, now: datetime, connection: Connection) -> int | None:
    """Open some chunks with failures again; returns the number of the last one, None where there is no further one."""
    batch = _find(connection, account_id, batch_id)
    if batch is None:
        return None
    if batch.deleted:
        raise ConflictError("its queries and results were deleted: submit them again")
    hold_accounts(connection, [account_id])
    if is_key_revoked(connection, batch.key_id):
        raise ConflictError(KEY_IS_REVOKED)
    numbers = _reopened(connection, batch_id, after, now)
    done = BATCHES.c.state == "done"
    change = update(BATCHES).where(BATCHES.c.id == batch_id, BATCHES.c.state.in_(RETRIED), BATCHES.c.deleted.is_(None))
    if numbers:
        change = change.values(
            chunks_done=BATCHES.c.chunks_done - len(numbers),
            state=case((done, "running"), else_=BATCHES.c.state),
            ended=None,
            retries=BATCHES.c.retries + case((done, 1), else_=0),
            announced=case((done, 100), else_=BATCHES.c.announced),
        )
    else:
        change = change.values(retries=BATCHES.c.retries)
    if not connection.execute(change).rowcount:  # so that the chunks stay as they were
        state = connection.execute(select(BATCHES.c.state).where(BATCHES.c.id == batch_id)).scalar()
        raise ConflictError(f"the batch is {state}: only failures of one that is not cancelled can be retried")
    return numbers[-1] if len(numbers) == RETRIED_AT_ONCE else None


def _reopened(connection: Connection, batch_id: str, after: int, now: datetime) -> list[int]:
    """Open some chunks behind a number again, those that are done with failures, without their failures."""
    failed = select(CHUNKS).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.number > after, CHUNKS.c.failed > 0)
    failed = failed.where(CHUNKS.c.state.in_(["done", "poison"])).order_by(CHUNKS.c.number).limit(RETRIED_AT_ONCE)
    chunks = connection.execute(failed.with_for_update()).all()
    removed = Counter[tuple[str, str]]()
    for chunk in chunks:
        removed += _remove_failures(connection, batch_id, chunk.first_row, chunk.last_row)
    numbers = [chunk.number for chunk in chunks]
    values: dict[str, Any] = {"ended": CHUNKS.c.ended - CHUNKS.c.failed, "failed": 0, "attempts": 0, "rounds": 0}
    fresh = {"state": "open", "due": now, "issued": False, "reason": None, "moved": False}
    change = update(CHUNKS).where(CHUNKS.c.batch_id == batch_id, CHUNKS.c.number.in_(numbers))
    if numbers:
        connection.execute(change.values(**values, **fresh))
    row = BATCH_COUNTS.c
    for (outcome, kind), rows in sorted(removed.items()):
        of_kind = update(BATCH_COUNTS).where(row.batch_id == batch_id, row.outcome == outcome, row.kind == kind)
        connection.execute(of_kind.values(rows=row.rows - rows))
    return numbers


def _remove_failures(connection: Connection, batch_id: str, first: int, last: int) -> Counter[tuple[str, str]]:
    """Remove the failures between two rows; returns how many there were, by outcome and kind."""
    removal = delete(RESULTS).where(
        RESULTS.c.batch_id == batch_id, RESULTS.c.row.between(first, last), RESULTS.c.failed
    )
    removed = connection.execute(removal.returning(RESULTS.c.outcome, RESULTS.c.kind))
    return Counter((outcome, kind or "") for outcome, kind in removed)


def _result(row: Row[Any]) -> RowResult:
    names = ("row", "outcome", "ended", "engine", "attempts", "cost", "cached", "kind", "error", "place")
    record = None if row.record is None else unpacked(row.record)
    return RowResult(**{name: getattr(row, name) for name in names}, record=record)


def _hide_old(connection: Connection, before: datetime, forgotten: datetime) -> str | None:
    """Hide the first batch that is old, unless it runs again meanwhile; returns its id."""
    unpublished = (BATCHES.c.state == SUBMITTING) & (BATCHES.c.created < forgotten)
    old = (BATCHES.c.ended < before) | (BATCHES.c.deleted < forgotten) | unpublished
    first = select(BATCHES.c.id).where(old).order_by(BATCHES.c.ended).limit(1)
    batch_id = connection.execute(first.with_for_update(skip_locked=True)).scalar()
    if batch_id is not None:
        values = {"state": REMOVING, "ended": func.coalesce(BATCHES.c.ended, BATCHES.c.created)}
        connection.execute(update(BATCHES).where(BATCHES.c.id == batch_id).values(**values))
    return batch_id
