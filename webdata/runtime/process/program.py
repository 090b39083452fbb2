"""How this program was called."""

import os
import shlex
import shutil
import sys
from pathlib import Path

MODULE = "__main__.py"


def called_as() -> str:
    """What to type in the same folder to call it again: `webdata`, `.venv/bin/webdata` or `python -m webdata`."""
    path = Path(sys.argv[0])
    if path.name == MODULE:
        return f"{shlex.quote(_typed(Path(sys.executable)))} -m webdata"
    return shlex.quote(_typed(path))


def _typed(program: Path) -> str:
    """Its name where the PATH leads to it, else its path, from the current folder where it is in it."""
    if shutil.which(program.name) == str(program.absolute()):
        return program.name
    if not program.is_absolute():
        return str(program)
    return os.path.relpath(program) if program.is_relative_to(Path.cwd()) else str(program)
