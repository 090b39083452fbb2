"""Workers among themselves: their metrics, and how many they are."""

import asyncio
import socket
from contextlib import ExitStack

import pytest

from webdata.observability import workers_metrics
from webdata.observability.workers_metrics import WorkersMetrics
from webdata.server.workers import Worker


@pytest.fixture
def make(tmp_path):
    """Makes the siblings of one of three workers."""
    with ExitStack() as stack:

        def make(number):
            line = stack.enter_context(socket.socket())
            return WorkersMetrics(Worker(number, 3, line, tmp_path), lambda: b"%d counted" % number)

        yield make


@pytest.mark.task
async def test_who_is_there(make):
    """Whoever is asked tells of all: of those that are there, and that one is not."""
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
async def test_one_that_hangs(make, monkeypatch, tmp_path):
    """One that does not answer in time is left out, and holds up nobody for longer."""
    monkeypatch.setattr(workers_metrics, "TIMEOUT", 0.2)
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(tmp_path / "3.socket"))
        hung.listen()
        async with asyncio.timeout(5):
            assert await make(1).collect() == {1: b"1 counted", 2: None, 3: None}


@pytest.mark.task
async def test_the_place_of_one_that_died(make, tmp_path):
    """A worker takes the place of the one before, and leaves nothing behind."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "1.socket"))
    one = make(1)
    await one.listen()
    assert (await make(2).collect())[1] == b"1 counted"
    one.close()
    assert not list(tmp_path.iterdir())
