"""Workers, on SQLite with tickets in memory and on PostgreSQL."""

import asyncio
from contextlib import closing
from datetime import UTC, datetime

import pytest

from tests.batches.conftest import Answers, running, state_of, submit, until, worker_of
from webdata.batches import chunk_runs, feeder, worker
from webdata.batches.records import batch_record
from webdata.domain.errors import BlockedError, DatabaseUnavailableError, LayoutError, NotFoundError, UpstreamError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.sql_stores import SqlStores


async def is_done(stores, batch):
    return await state_of(stores, batch) == "done"


@pytest.mark.task
async def test_a_batch_runs_to_its_end(stores, url):
    """Every query of a batch is answered once and charged once."""
    calls, batch = Answers(), await submit(stores, 250)
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, batch))
    assert set(calls.asked.values()) == {1}
    assert len(await stores.batches.results(batch.id, 0, 1000)) == 250
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 750


@pytest.mark.task
async def test_a_worker_that_is_stopped_does_not_wait_for_its_database(stores, url, monkeypatch):
    """A worker ends although its results cannot be written; their rows are run by the next one."""
    monkeypatch.setattr(chunk_runs, "LAST_WRITE_SECONDS", 0.2)
    calls, batch = Answers(0.3), await submit(stores, 5)
    written = stores.chunks.end_row

    async def away(_row):
        raise DatabaseUnavailableError("its disk is full")

    async with asyncio.timeout(20):
        async with running(worker_of(stores, url, calls)):
            await until(lambda: calls.in_flight == 5)
            monkeypatch.setattr(stores.chunks, "end_row", away)
        monkeypatch.setattr(stores.chunks, "end_row", written)
        async with running(worker_of(stores, url, calls)):
            await until(lambda: is_done(stores, batch))
    assert set(calls.asked.values()) == {2}
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 995


@pytest.mark.task
async def test_the_slots_bound_what_runs_at_once(stores, url):
    """No more queries run at once than an engine's slots times ten, and as many do."""
    calls = Answers(0.02)
    batches = [await submit(stores, 300), await submit(stores, 300, account_id=await other_account(stores))]
    async with running(worker_of(stores, url, calls, slots=2)):
        for batch in batches:
            await until(lambda batch=batch: is_done(stores, batch))
    assert calls.most_in_flight == 20


@pytest.mark.task
@pytest.mark.parametrize("test", [False, True])
async def test_slow_queries_of_an_account_delay_nobody_else(stores, url, test):
    """The last slot of an engine is for other accounts, and test keys have slots of their own."""
    calls, slow = Answers(0.02), await submit(stores, 3000, words="slow", test=test)
    calls.slow = {"slow"}
    async with running(worker_of(stores, url, calls, slots=2)):
        await until(lambda: calls.in_flight == 10)
        small = await submit(stores, 1, account_id=await other_account(stores))
        await until(lambda: is_done(stores, small), 5)
        assert calls.in_flight == 10
        calls.slow_ends.set()
    assert (await stores.batches.find(DEFAULT_ACCOUNT, slow.id)).counts.ended <= 10


@pytest.mark.task
async def test_a_slot_is_dealt_anew_within_a_chunk(stores, url, monkeypatch):
    """An engine's only slot is given back before a chunk of slow queries is done, and all of them run once."""
    monkeypatch.setattr(chunk_runs, "SLICE_SECONDS", 0.1)
    calls, large = Answers(0.1), await submit(stores, 60)
    async with running(worker_of(stores, url, calls, slots=1)):
        await until(lambda: calls.in_flight)
        small = await submit(stores, 1, account_id=await other_account(stores))
        await until(lambda: is_done(stores, small))
        assert (await stores.batches.find(DEFAULT_ACCOUNT, large.id)).counts.ended < 60
        await until(lambda: is_done(stores, large))
    assert set(calls.asked.values()) == {1}


