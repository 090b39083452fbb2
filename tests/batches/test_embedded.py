"""The process of a service that runs batches."""

import os
import signal
from functools import partial

import pytest

from tests.batches.conftest import state_of, submit, until
from webdata.batches.embedded import EmbeddedWorker
from webdata.config.config import Config
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.slow


def settings(url):
    from webdata.service import worker_settings

    return worker_settings(Config(database=url, sandbox="always", transports=("http",), samples=None))


async def is_done(stores, batch):
    return await state_of(stores, batch) == "done"


@pytest.mark.task
async def test_it_runs_while_there_are_batches(sqlite, monkeypatch):
    """The process is started by the first batch, again when it was killed, and stopped when there is nothing to run."""
    monkeypatch.setattr("webdata.batches.embedded.WATCH_SECONDS", 0.1)
    monkeypatch.setattr("webdata.batches.embedded.IDLE_SECONDS", 0.5)
    with SqlStores(sqlite) as stores:
        embedded = EmbeddedWorker(partial(settings, sqlite), 30.0)
        embedded.start(stores.chunks)
        assert not embedded.child.runs
        first = await submit(stores, 120, test=True)
        await until(lambda: ended_some(stores, first), 60)
        os.kill(embedded.child.process.pid, signal.SIGKILL)
        await until(lambda: is_done(stores, first), 90)
        await until(lambda: not embedded.child.runs, 30)
        assert embedded.child.process.returncode == 0
        second = await submit(stores, 3, test=True)
        await until(lambda: is_done(stores, second), 60)
        await embedded.stop()
        assert not embedded.child.runs
        for batch in (first, second):
            found = await stores.batches.find(batch.account_id, batch.id)
            assert found.counts.outcomes == {"ok": batch.rows}


async def ended_some(stores, batch):
    return (await stores.batches.find(batch.account_id, batch.id)).counts.ended > 0
