"""Processes by name, so that it is known whose calls ended with their process."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """`host:pid:start`: a name that no other process has, also when a process id is used again."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def is_dead(process: str) -> bool:
    """Whether a process of this machine has ended; of other machines' processes it is not known, so they are not."""
    host, pid, started = process.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    return not _runs(int(pid)) or _started(int(pid)) != started or _stat(int(pid))[:1] == ["Z"]


def nobody(_: str) -> bool:
    """For who only looks at the time: no process is held to be dead."""
    return False


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks (proc(5), field 22 of stat); empty where there is no /proc."""
    return "".join(_stat(pid)[19:20])


def _stat(pid: int) -> list[str]:
    """From its state on, which is Z when it has ended and its parent, as in some containers, does not look after it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