@pytest.mark.task
async def test_the_last_place_of_a_worker_is_for_other_accounts(stores, url):
    """Slow queries of an account, of engines with many slots, leave a worker room for another account."""
    calls, _ = Answers(0.02), await submit(stores, 3000, words="slow")
    calls.slow = {"slow"}
    async with running(worker_of(stores, url, calls, slots=20)):
        await until(lambda: calls.in_flight == 70)
        small = await submit(stores, 1, account_id=await other_account(stores))
        await until(lambda: is_done(stores, small), 5)
        calls.slow_ends.set()


@pytest.mark.task
async def test_two_workers_share_the_slots(postgresql):
    """Workers on two machines run one batch together, within the slots of both, and each query once."""
    calls = Answers(0.02)
    with closing(SqlStores(postgresql)) as one, closing(SqlStores(postgresql)) as two:
        batch = await submit(one, 800)
        workers = [worker_of(one, postgresql, calls), worker_of(two, postgresql, calls, process="there:2:2")]
        async with running(*workers):
            await until(lambda: is_done(one, batch))
        assert calls.most_in_flight <= 20
        assert set(calls.asked.values()) == {1}
        assert await one.ledger.balance(DEFAULT_ACCOUNT) == 200


@pytest.mark.task
async def test_rows_that_are_lost_for_good_are_failures(stores, url):
    """What would be the same again ends at once, with a text that tells nothing of the operator's."""
    calls, batch = Answers(), await submit(stores, 3)
    calls.errors = {
        f"{batch.id} 1": [LayoutError("no organic results at /home/secret", "organic")],
        f"{batch.id} 2": [NotFoundError("gone", message="There is no such thread.")],
    }
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, batch))
    failures = await stores.batches.results(batch.id, 0, 10, "failures")
    assert [(one.row, one.outcome, one.kind, one.cost) for one in failures] == [
        (1, "layout", "organic", 0),
        (2, "not_found", None, 0),
    ]
    assert [one.error for one in failures] == [
        "the upstream's page has a shape that is not known here",
        "There is no such thread.",
    ]
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 999


@pytest.mark.task
async def test_a_blocked_row_is_run_again_later(stores, url, monkeypatch):
    """A row that was blocked has no result until it was run again."""
    monkeypatch.setattr(worker, "BACKOFF", (0.3,))
    calls, batch = Answers(), await submit(stores, 3)
    calls.errors = {f"{batch.id} 2": [BlockedError("a captcha", "captcha"), UpstreamError("a reset", "reset"), None]}
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, batch))
    assert calls.asked[f"{batch.id} 2"] == 3
    assert calls.asked[f"{batch.id} 1"] == 1
    assert [one.outcome for one in await stores.batches.results(batch.id, 0, 10)] == ["ok"] * 3


@pytest.mark.task
async def test_a_row_is_not_run_again_for_ever(stores, url, monkeypatch):
    """A row that is blocked each time is a failure after the last round."""
    monkeypatch.setattr(worker, "BACKOFF", (0.05,))
    calls, batch = Answers(), await submit(stores, 2, rounds=2)
    calls.errors = {f"{batch.id} 2": [BlockedError("a captcha", "captcha")] * 10}
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, batch))
    assert calls.asked[f"{batch.id} 2"] == 3
    (failure,) = await stores.batches.results(batch.id, 0, 10, "failures")
    assert (failure.row, failure.outcome, failure.kind) == (2, "blocked", "captcha")


@pytest.mark.task
async def test_an_engine_that_blocks_slows_the_batch_down(sqlite, monkeypatch):
    """Where row after row is blocked the rest of the chunk is not tried, so that a batch is not burnt."""
    monkeypatch.setattr(worker, "BACKOFF", (60.0,))
    with SqlStores(sqlite) as stores:
        calls, batch = Answers(0.01), await submit(stores, 100)
        calls.errors = {f"{batch.id} {row}": [BlockedError("a captcha", "captcha")] * 9 for row in range(1, 101)}
        async with running(worker_of(stores, sqlite, calls)):
            await until(lambda: calls.asked.total() >= 10)
            await asyncio.sleep(0.3)
        assert calls.asked.total() <= 20
        assert await state_of(stores, batch) == "running"


