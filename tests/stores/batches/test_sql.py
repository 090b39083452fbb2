"""Batches on SQLite and PostgreSQL: what their owners do with them, and how rows end."""

import asyncio
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from sqlalchemy import delete, func, select
from ulid import ULID

from webdata.accounts.access.api_keys import new_key
from webdata.domain.errors import ConflictError, OutOfCreditsError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.accounts.tables import EVENTS, MOVEMENTS
from webdata.stores.batches.model import Batch, ChunkStates, Counts, EndedRow, LeasedError, QueryRow, RowResult, Ticket
from webdata.stores.batches.sql import pause
from webdata.stores.batches.tables import BATCHES, CHUNKS, RESULTS
from webdata.stores.sql_stores import SqlStores
from webdata.stores.webhooks.model import Webhook

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(seconds=8)
LATER = NOW + timedelta(minutes=1)
HERE, THERE = "here:1:1", "there:2:2"
RECORD = b'{"results":[]}'


def alive(_process):
    return False


def dead(_process):
    return True


@pytest.fixture
def stores(url):
    with SqlStores(url) as stores:
        yield stores


async def submitted(stores, rows=5, chunk_rows=2, **fields):
    """A batch of so many rows, numbered from 1."""
    given = {"account_id": DEFAULT_ACCOUNT, "key_id": "key_1", "test": False, "resource": "web_search", "created": NOW}
    batch = Batch(f"bat_{ULID()}", **{**given, **fields})
    await stores.batches.begin(batch)
    queries = [QueryRow(row, orjson.dumps({"q": f"coffee {row}"})) for row in range(1, rows + 1)]
    chunks = [queries[start : start + chunk_rows] for start in range(0, rows, chunk_rows)]
    await stores.batches.add_chunks(batch.id, 0, chunks[:1])
    if chunks[1:]:
        await stores.batches.add_chunks(batch.id, 1, chunks[1:])
    return await stores.batches.publish(batch.id, NOW)


async def add_webhook(stores):
    webhook = Webhook("whk_1", DEFAULT_ACCOUNT, "https://me.example/", ("*",), "", "secret", NOW, confirmed=NOW)
    await stores.webhooks.add(webhook, 10)


async def taken(stores, batch, number=0, process=HERE):
    return await stores.chunks.take(Ticket(batch.id, number), process, NOW, SOON, alive)


def ended(batch, chunk, row, outcome="ok", **fields):
    record = {"record": RECORD} if outcome in ("ok", "empty") else {"kind": "captcha", "error": "a captcha"}
    return EndedRow(
        batch, chunk, RowResult(row, outcome, NOW, **{"cost": int(outcome in ("ok", "empty")), **record, **fields})
    )


