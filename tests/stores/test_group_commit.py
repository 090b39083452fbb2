"""How what many callers want written becomes one."""

import asyncio
from threading import Event, Thread

import pytest

from webdata.stores.group_commit import GROUP_SIZE, GroupCommitter

pytestmark = pytest.mark.task


class Written:
    """Writes numbers: gives them doubled, refuses negative ones, breaks on 13; remembers the groups."""

    def __init__(self):
        self.groups = []
        self.gate = Event()
        self.gate.set()

    def __call__(self, group):
        self.gate.wait(5)
        self.groups.append(group)
        if 13 in group:
            raise OSError("the disk is full")
        return [ValueError(str(number)) if number < 0 else number * 2 for number in group]


@pytest.fixture
def written():
    return Written()


@pytest.fixture
def writer(written):
    one = GroupCommitter(written)
    yield one
    written.gate.set()
    one.close()


async def test_what_comes_meanwhile_is_one_group(writer, written):
    """While one group is written the next one gathers, in order, and everyone has their own result."""
    written.gate.clear()
    first = asyncio.ensure_future(writer.submit(1))
    await asyncio.sleep(0.05)
    others = [asyncio.ensure_future(writer.submit(number)) for number in range(2, 10)]
    await asyncio.sleep(0.05)
    written.gate.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10, 12, 14, 16, 18]
    assert written.groups == [[1], list(range(2, 10))]


async def test_a_group_has_an_end(writer, written):
    """However many come at once, a group holds only so many."""
    await asyncio.gather(*(writer.submit(number) for number in range(20, 20 + 3 * GROUP_SIZE)))
    assert max(map(len, written.groups)) <= GROUP_SIZE


async def test_one_refusal(writer):
    """What is refused is raised to its own caller alone."""
    told = await asyncio.gather(writer.submit(1), writer.submit(-1), writer.submit(2), return_exceptions=True)
    assert (told[0], told[2]) == (2, 4)
    assert isinstance(told[1], ValueError)


async def test_a_failure_is_told_to_all(writer, written):
    """When a group cannot be written everyone in it is told, and the next group is written."""
    written.gate.clear()
    waiting = [asyncio.ensure_future(writer.submit(number)) for number in (1, 13, 2)]
    await asyncio.sleep(0.05)
    written.gate.set()
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(told[1], OSError)
    assert await writer.submit(5) == 10


@pytest.mark.parametrize("result", [SystemExit("stop"), []])
async def test_what_must_not_happen(result):
    """Whatever becomes of a group, everyone in it is told, and the next group is written."""

    def write(group):
        if group == [1]:
            if isinstance(result, list):
                return result
            raise result
        return group

    writer = GroupCommitter(write)
    async with asyncio.timeout(5):
        with pytest.raises(RuntimeError):
            await writer.submit(1)
        assert await writer.submit(2) == 2
    writer.close()


async def test_a_caller_that_has_gone(writer, written):
    """What a caller submitted is written though it does not wait any more, nor its loop."""
    written.gate.clear()
    gone = asyncio.ensure_future(writer.submit(1))
    await asyncio.sleep(0.05)
    gone.cancel()

    async def submit_and_go():
        asyncio.ensure_future(writer.submit(2))  # noqa: RUF006  # that nobody waits is the point
        await asyncio.sleep(0)

    thread = Thread(target=asyncio.run, args=(submit_and_go(),))
    thread.start()
    await asyncio.to_thread(thread.join)
    written.gate.set()
    assert await writer.submit(3) == 6
    assert [number for group in written.groups for number in group] == [1, 2, 3]


async def test_close(written):
    """What was submitted before the end is written, and nothing is taken after it."""
    writer = GroupCommitter(written)
    waiting = [asyncio.ensure_future(writer.submit(number)) for number in range(5)]
    await asyncio.sleep(0)
    await asyncio.to_thread(writer.close)
    assert await asyncio.gather(*waiting) == [0, 2, 4, 6, 8]
    with pytest.raises(RuntimeError, match="closed"):
        await writer.submit(1)


async def test_what_nobody_waits_for(writer, written, caplog):
    """What is posted is written soon, with what comes meanwhile; what cannot be is told in the log."""
    for number in (1, -2, 3):
        writer.post(number)
    assert await writer.submit(4) == 8
    assert written.groups == [[1, -2, 3, 4]]
    assert "-2 is lost: -2" in caplog.text
    writer.post(13)
    await writer.flush()
    assert "13 is lost: the disk is full" in caplog.text


async def test_flushing(writer, written):
    """To flush is to wait for all that came in before, and writes nothing of its own."""
    await writer.flush()
    writer.post(1)
    await writer.flush()
    assert written.groups == [[1]]


async def test_too_much_that_nobody_waits_for(writer, written, monkeypatch, caplog):
    """While nothing is written only so many items wait; the others are told in the log, and lost."""
    monkeypatch.setattr("webdata.stores.group_commit.MOST_POSTED", 2)
    written.gate.clear()
    held = asyncio.ensure_future(writer.submit(0))
    await asyncio.sleep(0.05)
    for number in (1, 2, 3):
        writer.post(number)
    written.gate.set()
    await writer.flush()
    assert await held == 0
    assert written.groups == [[0], [1, 2]]
    assert "3 is lost: 2 wait to be written already" in caplog.text


async def test_the_end_of_what_was_posted(written):
    """What was posted is written before the end."""
    one = GroupCommitter(written)
    one.post(1)
    one.close()
    assert written.groups == [[1]]
    with pytest.raises(RuntimeError, match="closed"):
        one.post(2)
