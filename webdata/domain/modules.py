"""The modules of a package in which each is found by its name: spiders, page modules, sites of the sandbox."""

import logging
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

logger = logging.getLogger(__name__)


def importable(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a package, without those whose name begins with `_`, in the order of their names.

    One that cannot be imported is named in the log and left out, so that an engine that is not finished costs the
    others nothing.
    """
    for found in iter_modules(package.__path__):
        name = f"{package.__name__}.{found.name}"
        if found.name.startswith("_"):
            continue
        try:
            yield import_module(name)
        except Exception:
            logger.exception("%s is left out: it cannot be imported", name)