async def end_all(stores, batch, rows=range(1, 6), **fields):
    await asyncio.gather(*(stores.chunks.end_row(ended(batch, (row - 1) // 2, row, **fields)) for row in rows))


def count(stores, table, *conditions):
    with stores._database.reads.connect() as connection:
        return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar()


def events(stores):
    with stores._database.reads.connect() as connection:
        rows = connection.execute(select(EVENTS.c.type, EVENTS.c.body).order_by(EVENTS.c.id)).all()
    return [(row.type, orjson.loads(row.body)["data"]) for row in rows]


@pytest.mark.task
async def test_a_batch_is_seen_when_all_of_it_is_there(stores):
    """Nobody sees a batch, nor runs it, before it is published."""
    batch = Batch(f"bat_{ULID()}", DEFAULT_ACCOUNT, "key_1", False, "web_search", NOW, label="weekly")
    await stores.batches.begin(batch)
    await stores.batches.add_chunks(batch.id, 0, [[QueryRow(1, b'{"q":"a"}'), QueryRow(3, b'{"q":"b"}')]])
    assert await stores.batches.find(DEFAULT_ACCOUNT, batch.id) is None
    assert await stores.batches.page(DEFAULT_ACCOUNT, 10) == []
    assert await stores.chunks.issue(["web_search"], False, NOW, SOON, 10) == []
    published = await stores.batches.publish(batch.id, NOW)
    assert (published.state, published.rows, published.label, published.counts) == ("queued", 2, "weekly", Counts())
    assert await stores.batches.page(DEFAULT_ACCOUNT, 10) == [published]
    assert await stores.batches.queries(batch.id, 0) == [QueryRow(1, b'{"q":"a"}'), QueryRow(3, b'{"q":"b"}')]


@pytest.mark.task
async def test_a_batch_of_nothing_is_not_published(stores):
    """A batch without queries cannot be published; a discarded one leaves nothing."""
    batch = Batch(f"bat_{ULID()}", DEFAULT_ACCOUNT, "key_1", False, "web_search", NOW)
    await stores.batches.begin(batch)
    with pytest.raises(LookupError, match="has no queries"):
        await stores.batches.publish(batch.id, NOW)
    await stores.batches.discard(batch.id)
    assert await stores.batches.remove_old(LATER, LATER, 10) == 0


@pytest.mark.task
async def test_a_batch_runs_to_its_end(stores):
    """Each row has a result and is charged once; the last one ends the batch and adds one event."""
    await add_webhook(stores)
    batch = await submitted(stores)
    chunk = await taken(stores, batch)
    assert [(row, query["q"]) for row, query in chunk.rows] == [(1, "coffee 1"), (2, "coffee 2")]
    assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).state == "running"
    await end_all(stores, batch, range(1, 5))
    assert await stores.batches.complete_to(batch.id) == 4
    await stores.chunks.end_row(ended(batch, 2, 5, "blocked"))
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts) == ("done", Counts(5, 4, 0, {"ok": 4, "blocked": 1}))
    assert await stores.batches.complete_to(batch.id) is None
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 996
    assert [data for kind, data in events(stores) if kind == "batch.completed"] == [
        {
            "id": batch.id,
            "label": "",
            "resource": "web_search",
            "rows": 5,
            "outcomes": {"ok": 4, "blocked": 1},
            "cost": 4,
        }
    ]
    assert {data["percent"] for kind, data in events(stores) if kind == "batch.progress"} <= {30, 60}


@pytest.mark.task
async def test_a_row_ends_once(stores):
    """A row that ends twice, at the same time or later, has the first result and one charge."""
    batch = await submitted(stores)
    twice = [stores.chunks.end_row(ended(batch, 0, 1)) for _ in range(2)]
    assert sorted(await asyncio.gather(*twice)) == [False, True]
    assert await stores.chunks.end_row(ended(batch, 0, 1, "blocked")) is False
    assert [(one.row, one.outcome, one.record) for one in await stores.batches.results(batch.id, 0, 10)] == [
        (1, "ok", RECORD)
    ]
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 999
    assert count(stores, MOVEMENTS, MOVEMENTS.c.request_id == f"{batch.id}/1") == 1


@pytest.mark.task
async def test_a_row_that_cannot_be_written_is_alone(stores):
    """A row whose request was charged before fails, and those that end at the same time are written."""
    batch = await submitted(stores)
    await stores.ledger.reserve(DEFAULT_ACCOUNT, f"{batch.id}/2", "web_search", "key_1")
    rows = [ended(batch, 0, 1), ended(batch, 0, 2), ended(batch, 1, 3)]
    ends = await asyncio.gather(*map(stores.chunks.end_row, rows), return_exceptions=True)
    assert [end is True for end in ends] == [True, False, True]
    assert [one.row for one in await stores.batches.results(batch.id, 0, 10)] == [1, 3]


@pytest.mark.task
async def test_what_costs_nothing(stores):
    """Cached rows and failures are not charged, and rows of a test key are not in the ledger at all."""
    batch = await submitted(stores)
    await stores.chunks.end_row(ended(batch, 0, 1, cost=0, cached=True))
    await stores.chunks.end_row(ended(batch, 0, 2, "blocked"))
    of_test = await submitted(stores, test=True)
    await stores.chunks.end_row(ended(of_test, 0, 1))
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000
    (usage,) = await stores.ledger.usage(DEFAULT_ACCOUNT, "engine", NOW, LATER)
    assert (usage.group, usage.calls, usage.credits, usage.cached) == ("web_search", 1, 0, 1)


@pytest.mark.task
async def test_usage_counts_the_rows_of_batches(stores):
    """A row that was charged is a call of its endpoint, and a credit."""
    batch = await submitted(stores)
    await end_all(stores, batch)
    (usage,) = await stores.ledger.usage(DEFAULT_ACCOUNT, "engine", NOW, LATER)
    assert (usage.calls, usage.credits) == (5, 5)


@pytest.mark.task
async def test_a_batch_without_credits_pauses(stores):
    """A row that cannot be paid is not written, its batch pauses, and goes on when there are credits."""
    await add_webhook(stores)
    batch = await submitted(stores)
    await stores.ledger.credit(DEFAULT_ACCOUNT, -998)
    ends = await asyncio.gather(
        *(stores.chunks.end_row(ended(batch, (row - 1) // 2, row)) for row in range(1, 6)), return_exceptions=True
    )
    assert ends.count(True) == 2
    assert sum(isinstance(end, OutOfCreditsError) for end in ends) == 3
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.reason, found.counts.ended) == ("paused", "out_of_credits", 2)
    assert len(await stores.batches.results(batch.id, 0, 10)) == 2
    assert [data["reason"] for kind, data in events(stores) if kind == "batch.paused"] == ["out_of_credits"]
    assert await stores.chunks.resume_paid() == 0
    await stores.ledger.credit(DEFAULT_ACCOUNT, 10)
    assert await stores.chunks.resume_paid() == 1
    assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).state == "running"


@pytest.mark.task
async def test_a_chunk_has_one_worker(stores):
    """A chunk that is leased is refused to others until the lease ends, or its process is dead."""
    batch = await submitted(stores)
    ticket = Ticket(batch.id, 0)
    await taken(stores, batch)
    with pytest.raises(LeasedError):
        await taken(stores, batch, process=THERE)
    assert await stores.chunks.take(ticket, THERE, NOW, SOON, dead)
    assert await stores.chunks.take(ticket, HERE, LATER, LATER, alive)


@pytest.mark.task
async def test_rows_that_have_ended_are_skipped(stores):
    """A worker that takes a chunk anew gets the rows without results."""
    batch = await submitted(stores)
    await taken(stores, batch)
    await stores.chunks.end_row(ended(batch, 0, 1))
    chunk = await stores.chunks.take(Ticket(batch.id, 0), THERE, LATER, LATER, alive)
    assert [row for row, _ in chunk.rows] == [2]


@pytest.mark.task
async def test_a_lease_is_renewed_while_rows_may_begin(stores):
    """The leases of other processes are not renewed, and those of a paused batch are not to go on."""
    batch, other = await submitted(stores), await submitted(stores)
    tickets = [Ticket(batch.id, 0), Ticket(other.id, 0), Ticket(other.id, 1)]
    for ticket, process in zip(tickets, (HERE, HERE, THERE), strict=True):
        await stores.chunks.take(ticket, process, NOW, SOON, alive)
    assert await stores.chunks.renew(HERE, tickets, LATER) == {(batch.id, 0), (other.id, 0)}
    await stores.batches.pause(DEFAULT_ACCOUNT, batch.id, NOW)
    assert await stores.chunks.renew(HERE, tickets, LATER) == {(other.id, 0)}
    with pytest.raises(LeasedError):
        await stores.chunks.take(tickets[1], THERE, SOON, LATER, alive)


@pytest.mark.task
async def test_a_poisoned_chunk_is_set_aside(stores):
    """A chunk that was begun five times without the end of a row ends as failures, and so does its batch."""
    batch = await submitted(stores, rows=3)
    for _ in range(5):
        assert await stores.chunks.take(Ticket(batch.id, 0), HERE, LATER, NOW, alive)
    assert await stores.chunks.take(Ticket(batch.id, 0), HERE, LATER, NOW, alive) is None
    await end_all(stores, batch, [3])
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts.outcomes) == ("done", {"ok": 1, "internal": 2})
    assert await stores.batches.failures_by_kind(batch.id) == {("internal", "poison"): 2}
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 999


@pytest.mark.task
async def test_a_row_that_ends_makes_its_chunk_whole_again(stores):
    """Attempts count from the last row that has ended."""
    batch = await submitted(stores)
    for _ in range(4):
        await stores.chunks.take(Ticket(batch.id, 0), HERE, LATER, NOW, alive)
    await stores.chunks.end_row(ended(batch, 0, 1))
    for _ in range(5):
        assert await stores.chunks.take(Ticket(batch.id, 0), HERE, LATER, NOW, alive)


@pytest.mark.task
async def test_a_chunk_that_is_put_off_waits(stores):
    """A chunk that is put back has no ticket until it is due, and its rounds are counted."""
    batch = await submitted(stores, rows=2)
    (ticket,) = await stores.chunks.issue(["web_search"], False, NOW, SOON, 10)
    await taken(stores, batch)
    await stores.chunks.put_back(ticket, HERE, LATER, put_off=True)
    assert await stores.chunks.issue(["web_search"], False, SOON, LATER, 10) == []
    assert len(await stores.chunks.issue(["web_search"], False, LATER, LATER, 10)) == 1
    assert (await stores.chunks.take(ticket, HERE, NOW, SOON, alive)).rounds == 1


@pytest.mark.task
async def test_tickets_are_issued_once_and_heal(stores):
    """A chunk has one ticket, and another one where the first was lost."""
    batch = await submitted(stores)
    first = await stores.chunks.issue(["web_search"], False, NOW, SOON, 2)
    assert [(one.batch_id, one.number) for one in first] == [(batch.id, 0), (batch.id, 1)]
    assert [one.number for one in await stores.chunks.issue(["web_search"], False, NOW, SOON, 2)] == [2]
    assert await stores.chunks.issue(["web_search"], False, NOW, SOON, 2) == []
    assert await stores.chunks.issue(["maps"], False, LATER, LATER, 10) == []
    assert len(await stores.chunks.issue(["web_search"], False, LATER, LATER, 10)) == 3
    await stores.chunks.forget_tickets(NOW)
    assert len(await stores.chunks.issue(["web_search"], False, NOW, LATER, 10)) == 3


@pytest.mark.task
async def test_the_account_with_the_fewest_tickets_is_first(stores):
    """Accounts get tickets in turn; within an account those of a higher priority come first."""
    await stores.accounts.add(Account("acc_2", "second", DEFAULT_PLAN, NOW))
    large = await submitted(stores, rows=20)
    urgent = await submitted(stores, rows=2, priority=5)
    first = await stores.chunks.issue(["web_search"], False, NOW, SOON, 4)
    assert [one.batch_id for one in first] == [urgent.id, *[large.id] * 3]
    assert [one.priority for one in first] == [0, -1, -2, -3]
    other = await submitted(stores, rows=20, account_id="acc_2")
    second = await stores.chunks.issue(["web_search"], False, NOW, SOON, 6)
    assert [one.batch_id for one in second[:4]] == [other.id] * 4
    assert [one.priority for one in second[:4]] == [0, -1, -2, -3]
    assert {one.batch_id for one in second[4:]} == {large.id, other.id}


@pytest.mark.task
async def test_pause_resume_cancel(stores):
    """A paused batch gets no tickets until it is resumed; a cancelled one keeps what has ended."""
    await add_webhook(stores)
    batch = await submitted(stores)
    assert (await stores.batches.pause(DEFAULT_ACCOUNT, batch.id, NOW)).reason == "requested"
    assert await stores.chunks.issue(["web_search"], False, NOW, SOON, 10) == []
    assert await taken(stores, batch) is None
    assert (await stores.batches.resume(DEFAULT_ACCOUNT, batch.id)).state == "queued"
    await stores.chunks.end_row(ended(batch, 0, 1))
    cancelled = await stores.batches.cancel(DEFAULT_ACCOUNT, batch.id, NOW)
    assert (cancelled.state, cancelled.ended, cancelled.counts.ended) == ("cancelled", NOW, 1)
    assert await stores.chunks.issue(["web_search"], False, LATER, LATER, 10) == []
    await end_all(stores, batch, range(2, 6))
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts.ended) == ("cancelled", 5)
    assert [kind for kind, _ in events(stores)] == ["batch.paused", "batch.cancelled"]


@pytest.mark.task
async def test_the_batches_of_a_revoked_key_pause(stores):
    """They begin no further row, not with new credits either, nor on request; those of other keys go on."""
    await add_webhook(stores)
    key, _ = new_key("leaked", test=False)
    await stores.keys.add(key)
    running, poor = [await submitted(stores, key_id=key.id) for _ in range(2)]
    other = await submitted(stores)
    await stores._database.write(lambda connection: pause(connection, poor, "out_of_credits", NOW))
    await stores.keys.revoke(key.id, NOW)
    late = await submitted(stores, key_id=key.id)
    assert (late.state, late.reason) == ("paused", "key_revoked")
    assert await stores.chunks.resume_paid() == 0
    for batch in (running, poor, late):
        found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
        assert (found.state, found.reason) == ("paused", "key_revoked")
    assert {ticket.batch_id for ticket in await stores.chunks.issue(["web_search"], False, NOW, SOON, 10)} == {other.id}
    with pytest.raises(ConflictError, match=r"was revoked.* another key"):
        await stores.batches.resume(DEFAULT_ACCOUNT, running.id)
    paused = [data["reason"] for kind, data in events(stores) if kind == "batch.paused"]
    assert sorted(paused) == ["key_revoked", "key_revoked", "out_of_credits"]


@pytest.mark.task
async def test_the_failures_of_a_revoked_key_are_not_retried(stores):
    """A batch that is done stays as it is when its key was revoked: its failures are not run again."""
    key, _ = new_key("leaked", test=False)
    await stores.keys.add(key)
    batch = await submitted(stores, key_id=key.id)
    await end_all(stores, batch, outcome="blocked")
    await stores.keys.revoke(key.id, NOW)
    with pytest.raises(ConflictError, match="was revoked"):
        await stores.batches.retry_failures(DEFAULT_ACCOUNT, batch.id, NOW)
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts.outcomes) == ("done", {"blocked": 5})
    assert await stores.chunks.active() == set()


