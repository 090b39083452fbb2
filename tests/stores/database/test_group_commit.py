"""Group commit of what many callers submit."""

import asyncio

import pytest

from webdata.stores.database.group_commit import GROUP_SIZE, POST_SECONDS, GroupCommitter

pytestmark = pytest.mark.task


class Writer:
    """Writes numbers: returns their doubles, refuses negative ones, fails on 13; records the groups."""

    def __init__(self):
        self.groups = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, group):
        await self.gate.wait()
        self.groups.append(group)
        if 13 in group:
            raise OSError("the disk is full")
        return [ValueError(str(number)) if number < 0 else number * 2 for number in group]


@pytest.fixture
def writer():
    return Writer()


@pytest.fixture
def committer(writer):
    return GroupCommitter(writer)


async def test_items_submitted_during_a_write_are_one_group(committer, writer):
    """Items that are submitted while a group is written are the next group, in order; each has its own result."""
    writer.gate.clear()
    first = asyncio.ensure_future(committer.submit(1))
    await asyncio.sleep(0.05)
    others = [asyncio.ensure_future(committer.submit(number)) for number in range(2, 10)]
    await asyncio.sleep(0.05)
    writer.gate.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10, 12, 14, 16, 18]
    assert writer.groups == [[1], list(range(2, 10))]


async def test_the_size_of_a_group_is_limited(committer, writer):
    """More items than a group may hold are written in several groups."""
    await asyncio.gather(*(committer.submit(number) for number in range(20, 20 + 3 * GROUP_SIZE)))
    assert max(map(len, writer.groups)) <= GROUP_SIZE


async def test_a_refusal_is_raised_to_its_own_caller(committer):
    """An error that the writer returns for one item is raised to its caller only."""
    results = await asyncio.gather(
        committer.submit(1), committer.submit(-1), committer.submit(2), return_exceptions=True
    )
    assert (results[0], results[2]) == (2, 4)
    assert isinstance(results[1], ValueError)


async def test_a_failed_write_is_raised_to_all_callers(committer, writer):
    """An error that the writer raises is raised to all callers of the group, and the next group is written."""
    writer.gate.clear()
    waiting = [asyncio.ensure_future(committer.submit(number)) for number in (1, 13, 2)]
    await asyncio.sleep(0.05)
    writer.gate.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[1], OSError)
    assert await committer.submit(5) == 10


async def test_the_failure_of_the_last_group_is_known(committer):
    """`failure` is why the last group could not be written, until an item is; a refused one writes nothing."""
    with pytest.raises(OSError, match="the disk is full"):
        await committer.submit(13)
    await committer.flush()
    assert str(committer.failure) == "the disk is full"
    with pytest.raises(ValueError, match="-1"):
        await committer.submit(-1)
    assert str(committer.failure) == "the disk is full"
    await committer.submit(1)
    assert committer.failure is None


async def test_too_few_results_are_an_error():
    """Callers get an error when the writer returns too few results, and the next group is written."""

    async def write(group):
        return [] if group == [1] else group

    committer = GroupCommitter(write)
    with pytest.raises(RuntimeError, match="0 results for 1 items"):
        await committer.submit(1)
    assert await committer.submit(2) == 2


async def test_items_of_cancelled_callers_are_written(committer, writer):
    """An item is written also when its caller was cancelled."""
    writer.gate.clear()
    cancelled = [asyncio.ensure_future(committer.submit(number)) for number in (1, 2)]
    await asyncio.sleep(0)
    for task in cancelled:
        task.cancel()
    writer.gate.set()
    assert await committer.submit(3) == 6
    assert [number for group in writer.groups for number in group] == [1, 2, 3]


async def test_it_serves_one_event_loop_after_another(committer):
    """After its event loop is closed it writes for the next one."""
    assert await asyncio.to_thread(asyncio.run, committer.submit(1)) == 2
    assert await asyncio.to_thread(asyncio.run, committer.submit(2)) == 4


async def test_posted_items_are_written_without_waiting(committer, writer, caplog):
    """A posted item is written with those submitted meanwhile; one that cannot be written is logged."""
    for number in (1, -2, 3):
        committer.post(number)
    assert await committer.submit(4) == 8
    assert writer.groups == [[1, -2, 3, 4]]
    assert "-2 is lost: -2" in caplog.text
    committer.post(13)
    await committer.flush()
    assert "13 is lost: the disk is full" in caplog.text


async def test_flush_waits_for_posted_items(committer, writer):
    """`flush` waits for all items before it, and writes none itself."""
    await committer.flush()
    committer.post(1)
    await committer.flush()
    assert writer.groups == [[1]]


async def test_the_queue_of_posted_items_is_limited(committer, writer, monkeypatch, caplog):
    """Items that are posted to a full queue are logged and dropped."""
    monkeypatch.setattr("webdata.stores.database.group_commit.MOST_POSTED", 2)
    writer.gate.clear()
    first = asyncio.ensure_future(committer.submit(0))
    await asyncio.sleep(0.05)
    for number in (1, 2, 3):
        committer.post(number)
    writer.gate.set()
    await committer.flush()
    assert await first == 0
    assert writer.groups == [[0], [1, 2]]
    assert "3 is lost: 2 wait to be written already" in caplog.text


async def test_nothing_is_taken_after_close(committer, writer):
    """Items that are submitted or posted after `close` are refused."""
    committer.post(1)
    await committer.flush()
    committer.close()
    assert writer.groups == [[1]]
    with pytest.raises(RuntimeError, match="closed"):
        committer.post(2)
    with pytest.raises(RuntimeError, match="closed"):
        await committer.submit(2)


async def test_posted_items_are_written_soon(committer, writer):
    """Posted items are written together some milliseconds later, without a call that waits."""
    for number in (1, 2, 3):
        committer.post(number)
    await asyncio.sleep(20 * POST_SECONDS)
    assert writer.groups == [[1, 2, 3]]


async def test_a_group_may_wait_for_more():
    """With `collect`, items that come within that time are written together."""
    groups = []

    async def write(items):
        groups.append(items)
        return items

    committer = GroupCommitter(write, collect=0.3)
    first = asyncio.ensure_future(committer.submit(1))
    await asyncio.sleep(0.02)
    assert await committer.submit(2) == 2
    assert (await first, groups) == (1, [[1, 2]])
