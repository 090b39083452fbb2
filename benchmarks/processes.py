"""What processes take: memory, open files, threads and processor time, as Linux counts them in /proc."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PROPORTIONAL = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)
RESIDENT = re.compile(r"^Rss: +(\d+) kB", re.MULTILINE)
TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """What several processes take together; those that have ended take nothing."""

    rss_mb: float
    """Resident memory, in which what processes share is counted once for each."""
    pss_mb: float
    """Resident memory, in which what processes share is counted once: the proportional set size."""
    descriptors: int
    threads: int
    processor_seconds: float
    """Since the start of each."""


def usage(pid: int) -> Usage:
    """What a process and its descendants take."""
    pids = [pid, *descendants(pid)]
    return Usage(
        sum(_kilobytes(RESIDENT, _read(one, "smaps_rollup")) for one in pids) / 1024,
        proportional_mb(pids),
        sum(_entries(one, "fd") for one in pids),
        sum(_entries(one, "task") for one in pids),
        sum(map(processor_seconds, pids)),
    )


def proportional_mb(pids: Iterable[int]) -> float:
    """The proportional set size of processes."""
    return sum(_kilobytes(PROPORTIONAL, _read(pid, "smaps_rollup")) for pid in pids) / 1024


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    children = _read(pid, f"task/{pid}/children").split()
    return [one for child in map(int, children) for one in (child, *descendants(child))]


def command_of(pid: int) -> str:
    """The command line of a process; "" after its end."""
    return _read(pid, "cmdline").replace("\0", " ")


def processor_seconds(pid: int) -> float:
    """The processor time of a process, without its children; 0 after its end."""
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS


def _kilobytes(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0


def _entries(pid: int, folder: str) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/{folder}").iterdir())
    except OSError:
        return 0


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
