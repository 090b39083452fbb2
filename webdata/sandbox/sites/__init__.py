"""The sites of the sandbox. Every module here is one, and is found by itself.

A site has two names: `HOSTS`, the hosts that it answers for, and `answer(request)`, a function from
SandboxRequest to Reply that reads no clock and rolls no dice, so that the same request always gets the same bytes.
A site that shares its hosts with another may have a third: `takes(request)`, whether a request is meant for it.

An entry of `HOSTS` is a host name (`news.example.com`), or begins with a dot and then stands for the domain and all
below it (`.example.com`); `?` and `*` are wildcards. Of several that fit, the longest is taken, and one that begins
with `*` only where no other fits.
Modules whose names begin with `_` are parts of sites.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from webdata.sandbox.exchange import Reply, SandboxRequest

Answer = Callable[[SandboxRequest], Reply]
Takes = Callable[[SandboxRequest], bool]


@lru_cache(maxsize=1024)
def site_for(host: str) -> Answer | None:
    """The site that answers for a host, unless another takes the request; None when nobody knows the host."""
    return next((answer for pattern, answer in _sites() if _fits(host, pattern)), None)


def site_that_takes(request: SandboxRequest) -> Answer | None:
    """The site that takes a request away from the one of its host; None when none does."""
    return next((answer for takes, answer in _takers(request.host) if takes(request)), None)


@lru_cache(maxsize=1024)
def _takers(host: str) -> list[tuple[Takes, Answer]]:
    fitting = (site for site in _modules() if any(_fits(host, pattern) for pattern in site.HOSTS))
    return [(site.takes, site.answer) for site in fitting if hasattr(site, "takes")]


def _fits(host: str, pattern: str) -> bool:
    return fnmatchcase(f".{host}", f"*{pattern}") if pattern.startswith(".") else fnmatchcase(host, pattern)


@cache
def _sites() -> list[tuple[str, Answer]]:
    """Pattern and answer of each site; those that take what they are meant for come after all others of their hosts."""
    rows = [(hasattr(site, "takes"), pattern, site.answer) for site in _modules() for pattern in site.HOSTS]
    rows.sort(key=lambda row: (row[1].startswith("*"), row[0], -len(row[1])))
    return [(pattern, answer) for _, pattern, answer in rows]


@cache
def _modules() -> list[ModuleType]:
    names = [module.name for module in iter_modules(__path__, f"{__name__}.")]
    return [import_module(name) for name in names if not name.rpartition(".")[2].startswith("_")]
