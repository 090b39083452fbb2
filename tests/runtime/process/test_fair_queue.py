"""The order and the pauses of the fair queue."""

import asyncio

import pytest

from webdata.runtime.process.shares import AT_ONCE, LONG_QUEUE, ROUNDS, FairQueue

pytestmark = pytest.mark.task


async def rounds(counted, done):
    while not done.is_set():
        counted.append(1)
        await asyncio.sleep(0)


async def test_waiters_leave_in_order():
    """All waiters leave the queue in the order of their entry."""
    queue, left = FairQueue(), []

    async def wait(number):
        await queue.wait()
        left.append(number)

    await asyncio.gather(*map(wait, range(20)))
    assert left == list(range(20))


async def test_keys_take_turns():
    """Calls of a key that has few do not wait for all those of a key that has many."""
    queue, left = FairQueue(), []

    async def wait(key):
        await queue.wait(key)
        left.append(key)

    await asyncio.gather(*(wait("many") for _ in range(AT_ONCE + 20)), *(wait("few") for _ in range(3)))
    assert "".join(key[0] for key in left[AT_ONCE:]) == "mf" * 3 + "m" * 17


async def test_few_waiters_leave_without_delay():
    """Up to AT_ONCE waiters leave the queue without a delay."""
    queue, counted, done = FairQueue(), [], asyncio.Event()
    other = asyncio.ensure_future(rounds(counted, done))
    for _ in range(3):
        await asyncio.gather(*(queue.wait() for _ in range(AT_ONCE)))
    done.set()
    await other
    assert len(counted) <= 12


async def test_other_tasks_run_between_waiters():
    """While a long queue is emptied, other tasks run several rounds of the loop for each waiter."""
    queue, counted, done = FairQueue(), [], asyncio.Event()
    other = asyncio.ensure_future(rounds(counted, done))
    await asyncio.gather(*(queue.wait() for _ in range(AT_ONCE + LONG_QUEUE + 50)))
    done.set()
    await other
    assert len(counted) >= 49 * ROUNDS + LONG_QUEUE - 1


async def test_a_cancelled_waiter_blocks_no_other():
    """A cancelled waiter does not block those after it."""
    queue = FairQueue()
    first, second, third, *_ = [asyncio.ensure_future(queue.wait()) for _ in range(AT_ONCE + 3)][AT_ONCE:]
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait_for(asyncio.gather(first, third), 5)
    await asyncio.wait_for(queue.wait(), 5)
    assert second.cancelled()