@pytest.mark.task
async def test_retries_at_the_same_time(stores):
    """Failures that are retried by several callers at once are opened once: the batch ends when they have ended."""
    batch = await submitted(stores, rows=20)
    await end_all(stores, batch, range(1, 21), outcome="blocked")
    retries = [stores.batches.retry_failures(DEFAULT_ACCOUNT, batch.id, NOW) for _ in range(8)]
    assert {one.state for one in await asyncio.gather(*retries)} == {"running"}
    assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).counts == Counts()
    await end_all(stores, batch, range(1, 21))
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts) == ("done", Counts(20, 20, 0, {"ok": 20}))


@pytest.mark.task
async def test_a_batch_that_is_removed_is_gone_at_once(stores):
    """A batch of which rows are removed is not seen any more, so that nobody retries what is left of it."""
    batch = await submitted(stores)
    await end_all(stores, batch, outcome="blocked")
    assert await stores.batches.remove_old(datetime.now(UTC) + timedelta(days=1), NOW, 2) == 2
    assert await stores.batches.find(DEFAULT_ACCOUNT, batch.id) is None
    assert await stores.batches.retry_failures(DEFAULT_ACCOUNT, batch.id, NOW) is None
    assert await stores.batches.page(DEFAULT_ACCOUNT, 10) == []


