"""Work that is repeated beside the calls."""

import asyncio

import pytest

from webdata.domain.errors import DatabaseAwayError
from webdata.server.repeat import repeat


@pytest.mark.task
@pytest.mark.parametrize(
    ("trouble", "line"),
    [
        (DatabaseAwayError("it is away"), "old calls: the database does not answer, next attempt in 0 s: it is away"),
        (RuntimeError("the disk image is malformed"), "old calls: failed, next attempt in 0 s"),
    ],
)
async def test_work_that_fails_is_done_again(caplog, trouble, line):
    """An error is logged with what failed, and the next attempt follows."""
    attempts, again = 0, asyncio.Event()

    async def fails_at_first():
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise trouble
        again.set()

    repeating = asyncio.ensure_future(repeat("old calls", fails_at_first, 0.001))
    async with asyncio.timeout(10):
        await again.wait()
    repeating.cancel()
    assert [record.getMessage() for record in caplog.records] == [line]
