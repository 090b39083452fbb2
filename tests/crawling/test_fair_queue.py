"""One after the other."""

import asyncio

import pytest

from webdata.crawling.fair_queue import AT_ONCE, LONG_QUEUE, ROUNDS, FairQueue

pytestmark = pytest.mark.task


async def rounds(counted, done):
    while not done.is_set():
        counted.append(1)
        await asyncio.sleep(0)


async def test_turns_come_in_order():
    """Who came first goes first, and all go."""
    turns, gone = FairQueue(), []

    async def comes(number):
        await turns.wait()
        gone.append(number)

    await asyncio.gather(*map(comes, range(20)))
    assert gone == list(range(20))


async def test_a_few_go_at_once():
    """Who comes with few others waits for nobody, round after round."""
    turns, counted, done = FairQueue(), [], asyncio.Event()
    other = asyncio.ensure_future(rounds(counted, done))
    for _ in range(3):
        await asyncio.gather(*(turns.wait() for _ in range(AT_ONCE)))
    done.set()
    await other
    assert len(counted) <= 12


async def test_the_loop_comes_round_between_turns():
    """While a crowd goes, others are heard several times for each that goes."""
    turns, counted, done = FairQueue(), [], asyncio.Event()
    other = asyncio.ensure_future(rounds(counted, done))
    await asyncio.gather(*(turns.wait() for _ in range(AT_ONCE + LONG_QUEUE + 50)))
    done.set()
    await other
    assert len(counted) >= 49 * ROUNDS + LONG_QUEUE - 1


async def test_who_is_gone_holds_nobody_up():
    """A place in the line whose owner was cancelled is passed over."""
    turns = FairQueue()
    first, second, third, *_ = [asyncio.ensure_future(turns.wait()) for _ in range(AT_ONCE + 3)][AT_ONCE:]
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait_for(asyncio.gather(first, third), 5)
    await asyncio.wait_for(turns.wait(), 5)
    assert second.cancelled()
