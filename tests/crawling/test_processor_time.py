"""The limit of the processor's time for what reads a page."""

import asyncio
import hashlib
import signal
import threading
from contextlib import suppress
from time import process_time, thread_time

import pytest

from webdata.crawling.processor_time import limited
from webdata.domain.errors import LayoutError


async def endless(caught=0):
    """Work that never waits, and goes on after so many exceptions."""
    for _ in range(caught):
        with suppress(Exception):
            await endless()
    while True:
        pass


@pytest.mark.task
@pytest.mark.parametrize("caught", [0, 2])
async def test_work_without_an_end_is_ended(caught):
    """Also work that catches all exceptions ends, soon after its time."""
    began = process_time()
    with pytest.raises(LayoutError, match="a page that is read in a second"):
        await limited(endless(caught), 0.1)
    assert process_time() - began < 0.1 + 0.1 * caught + 0.5


@pytest.mark.task
async def test_busy_threads_take_none_of_its_time():
    """Work has its own time of the processor, however much other threads use meanwhile."""
    data, stopped = bytes(1 << 20), threading.Event()

    def busy():
        while not stopped.is_set():
            hashlib.sha256(data)  # without the interpreter's lock

    async def work():
        end = thread_time() + 0.15
        while thread_time() < end:
            hashlib.sha256(data)
        return "tea"

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        assert await limited(work(), 0.3) == "tea"
        with pytest.raises(LayoutError):
            await limited(endless(), 0.1)
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


@pytest.mark.task
async def test_what_waits_has_its_time_again():
    """Each part of the work between two waits has the whole time, and the waits take none of it."""

    async def work():
        for _ in range(4):
            end = process_time() + 0.06
            while process_time() < end:
                pass
            await asyncio.sleep(0.01)
        return "tea"

    assert await limited(work(), 0.2) == "tea"


@pytest.mark.task
async def test_the_limit_ends_with_the_work():
    """Work whose time is over as it ends, such as in the removal of its page's tree, ends nothing that follows it."""
    held = [[[] for _ in range(2_000_000)]]

    async def work():
        page = held.pop()
        return len(page)

    assert await limited(work(), 0.02) == 2_000_000
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    end = thread_time() + 0.2
    while thread_time() < end:
        pass


@pytest.mark.task
async def test_errors_and_cancellations_reach_the_work():
    """What it waits for may fail, and who waits for it may leave: both is the work's own to handle."""
    ends = []

    async def work(awaited):
        try:
            return await awaited
        except ValueError:
            return "failed"
        finally:
            ends.append(awaited)

    failing = asyncio.get_running_loop().create_future()
    failing.set_exception(ValueError())
    assert await limited(work(failing)) == "failed"
    waiting = asyncio.create_task(in_task(work(asyncio.sleep(60))))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(ends) == 2


async def in_task(work):
    return await limited(work)


@pytest.mark.task
async def test_another_thread_has_no_limit():
    """A page is read in any thread, though signals reach the main thread alone."""

    async def work():
        end = process_time() + 0.1
        while process_time() < end:
            pass
        return "tea"

    assert await asyncio.to_thread(lambda: asyncio.run(in_task(work()))) == "tea"


@pytest.mark.task
async def test_the_time_ends_with_the_work():
    """What runs after it is not ended."""
    await limited(asyncio.sleep(0), 0.05)
    end = process_time() + 0.15
    while process_time() < end:
        pass