@pytest.mark.task
async def test_an_open_circuit_is_waited_for(sqlite):
    """While all engines of a resource are to be left alone nothing is asked of them."""
    with SqlStores(sqlite) as stores:
        calls, batch = Answers(), await submit(stores, 10)
        waits = [0.3]
        worker = worker_of(stores, sqlite, calls, seconds_open=lambda *_: waits.pop() if waits else 0.0)
        async with running(worker):
            await asyncio.sleep(0.4)
            assert not waits
            await until(lambda: is_done(stores, batch))


@pytest.mark.task
async def test_a_batch_without_credits_waits_for_some(stores, url, monkeypatch):
    """What is not paid is nobody's: the batch pauses, and ends when there are credits."""
    monkeypatch.setattr("webdata.batches.feeder.CREDIT_SECONDS", 0.1)
    calls, batch = Answers(), await submit(stores, 40)
    await stores.ledger.credit(DEFAULT_ACCOUNT, -990)
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_paused(stores, batch))
        assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).counts.cost == 10
        await stores.ledger.credit(DEFAULT_ACCOUNT, 40)
        await until(lambda: is_done(stores, batch))
    found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.counts.cost, found.counts.cached) == (40, 0)
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 10


async def is_paused(stores, batch):
    return await state_of(stores, batch) == "paused"


@pytest.mark.task
async def test_the_same_query_twice_is_paid_once(sqlite):
    """A row whose answer is cached costs nothing."""
    with SqlStores(sqlite) as stores:
        calls = Answers()
        first, second = await submit(stores, 5, words="tea"), await submit(stores, 5, words="tea")
        async with running(worker_of(stores, sqlite, calls)):
            await until(lambda: is_done(stores, first))
            await until(lambda: is_done(stores, second))
        assert calls.asked.total() == 5
        assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 995
        cached = [(await stores.batches.find(DEFAULT_ACCOUNT, one.id)).counts.cached for one in (first, second)]
        assert sum(cached) == 5


@pytest.mark.slow
@pytest.mark.task
async def test_a_stopped_worker_finishes_what_runs(stores, url, monkeypatch):
    """Rows that run when the worker stops have results, and the rest is run by the next one at once."""
    monkeypatch.setattr(feeder, "FEED_SECONDS", 0.001)  # so that it would also feed while the worker ends
    calls, batch = Answers(0.1), await submit(stores, 200)
    async with running(worker_of(stores, url, calls)):
        await until(lambda: calls.in_flight)
    asked = calls.asked.total()
    assert calls.in_flight == 0
    assert 0 < asked < 200
    assert (await stores.batches.find(DEFAULT_ACCOUNT, batch.id)).counts.ended == asked
    async with running(worker_of(stores, url, calls, process="here:3:3")):
        await until(lambda: is_done(stores, batch))
    assert set(calls.asked.values()) == {1}


@pytest.mark.task
async def test_a_paused_batch_begins_no_further_row(stores, url, monkeypatch):
    """A pause is heeded within two renewals of the lease."""
    monkeypatch.setattr(worker, "RENEW_SECONDS", 0.05)
    calls, batch = Answers(0.05), await submit(stores, 1000)
    one = worker_of(stores, url, calls)
    async with running(one):
        await until(lambda: calls.asked)
        await stores.batches.pause(DEFAULT_ACCOUNT, batch.id, batch.created)
        await until(lambda: not one.running)
        asked = calls.asked.total()
        await asyncio.sleep(0.3)
        assert calls.asked.total() == asked < 1000


@pytest.mark.task
async def test_a_lease_that_is_not_renewed_ends_the_run(sqlite, monkeypatch):
    """A worker that was frozen begins no further row: another one may have its chunk."""
    monkeypatch.setattr(worker, "MARGIN_SECONDS", 7.9)
    monkeypatch.setattr(worker, "RENEW_SECONDS", 60.0)
    with SqlStores(sqlite) as stores:
        calls, batch = Answers(0.06), await submit(stores, 100)
        one = worker_of(stores, sqlite, calls)
        async with running(one):
            await until(lambda: calls.asked)
            await until(lambda: not one.running)
            assert calls.asked.total() < 100
        assert await state_of(stores, batch) == "running"


