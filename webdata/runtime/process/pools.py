"""Pools of processes that can be killed, for what a stranger's bytes can make long.

A Python thread cannot be stopped from outside, and while it runs C code no other thread runs. The processes are forked
from one that has imported the modules which they need: the first starts in 0.7 s, each further one in 25 ms.
"""

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Sequence

from pebble import ProcessPool

from webdata.runtime.process.memory import tune_heap
from webdata.runtime.process.parents import end_with_parent

TASKS = 500
"""Tasks after which a process is replaced."""
MEMORY = 2 * 1024**3
"""Bytes of a process's address space; a page of 20 MB takes 0.5 GB."""
NICENESS = 10
"""By how much they yield the processor to the event loop, whose calls are short."""


def process_pool(workers: int, modules: Sequence[str]) -> ProcessPool:
    """A pool of so many processes, which starts with its first task; the modules are imported once, before the fork."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*modules])
    program = sys.modules["__main__"]
    program.__file__ = program.__spec__ = None  # or each process imports it, which takes 60 MB more
    return ProcessPool(workers, TASKS, _limit_process, context=context)


def _limit_process() -> None:
    """Limit a process's memory and priority, have it keep little, and let SIGTERM end it at once."""
    end_with_parent(os.getppid())
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    tune_heap()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # PDFium aborts where it gets no memory
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.nice(NICENESS)
