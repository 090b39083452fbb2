"""Work that is repeated beside the calls."""

import asyncio

import pytest

from webdata.domain.errors import DatabaseUnavailableError
from webdata.runtime.process import repeat as repeat_module
from webdata.runtime.process.repeat import in_steps, repeat, running


@pytest.mark.task
@pytest.mark.parametrize(
    ("trouble", "line"),
    [
        (
            DatabaseUnavailableError("it is away"),
            "old calls: the database does not answer, next attempt in 0.001 s: it is away",
        ),
        (RuntimeError("the disk image is malformed"), "old calls: failed, next attempt in 0.001 s"),
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

    async with asyncio.timeout(10), running(repeat("old calls", fails_at_first, 0.001)):
        await again.wait()
    assert [record.getMessage() for record in caplog.records] == [line]


@pytest.mark.task
async def test_works_have_ended_when_the_block_has():
    """At the end of a block, also of one that fails, works are cancelled and have done what they do at their end."""
    began, ended = asyncio.Event(), []

    async def works():
        try:
            began.set()
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            ended.append(1)

    async def fails_beside_works():
        async with running(works(), works()):
            await began.wait()
            raise LookupError

    with pytest.raises(LookupError):
        await fails_beside_works()
    assert ended == [1, 1]


@pytest.mark.task
async def test_steps_go_on_until_one_is_not_full(monkeypatch):
    """Of seven rows in steps of three the last step has one."""
    monkeypatch.setattr(repeat_module, "STEP_PAUSE", 0)
    rows, steps = [*range(7)], []

    async def step(most):
        steps.append(rows[:most])
        del rows[:most]
        return len(steps[-1])

    await in_steps(step, 3)
    assert steps == [[0, 1, 2], [3, 4, 5], [6]]
