"""Names of processes, to find the reservations of processes that have died, and who else uses a file."""

import os
import socket
from pathlib import Path


def this_process() -> str:
    """`host:pid:start`: a name that stays unique when the process id is reused."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def is_dead(process: str) -> bool:
    """Whether a process has ended; False for processes of other machines, whose state is unknown here."""
    host, pid, started = process.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    return not _runs(int(pid)) or _started(int(pid)) != started or _stat(int(pid))[:1] == ["Z"]


def others_with(file: Path) -> list[int]:
    """The ids of other processes that have a file open: those that this user may inspect, where there is a /proc."""
    return [pid for pid in _others() if any(_is_same(file, opened) for opened in _opened(pid))]


def _others() -> list[int]:
    return [int(one.name) for one in Path("/proc").glob("[0-9]*") if int(one.name) != os.getpid()]


def _opened(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return []


def _is_same(file: Path, other: Path) -> bool:
    try:
        return file.samefile(other)
    except OSError:
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
    """When a process started, in clock ticks since boot (proc(5), field 22 of stat); empty where there is no /proc."""
    return "".join(_stat(pid)[19:20])


def _stat(pid: int) -> list[str]:
    """The fields of stat from the state on, which is Z for a process that has ended but was not reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
