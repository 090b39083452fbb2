"""One function of a program over many files, in an interpreter that has only the peer's own packages."""

import json
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any


def answer(functions: dict[str, Any], read: Callable[[Path], bytes]) -> None:
    """Print a line of JSON with the version of a package, then one for each file that standard input names."""
    logging.disable()
    name, package = sys.argv[1:]
    convert = functions[name]()
    print(json.dumps({"version": version(package)}))
    for line in sys.stdin.read().splitlines():
        body, found = read(Path(line)), None
        begun = process_time()
        with suppress(Exception):  # a peer that fails has found nothing
            found = convert(body)
        print(json.dumps({"found": found, "ms": 1000 * (process_time() - begun)}))
