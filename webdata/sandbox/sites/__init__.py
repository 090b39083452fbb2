"""The sites of the sandbox. Every module here is one, and is found by itself.

A site has two names: `HOSTS`, the hosts that it answers for, and `answer(request)`, a function from
SandboxRequest to Reply that reads no clock and rolls no dice, so that the same request always gets the same bytes.

An entry of `HOSTS` is a host name (`news.example.com`), or begins with a dot and then stands for the domain and all
below it (`.example.com`); `?` and `*` are wildcards. Of several that fit, the longest is taken.
Modules whose names begin with `_` are parts of sites.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules

from webdata.sandbox.exchange import Reply, SandboxRequest

Answer = Callable[[SandboxRequest], Reply]


@lru_cache(maxsize=1024)
def site_for(host: str) -> Answer | None:
    """The site that answers for a host; None when nobody knows it."""
    return next((answer for pattern, answer in _sites() if _fits(host, pattern)), None)


def _fits(host: str, pattern: str) -> bool:
    return fnmatchcase(f".{host}", f"*{pattern}") if pattern.startswith(".") else fnmatchcase(host, pattern)


@cache
def _sites() -> list[tuple[str, Answer]]:
    names = [module.name for module in iter_modules(__path__, f"{__name__}.")]
    modules = [import_module(name) for name in names if not name.rpartition(".")[2].startswith("_")]
    pairs = [(pattern, module.answer) for module in modules for pattern in module.HOSTS]
    return sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)
