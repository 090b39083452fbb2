"""The room of disks: a part of it is a reserve, which large work leaves to what must go on."""

from collections.abc import Iterable
from pathlib import Path
from shutil import disk_usage

PART = 0.05
LARGEST_RESERVE = 1 << 30
SMALLEST_RESERVE = 16 << 20
"""The reserve is this part of a disk, within these bytes: 5 % of a large disk would never be used, and 5 % of a tiny
one would not hold the log of SQLite, which takes 4 MiB before it is written to the database."""


FOR_LIVE_KEYS = 0.25
"""The part of the reserve at which the batches of live keys stop, too; those of test keys, which are free, before."""


def lacks_room(folders: Iterable[Path], part: float = FOR_LIVE_KEYS) -> bool:
    """Whether a disk of these folders has less room than this part of its reserve; False where none tells."""
    return any(_lacks_room(folder, part) for folder in folders)


def _lacks_room(folder: Path, part: float) -> bool:
    try:
        disk = disk_usage(folder)
    except OSError:  # it may not be there yet
        return False
    return disk.free < part * reserve(disk.total)


def reserve(total: int) -> int:
    """The bytes of a disk of so many that large work leaves free."""
    return max(SMALLEST_RESERVE, min(int(total * PART), LARGEST_RESERVE))
