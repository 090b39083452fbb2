"""The processor time of other processes, which a busy machine does not change, as it does the wall's."""

import os
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PARENT, USER, SYSTEM, ENDED_CHILDREN = 1, 11, 12, slice(13, 15)
"""Places of ppid, utime, stime, cutime and cstime behind the name of a process in proc(5)'s `stat`."""


def of_process(pid):
    """Seconds that a process itself has used the processor."""
    fields = _stat(pid)
    return (int(fields[USER]) + int(fields[SYSTEM])) / TICKS_A_SECOND


def of_family(pid):
    """Seconds of a process and all of its descendants, also of those that have ended and were waited for."""
    ended = sum(map(int, _stat(pid)[ENDED_CHILDREN])) / TICKS_A_SECOND
    return of_process(pid) + ended + sum(map(of_family, _children(pid)))


def _children(pid):
    processes = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [process for process in processes if int(_stat(process)[PARENT]) == pid]


def _stat(pid):
    """The numbers of a process; zeros for one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 50
