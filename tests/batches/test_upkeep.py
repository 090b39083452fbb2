"""What is done beside the batches: schedules, and the removal of what is old."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from ulid import ULID

from tests.batches.conftest import submit, until
from webdata.accounts.access.api_keys import new_key
from webdata.batches import upkeep as upkeep_module
from webdata.batches.upkeep import BatchUpkeep
from webdata.runtime.process.repeat import running
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.model import Schedule

NOW = datetime.now(UTC)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(upkeep_module, "TICK_SECONDS", 0.02)


def upkeep_of(stores, submissions, process="here:1:1"):
    return BatchUpkeep(process, stores.batches, stores.chunks, stores.schedules, submissions, 30)


@pytest.mark.task
async def test_a_schedule_makes_one_batch_whatever_processes_run(stores, submissions):
    """Of two processes that look for what is due, one makes the batch."""
    key, _ = new_key("for schedules", test=True)
    await stores.keys.add(key)
    body = b'{"resource": "web_search", "queries": [{"q": "coffee"}]}'
    due = NOW - timedelta(seconds=1)
    await stores.schedules.add(
        Schedule(f"sch_{ULID()}", DEFAULT_ACCOUNT, key.id, True, "0 0 1 1 *", "UTC", "", body, NOW, due), 10
    )

    async def is_made():
        return await stores.batches.page(DEFAULT_ACCOUNT, 10)

    async with running(*(upkeep_of(stores, submissions, f"here:{number}:1").run() for number in range(2))):
        await until(is_made)
        await asyncio.sleep(0.2)
    assert len(await is_made()) == 1


@pytest.mark.task
async def test_batches_are_removed_after_their_days(stores, submissions):
    """A batch that ended before is removed, and another one stays."""
    old, other = await submit(stores, 3), await submit(stores, 3)
    await stores.batches.cancel(DEFAULT_ACCOUNT, old.id, NOW - timedelta(days=31))

    async def is_gone():
        return await stores.batches.find(DEFAULT_ACCOUNT, old.id) is None

    async with running(upkeep_of(stores, submissions).run()):
        await until(is_gone)
    assert [one.id for one in await stores.batches.page(DEFAULT_ACCOUNT, 10)] == [other.id]
