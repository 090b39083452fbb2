"""Quotas of batches, on SQLite and PostgreSQL."""

import asyncio
from contextlib import closing
from dataclasses import replace

import pytest

from tests.batches.conftest import Answers, running, state_of, submit, until, worker_of
from webdata.domain.errors import QuotaError
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN
from webdata.stores.batches.model import Stored, quota_of
from webdata.stores.sql_stores import SqlStores


@pytest.fixture
def stores(url):
    with SqlStores(url) as stores:
        yield stores


def test_test_keys_have_a_hundredth():
    """The test keys of an account have a hundredth of each quota of its plan, and one at least."""
    plan = replace(DEFAULT_PLAN, batch_rows=1000, batch_bytes=2000, batches=300, schedules=4)
    assert quota_of(plan, test=False) == (1000, 2000, 300, 4)
    assert quota_of(plan, test=True) == (10, 20, 3, 1)


@pytest.mark.task
async def test_parallel_submissions_do_not_exceed_a_quota(stores, url):
    """Of batches that are submitted at once, by several processes, no more are taken than the quota has room for."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, batch_rows=50))
    with closing(SqlStores(url)) as other:
        ends = await asyncio.gather(*(submit(one, 10) for one in (stores, other) * 6), return_exceptions=True)
    refused = [end for end in ends if isinstance(end, Exception)]
    assert [type(end) for end in refused] == [QuotaError] * 7
    assert "may store 50 queries that have not ended, and has 50" in str(refused[-1])
    assert (await stores.batches.stored(DEFAULT_ACCOUNT, test=False))[::2] == (50, 5)


@pytest.mark.task
@pytest.mark.parametrize(("name", "most"), [("batch_rows", 10), ("batches", 1), ("batch_bytes", 150)])
async def test_each_quota_is_of_live_or_of_test_keys(stores, name, most):
    """What test keys store leaves live keys their own, and what ends or is deleted makes room."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, **{name: most * 100}))
    first = await submit(stores, 10, test=True)
    with pytest.raises(QuotaError, match="the test keys of the account may store"):
        await submit(stores, 10, test=True)
    await submit(stores, 10)
    await stores.batches.delete(DEFAULT_ACCOUNT, first.id, first.created)
    while await stores.batches.free(first.id, 2):
        pass
    assert await stores.batches.stored(DEFAULT_ACCOUNT, test=True) == Stored()
    await submit(stores, 10, test=True)


@pytest.mark.task
async def test_what_is_stored_can_be_written_as_json(stores):
    """What an account stores is whole numbers, whatever the database takes a sum for."""
    await submit(stores, 10)
    stored = await stores.batches.stored(DEFAULT_ACCOUNT, test=False)
    assert [type(value) for value in stored] == [int] * 4


@pytest.mark.task
async def test_results_beyond_the_quota_pause_their_batch(stores, url):
    """A batch whose results are more than its account may store begins no further query."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, batch_bytes=8000))
    calls, batch = Answers(), await submit(stores, 1000)
    async with running(worker_of(stores, url, calls)):
        await until(lambda: is_paused(stores, batch))
        found = await stores.batches.find(DEFAULT_ACCOUNT, batch.id)
    assert (found.reason, 0 < found.counts.ended < 1000) == ("quota_exceeded", True)


async def is_paused(stores, batch):
    return await state_of(stores, batch) == "paused"
