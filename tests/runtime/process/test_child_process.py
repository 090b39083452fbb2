"""A child process: what it is given and what it tells, its end and that of its parent."""

import asyncio
import os
import signal
import sys

import pytest

from webdata.runtime.process import child_process
from webdata.runtime.process.child_process import ChildProcess

pytestmark = pytest.mark.task

ECHO = """
import asyncio
from webdata.runtime.process.child_process import settings_of_child, tell_parent, when_parent_stops

def main():
    asyncio.run(run(settings_of_child()))

async def run(settings):
    stopped = asyncio.Event()
    when_parent_stops(stopped.set)
    for number in range(settings["messages"]):
        tell_parent("one", str(number))
    await stopped.wait()
    tell_parent("the", "end")
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    """A child that tells something at the start and at the end, and what was told."""
    (tmp_path / "echo_child.py").write_text(ECHO)
    monkeypatch.setattr(child_process, "ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    told = []
    return ChildProcess("echo_child", lambda *message: told.append(message)), told


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # the loop of another process
            await asyncio.sleep(0.02)


async def test_a_child_tells_and_ends(child):
    """The parent hears every message, that at the end too, and a child that was stopped has not died."""
    child, told = child
    assert (child.runs, child.has_died) == (False, False)
    child.start({"messages": 3})
    await until(lambda: len(told) == 3)
    assert (child.runs, child.has_died) == (True, False)
    await child.stop(10)
    assert told == [("one", "0"), ("one", "1"), ("one", "2"), ("the", "end")]
    assert (child.runs, child.has_died) == (False, False)


async def test_a_child_that_is_killed_has_a_successor(child):
    """A child that is killed has died; its successor is heard, too."""
    child, told = child
    for number in (1, 2):
        child.start({"messages": 1})
        await until(lambda number=number: len(told) == number)
        os.kill(child.process.pid, signal.SIGKILL)
        await until(lambda: child.has_died)
    await child.stop(10)
    assert told == [("one", "0")] * 2


async def test_a_child_never_waits_for_a_parent_that_does_not_read(child):
    """Messages that the parent does not read in time are lost, and the child goes on."""
    child, told = child
    child.start({"messages": 100_000})
    child_loop = asyncio.get_running_loop()
    child_loop.remove_reader(child._messages)
    await asyncio.sleep(0.5)
    await child.stop(20)
    assert child.process.returncode == 0
    assert 0 < len(told) < 100_000
