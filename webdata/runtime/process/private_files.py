"""Files that only the service's own user may read, from the moment they exist."""

import os
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; folders that exist stay as they are. Raises OSError."""
    for one in (*reversed(folder.parents), folder):  # parents=True would give those above it the usual mode
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: a new file is the user's alone."""
    return os.open(path, flags, 0o600)


def replace(file: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically by one that has the mode from the beginning. Raises OSError."""
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(descriptor, "wb") as file_object:
        file_object.write(content)
        file_object.flush()
        os.fsync(descriptor)
    new.replace(file)