@pytest.mark.task
async def test_tickets_in_memory_have_one_process(sqlite):
    """A second worker over an SQLite database waits until the first has ended."""
    with SqlStores(sqlite) as stores:
        calls, others = Answers(0.01), Answers(0.01)
        batch = await submit(stores, 100)
        second = worker_of(stores, sqlite, others, process="there:2:2")
        async with running(worker_of(stores, sqlite, calls)):
            await until(lambda: calls.asked)
            waiting = asyncio.create_task(second.run())
            await until(lambda: is_done(stores, batch))
        second.stop()
        await waiting
        assert not others.asked


@pytest.mark.slow
@pytest.mark.task
async def test_a_small_batch_does_not_wait_for_a_large_one(stores, url):
    """The chunks of an account that comes later, with less, are run among those of the first."""
    large = await submit(stores, 3000, test=True)
    calls = Answers(0.02)
    async with running(worker_of(stores, url, calls)):
        await until(lambda: calls.asked.total() > 300)
        small = await submit(stores, 300, test=True, account_id=await other_account(stores))
        await until(lambda: is_done(stores, small))
        assert not await is_done(stores, large)
        assert (await stores.batches.find(DEFAULT_ACCOUNT, large.id)).counts.ended < 2500


async def other_account(stores, credits=1000):
    from webdata.stores.accounts.model import DEFAULT_PLAN, Account

    await stores.accounts.add(Account("acc_2", "second", DEFAULT_PLAN, (await stores.accounts.all())[0].created))
    await stores.ledger.credit("acc_2", credits)
    return "acc_2"


@pytest.mark.task
async def test_a_batch_without_retries_fails_at_once(stores, url):
    """A blocked row of a batch that wants no retries is a failure after its only try."""
    calls, batch = Answers(), await submit(stores, 2, rounds=0)
    calls.errors = {f"{batch.id} 2": [BlockedError("a captcha", "captcha")]}
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, batch))
    assert calls.asked[f"{batch.id} 2"] == 1


@pytest.mark.task
async def test_what_waits_is_told(stores, url, monkeypatch):
    """While a blocked row is put off its batch says so, and when it is tried; then it says nothing of it any more."""
    monkeypatch.setattr(worker, "BACKOFF", (60.0,))
    monkeypatch.setattr(worker, "TEST_BACKOFF", (0.5,))
    calls = Answers()
    live, test = [await submit(stores, 3, key, test=key == "test") for key in ("live", "test")]
    calls.errors = {f"{key} 2": [BlockedError("a captcha", "captcha")] for key in ("live", "test")}
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_done(stores, test))
        found = await stores.batches.find(DEFAULT_ACCOUNT, live.id)
        assert (found.state, found.counts.ended, found.waiting.rows) == ("running", 2, 1)
        seconds = (found.waiting.next_try - datetime.now(UTC)).total_seconds()
        assert 60 * (1 - worker.JITTER) - 30 < seconds < 60 * (1 + worker.JITTER)
        assert [one.waiting for one in await stores.batches.page(DEFAULT_ACCOUNT, 5)] == [None, found.waiting]
        assert batch_record(found, datetime.now(UTC))["seconds_left"] is None
        assert await stores.batches.complete_to(live.id) == 1
        paused = await stores.batches.pause(DEFAULT_ACCOUNT, live.id, datetime.now(UTC))
        assert paused.waiting is None


@pytest.mark.task
async def test_the_sandbox_is_not_waited_for_longer_than_seconds(stores, url, monkeypatch):
    """Neither a Retry-After nor an open circuit of the sandbox holds up the batch of a test key."""
    monkeypatch.setattr(worker, "TEST_BACKOFF", (0.1,))
    calls, batch = Answers(), await submit(stores, 1, test=True)
    later = BlockedError("later", "rate_limit")
    later.retry_after = 3600.0
    calls.errors = {f"{batch.id} 1": [later]}
    waits = [3600.0]
    one = worker_of(stores, url, calls, seconds_open=lambda *_: waits.pop() if waits else 0.0)
    async with running(one):
        await until(lambda: is_done(stores, batch))
    assert calls.asked.total() == 2