@pytest.mark.task
async def test_counts_are_kept_with_the_batch(stores):
    """What a batch shows is read from a row for each kind of end, however many rows have ended."""
    batch = await submitted(stores)
    await end_all(stores, batch, [1, 2, 3], outcome="blocked")
    await end_all(stores, batch, [4, 5])
    with stores._database.writes.begin() as connection:
        connection.execute(delete(RESULTS))
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.counts, await stores.batches.failures_by_kind(batch.id)) == (
        Counts(5, 2, 0, {"ok": 2, "blocked": 3}),
        {("blocked", "captcha"): 3},
    )


@pytest.mark.task
async def test_a_batch_is_not_published_for_an_account_that_was_deleted_meanwhile(stores):
    """What was submitted while its account was deleted is refused with that reason, and nothing is left of it."""
    await stores.accounts.add(Account("acc_2", "other", DEFAULT_PLAN, NOW))
    batch = Batch("bat_1", "acc_2", "key_1", False, "web_search", NOW)
    await stores.batches.begin(batch)
    await stores.batches.add_chunks(batch.id, 0, [[QueryRow(1, b"{}")]])
    await stores.accounts.delete("acc_2", LATER)
    with pytest.raises(ConflictError, match="was deleted"):
        await stores.batches.publish(batch.id, LATER)
    await stores.batches.discard(batch.id)
    assert [count(stores, table) for table in (BATCHES, CHUNKS)] == [0, 0]


