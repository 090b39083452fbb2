"""The tickets of chunks, in memory."""

import asyncio
import logging
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


def test_a_line_about_a_database_that_is_away_has_a_reason_and_no_traceback(caplog):
    """What the queue's library logs of an exception is one line."""
    TicketQueue(None, {}, 1, None)
    try:
        raise OSError("cannot execute INSERT in a read-only transaction\nDETAIL: of a row")
    except OSError:
        logging.getLogger("pgqueuer").exception("Flush failed, requeuing %d items", 2)
    [record] = caplog.records
    assert (record.getMessage(), record.exc_info) == (
        "Flush failed, requeuing 2 items: cannot execute INSERT in a read-only transaction",
        None,
    )
