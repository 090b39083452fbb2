"""Metrics of what a database holds."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from webdata.domain.errors import DatabaseUnavailableError
from webdata.observability.metrics import Metrics
from webdata.observability.stored_state import StoredState
from webdata.runtime.process.repeat import repeat
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.batches.model import Batch, QueryRow
from webdata.stores.webhooks.model import Webhook

pytestmark = pytest.mark.task
MINUTE = timedelta(minutes=1)


@pytest.fixture
def metrics(stores):
    """Metrics of the state of the database, and the state."""
    metrics, state = Metrics(), StoredState(stores.chunks, stores.deliveries)
    metrics.collect_from(state.metrics)
    return metrics, state


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


async def submit(stores, now, chunks=3):
    batch = Batch("bat_1", DEFAULT_ACCOUNT, "key_1", test=False, resource="web_search", created=now - MINUTE)
    await stores.batches.begin(batch)
    await stores.batches.add_chunks("bat_1", 0, [[QueryRow(number, b'{"q":"tea"}')] for number in range(1, chunks + 1)])
    await stores.batches.publish("bat_1", now - MINUTE)


async def test_an_empty_database(metrics):
    """Without batches and webhooks every number is zero; before the database was asked there is none."""
    metrics, state = metrics
    assert value(metrics, "webdata_batch_chunks", state="open") is None
    await state.read()
    for name in ("batch_tickets", "batch_oldest_seconds", "webhook_deliveries_waiting", "webhook_oldest_seconds"):
        assert value(metrics, f"webdata_{name}") == 0
    for name in ("open", "running", "done", "poison"):
        assert value(metrics, "webdata_batch_chunks", state=name) == 0


async def test_batches_and_deliveries(metrics, stores):
    """Chunks by state, those that wait for a worker, waiting deliveries, and the ages of the oldest."""
    metrics, state = metrics
    now = datetime.now(UTC)
    await submit(stores, now)
    await stores.chunks.issue(["web_search"], False, now, now + MINUTE, 2)
    webhook = Webhook("whk_1", DEFAULT_ACCOUNT, "https://shop.example/", ("*",), "", "secret", now, confirmed=now)
    await stores.webhooks.add(webhook, 1)
    await stores.webhooks.test(webhook, now - 2 * MINUTE)
    await state.read()
    assert value(metrics, "webdata_batch_chunks", state="open") == 3
    assert value(metrics, "webdata_batch_tickets") == 2
    assert value(metrics, "webdata_batch_oldest_seconds") == pytest.approx(60, abs=20)
    assert value(metrics, "webdata_webhook_deliveries_waiting") == 1
    assert value(metrics, "webdata_webhook_oldest_seconds") == pytest.approx(120, abs=20)


async def test_a_database_that_is_away(metrics, stores, monkeypatch):
    """While the database does not answer there are no numbers, rather than old ones; then there are again."""
    metrics, state = metrics
    answers = iter([None, DatabaseUnavailableError("it is gone"), ZeroDivisionError("a fault")])
    seen = []

    async def states(read=stores.chunks.states):
        seen.append(value(metrics, "webdata_webhook_deliveries_waiting"))
        if error := next(answers, None):
            raise error
        return await read()

    monkeypatch.setattr(stores.chunks, "states", states)
    running = asyncio.ensure_future(repeat("the state", state.read, 0.01))
    async with asyncio.timeout(5):
        while len(seen) < 5 or value(metrics, "webdata_batch_tickets") is None:  # noqa: ASYNC110  # the loop of another task
            await asyncio.sleep(0.01)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert value(metrics, "webdata_batch_tickets") == 0