@pytest.mark.task
async def test_the_batches_of_a_deleted_account_are_cancelled(stores):
    """When an account is deleted, none of its rows begins any more, and other accounts' batches go on."""
    await stores.accounts.add(Account("acc_2", "two", DEFAULT_PLAN, NOW))
    theirs, ours = await submitted(stores, account_id="acc_2"), await submitted(stores)
    await stores.accounts.delete("acc_2", LATER)
    assert (await stores.batches.find("acc_2", theirs.id)).state == "cancelled"
    assert await taken(stores, theirs) is None
    assert (await stores.batches.find(DEFAULT_ACCOUNT, ours.id)).state == "queued"


@pytest.mark.task
@pytest.mark.parametrize("change", ["pause", "resume", "cancel"])
async def test_what_a_state_does_not_allow_is_refused(stores, change):
    """A batch that is done is neither paused nor resumed nor cancelled; that of another account does not exist."""
    batch = await submitted(stores)
    await end_all(stores, batch)
    now = () if change == "resume" else (NOW,)
    with pytest.raises(ConflictError, match="the batch is done"):
        await getattr(stores.batches, change)(DEFAULT_ACCOUNT, batch.id, *now)
    assert await getattr(stores.batches, change)("acc_2", batch.id, *now) is None


@pytest.mark.task
async def test_failures_are_retried(stores):
    """Retried failures are open rows again, and end once more; what has a record stays."""
    await add_webhook(stores)
    batch = await submitted(stores)
    await end_all(stores, batch, [1, 4, 5])
    await end_all(stores, batch, [2, 3], outcome="blocked")
    retried = await stores.batches.retry_failures(DEFAULT_ACCOUNT, batch.id, NOW)
    assert (retried.state, retried.ended, retried.counts) == ("running", None, Counts(3, 3, 0, {"ok": 3}))
    assert await stores.batches.results(batch.id, 0, 10, "failures") == []
    assert [row for row, _ in (await taken(stores, batch, 1)).rows] == [3]
    await end_all(stores, batch, [2, 3])
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.state, found.counts.outcomes) == ("done", {"ok": 5})
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 995
    assert [kind for kind, _ in events(stores)].count("batch.completed") == 2


