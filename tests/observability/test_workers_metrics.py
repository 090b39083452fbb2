"""The metrics and the number of the workers of one parent."""

import asyncio
import socket
from contextlib import ExitStack

import pytest

from webdata.observability import workers_metrics
from webdata.observability.workers_metrics import WorkersMetrics
from webdata.server.workers import Worker


@pytest.fixture
def make(tmp_path):
    """Makes the metrics of one of three workers."""
    with ExitStack() as stack:

        def make(number):
            control = stack.enter_context(socket.socket())
            return WorkersMetrics(Worker(number, 3, control, tmp_path), lambda: b"%d counted" % number)

        yield make


@pytest.mark.task
async def test_any_worker_collects_all(make):
    """Each worker has the metrics of those that run, and None for those that do not."""
    first, second = make(1), make(2)
    for one in (first, second):
        await one.listen()
    try:
        assert second.snapshot() == {"number": 2, "of": 3, "running": 2}
        assert list((await second.collect()).items()) == [(1, b"1 counted"), (2, b"2 counted"), (3, None)]
    finally:
        first.close()
    assert second.snapshot()["running"] == 1
    assert (await second.collect())[1] is None
    second.close()


@pytest.mark.task
async def test_a_worker_that_hangs(make, monkeypatch, tmp_path):
    """The metrics of a worker that does not answer within TIMEOUT are None."""
    monkeypatch.setattr(workers_metrics, "TIMEOUT", 0.2)
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(tmp_path / "3.socket"))
        hung.listen()
        async with asyncio.timeout(5):
            assert await make(1).collect() == {1: b"1 counted", 2: None, 3: None}


@pytest.mark.task
async def test_the_socket_of_a_worker_that_died(make, tmp_path):
    """The next worker of its number replaces it, and removes its own when it closes."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "1.socket"))
    one = make(1)
    await one.listen()
    assert (await make(2).collect())[1] == b"1 counted"
    one.close()
    assert not list(tmp_path.iterdir())
