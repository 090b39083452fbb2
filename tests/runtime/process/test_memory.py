"""The memory of a process that parses pages."""

import asyncio
import gc
import subprocess
import sys
import weakref

import pytest

from webdata.runtime.process.memory import LargeGarbage, collect_less


class Page:
    """A page in a circle of references, as an error's frames make one."""

    def __init__(self):
        self.error = self


@pytest.mark.task
async def test_circles_are_collected_soon_after_a_large_page_was_lost(monkeypatch):
    """What only refers to itself is freed, whatever the thresholds of the collector are."""
    monkeypatch.setattr("webdata.runtime.process.memory.COLLECTED_AFTER", 0.01)
    page = weakref.ref(Page())
    garbage = LargeGarbage()
    for _ in range(3):
        garbage.lost()
    await asyncio.sleep(0.1)
    assert page() is None


def test_the_collector_runs_after_the_start():
    """What was off while all was imported is on again, and nothing of the start is left to be searched."""
    gc.disable()
    collect_less()
    assert gc.isenabled()
    assert gc.get_count()[1:] == (0, 0)


BLOCKS = """
from webdata.runtime.process.memory import tune_heap

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) // 256

tune_heap()
b"x" * (20 << 20)
before, blocks, kept = resident(), [], []
for _ in range(6):
    blocks.append(b"x" * (20 << 20))
    kept.append(b"y" * 500_000)
blocks.clear()
print(resident() - before)
"""
"""Prints how many MB more a process has after six pages of 20 MB, with a small block above each."""


TREES = """
from resource import RUSAGE_SELF, getrusage
from webdata.runtime.process.memory import tune_heap

def tree():
    before = getrusage(RUSAGE_SELF).ru_minflt
    [b"x" * 500_000 for _ in range(16)]
    return getrusage(RUSAGE_SELF).ru_minflt - before

tune_heap()
tree()
print(tree())
"""
"""Prints how many of the 2,000 pages of memory that a second tree takes are new to the process."""


def test_the_memory_of_a_tree_stays_for_the_next_one():
    """What a page of usual size has freed is used again, without a return to the system."""
    ran = subprocess.run([sys.executable, "-c", TREES], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 500


def test_large_blocks_are_returned_to_the_system():
    """Freed pages of 20 MB leave the process, whatever else lies between them."""
    ran = subprocess.run([sys.executable, "-c", BLOCKS], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 20