@pytest.mark.task
async def test_results_are_read_page_by_page(stores):
    """Results come in the order of the rows, after a row, all or only the failures."""
    batch = await submitted(stores)
    await end_all(stores, batch, [5, 1, 3])
    await end_all(stores, batch, [2, 4], outcome="blocked")
    assert [one.row for one in await stores.batches.results(batch.id, 1, 3)] == [2, 3, 4]
    failures = await stores.batches.results(batch.id, 0, 10, "failures")
    assert [(one.row, one.kind, one.error) for one in failures] == [
        (2, "captcha", "a captcha"),
        (4, "captcha", "a captcha"),
    ]
    assert [one.row for one in await stores.batches.results(batch.id, 1, 10, "records")] == [3, 5]


@pytest.mark.task
async def test_batches_are_listed_newest_first(stores):
    """A page of batches ends before an id, and may have one state."""
    first, second, third = [await submitted(stores, rows=1) for _ in range(3)]
    await end_all(stores, second, [1])
    assert [one.id for one in await stores.batches.page(DEFAULT_ACCOUNT, 2)] == [third.id, second.id]
    assert [one.id for one in await stores.batches.page(DEFAULT_ACCOUNT, 2, before=second.id)] == [first.id]
    (done,) = await stores.batches.page(DEFAULT_ACCOUNT, 5, state="done")
    assert (done.id, done.counts.outcomes) == (second.id, {"ok": 1})


