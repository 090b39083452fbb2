"""The tickets of chunks, in memory."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from webdata.batches.tickets import TicketQueue


async def run_nothing(_engine, _ticket):
    return None


@pytest.mark.task
async def test_a_stop_while_it_connects_ends_it(monkeypatch):
    """A queue that is stopped before it has connected runs no ticket, and ends."""
    queue = TicketQueue(None, {"google_web": 1}, 1, run_nothing)
    connect = queue._opened

    @asynccontextmanager
    async def stopped_meanwhile():
        queue.stop()
        async with connect() as connected:
            yield connected

    monkeypatch.setattr(queue, "_opened", stopped_meanwhile)
    async with asyncio.timeout(5):
        await queue.run()
