"""The processes that a service starts when there is work for them."""

import os
import signal
from functools import partial

import pytest

from tests.batches.conftest import state_of, submit, until
from webdata import worker
from webdata.config.config import Config
from webdata.domain.errors import DatabaseUnavailableError
from webdata.runtime.process import on_demand
from webdata.runtime.process.on_demand import OnDemandProcess
from webdata.stores.sql_stores import SqlStores

SLOW_CHILD = """\
import sys, time
def main():
    sys.stdin.buffer.read()
    time.sleep(0.3)
"""


def settings(url):
    return Config(database=url, sandbox="always", transports=("http",), samples=None)


async def is_done(stores, batch):
    return await state_of(stores, batch) == "done"


@pytest.mark.slow
@pytest.mark.task
async def test_it_runs_while_there_are_batches(sqlite, monkeypatch):
    """The process is started by the first batch, again when it was killed, and stopped when there is nothing to run."""
    monkeypatch.setattr(on_demand, "WATCH_SECONDS", 0.1)
    monkeypatch.setattr(on_demand, "IDLE_SECONDS", 0.5)
    with SqlStores(sqlite) as stores:
        embedded = OnDemandProcess("batches", worker.__name__, partial(settings, sqlite), stores.chunks.active, 30.0)
        embedded.start()
        assert not embedded.child.runs
        first = await submit(stores, 60, test=True)
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


@pytest.mark.task
async def test_no_process_runs_where_nothing_is_needed(monkeypatch):
    """The process begins when there is work, not before; a look that fails is repeated."""
    monkeypatch.setattr(on_demand, "WATCH_SECONDS", 0.01)
    looks = []

    async def is_needed():
        looks.append(1)
        if len(looks) == 1:
            raise DatabaseUnavailableError("it restarts")
        return False

    process = OnDemandProcess("the process of a test", "webdata.none", dict, is_needed, 1.0)
    process.start()
    await until(lambda: len(looks) > 3)
    await process.stop()
    assert process.child.process is None


@pytest.mark.task
async def test_a_process_that_has_died_begins_again(monkeypatch):
    """Another one begins although nothing is due: what the first had begun may be leased to it."""
    monkeypatch.setattr(on_demand, "WATCH_SECONDS", 0.01)
    needed = iter([True])

    async def is_needed():
        return next(needed, False)

    process = OnDemandProcess("the process of a test", "webdata.none", dict, is_needed, 1.0)
    process.start()
    await until(lambda: process.child.process)
    first = process.child.process.pid
    await until(lambda: process.child.process.pid != first)
    await process.stop()


@pytest.mark.task
async def test_an_idle_process_ends_what_it_has_begun(tmp_path, monkeypatch, caplog):
    """A process without work is not killed in the middle of what it began last, so that no other one has to begin."""
    monkeypatch.setattr(on_demand, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr(on_demand, "IDLE_SECONDS", 0.05)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "slow_child.py").write_text(SLOW_CHILD)
    needed = iter([True])

    async def is_needed():
        return next(needed, False)

    process = OnDemandProcess("the process of a test", "slow_child", dict, is_needed, stop_seconds=0.0)
    process.start()
    await until(lambda: process.child.process and not process.child.runs, 30)
    await process.stop()
    assert process.child.process.returncode == 0
    assert caplog.records == []