@pytest.mark.task
async def test_old_batches_are_removed_in_steps(stores):
    """A batch that ended long ago is removed some rows at a time, and one that is open never."""
    old, young = await submitted(stores), await submitted(stores)
    await end_all(stores, old)
    removed = []
    while more := await stores.batches.remove_old(datetime.now(UTC) + timedelta(days=1), NOW, 2):
        removed.append(more)
    assert max(removed) == 2
    assert [one.id for one in await stores.batches.page(DEFAULT_ACCOUNT, 5)] == [young.id]
    assert await stores.batches.results(old.id, 0, 10) == []
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 995


@pytest.mark.task
async def test_leases_of_dead_processes_are_freed(stores):
    """The chunks of processes that have died are issued at once."""
    batch = await submitted(stores)
    await stores.chunks.issue(["web_search"], False, NOW, LATER, 10)
    await taken(stores, batch)
    assert await stores.chunks.free(alive, NOW) == 0
    assert await stores.chunks.free(dead, NOW) == 1
    assert [one.number for one in await stores.chunks.issue(["web_search"], False, NOW, LATER, 10)] == [0]


@pytest.mark.task
async def test_one_process_leads(stores):
    """Another process leads when the time of the first is over."""
    assert await stores.chunks.lead("feeder", HERE, NOW, SOON)
    assert not await stores.chunks.lead("feeder", THERE, NOW, SOON)
    assert await stores.chunks.lead("feeder", HERE, NOW, SOON)
    assert await stores.chunks.lead("schedules", THERE, NOW, SOON)
    assert await stores.chunks.lead("feeder", THERE, LATER, LATER + timedelta(seconds=8))


@pytest.mark.task
async def test_chunks_are_counted_by_state(stores):
    """Metrics see the chunks of open batches, and how old the oldest is."""
    batch = await submitted(stores)
    await taken(stores, batch)
    await end_all(stores, batch, [3, 4])
    states = await stores.chunks.states()
    assert states == ChunkStates({"open": 1, "running": 1, "done": 1}, 0, NOW)
    await stores.chunks.issue(["web_search"], False, NOW, SOON, 10)
    assert (await stores.chunks.states()).tickets == 1


@pytest.mark.task
async def test_stores_at_the_same_time_write_each_row_once(url):
    """Rows of one batch that two processes end at the same time are written and charged once, and it ends once."""
    with SqlStores(url) as one, SqlStores(url) as two:
        await add_webhook(one)
        batch = await submitted(one, rows=60, chunk_rows=3)
        rows = [ended(batch, (row - 1) // 3, row) for row in range(1, 61)]
        ends = await asyncio.gather(*(store.chunks.end_row(row) for row in rows for store in (one, two)))
        assert sum(ends) == 60
        assert (await one.batches.find(DEFAULT_ACCOUNT, batch.id)).state == "done"
        assert await one.ledger.balance(DEFAULT_ACCOUNT) == 940
        assert [kind for kind, _ in events(one)].count("batch.completed") == 1


@pytest.mark.task
async def test_the_rows_that_have_ended_are_counted(stores):
    """Those of the batches of an account since a time, those of test keys and of the cache apart."""
    assert await stores.batches.ended_since(DEFAULT_ACCOUNT, NOW) == (0, 0, 0, 0)
    live, test = await submitted(stores), await submitted(stores, test=True)
    await end_all(stores, live, range(1, 4), cost=0, cached=True)
    await end_all(stores, test, range(1, 3))
    assert await stores.batches.ended_since(DEFAULT_ACCOUNT, NOW) == (2, 5, 2, 3)
    assert await stores.batches.ended_since(DEFAULT_ACCOUNT, LATER) == (0, 0, 0, 0)
    assert await stores.batches.ended_since("acc_other", NOW) == (0, 0, 0, 0)
