"""The memory of a process that parses pages: garbage collection, and what is given back to the system."""

import asyncio
import ctypes
import gc

LARGE_BLOCK = 1024 * 1024
"""Bytes of a block from which it is given back to the system as soon as it is freed."""
SPARE = 16 * 1024 * 1024
"""Bytes at the end of the heap that stay with the process when they are freed: more than a page and its tree take."""
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Options of glibc's mallopt(3)."""
COLLECTED_AFTER = 0.25
"""Seconds between the loss of a large page and a collection."""


def collect_less() -> None:
    """Let the collector run, but less often, and never over the objects that are there now: they are to stay.

    Nearly all objects of a call are freed with their last reference, yet each page makes enough of them for the default
    thresholds to search the whole heap: measured, a tenth of the throughput on a page of 670 KB.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


def tune_heap() -> None:
    """Have glibc give large blocks back, but keep the memory of a page for the next one.

    By itself it keeps blocks of up to 32 MB once it has freed one of that size. Measured, after a minute of pages of
    20 MB a process has 360 MB instead of 740. With that alone it gives each freed tree back and gets its pages anew:
    measured, a quarter of the time of Amazon's records, a seventh of eBay's. Other C libraries have no mallopt.
    """
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(MMAP_THRESHOLD, LARGE_BLOCK)
        mallopt(TRIM_THRESHOLD, SPARE)
        mallopt(ARENA_MAX, 2)


class LargeGarbage:
    """Collects soon after a large page was lost.

    An error refers to the frames of the call that it has ended, and these to the error and the page: such a circle
    would stay until the collector's next run. A call that succeeds leaves none.
    """

    def __init__(self) -> None:
        self._due = False

    def lost(self) -> None:
        """The call of a large page has failed."""
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(COLLECTED_AFTER, self._collect)

    def _collect(self) -> None:
        self._due = False
        gc.collect()
