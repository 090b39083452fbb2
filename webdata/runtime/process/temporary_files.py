"""A folder of a program's own for temporary files: nothing of it stays, however the program ends.

A browser and multiprocessing leave files where their process is killed. Whoever starts next, or ends, removes the
folders that nobody uses: a program holds a lock of its folder (flock(2)), which the kernel gives back at its end.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path
from shutil import rmtree

PREFIX = "webdata-tmp-"
"""Short: the path of a Unix socket in such a folder has at most 107 bytes (unix(7))."""
LAST = -200
"""Of the finalizers of multiprocessing, which removes its own folder at -100, and complains if that is gone."""


def own_temporary_files() -> Finalize:
    """Have Python, and processes that are started from here on, put temporary files into a folder of this program.

    It is removed when the program ends, after multiprocessing's own folder in it; before that by what is returned.
    """
    folder = ExitStack()
    tempfile.tempdir = str(folder.enter_context(locked_folder(_around(Path(tempfile.gettempdir())))))
    os.environ["TMPDIR"] = tempfile.tempdir
    return Finalize(None, folder.close, exitpriority=LAST)


def _around(folder: Path) -> Path:
    """A program that another one has started makes its folder beside that one's, so that paths stay short."""
    return folder.parent if folder.name.startswith(PREFIX) else folder


@contextmanager
def locked_folder(parent: Path) -> Iterator[Path]:
    """A new folder that only this user can read; those of programs that were killed are removed before and after."""
    remove_unused(parent)
    folder, descriptor = _locked_folder(parent)
    try:
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)
        os.close(descriptor)
        remove_unused(parent)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():  # another program may have found it before it was locked
                return folder, descriptor
            os.close(descriptor)


def remove_unused(parent: Path) -> None:
    """Remove this user's folders whose programs have ended; what cannot be removed yet stays for the next time."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(descriptor).st_uid == os.getuid():
                    rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
