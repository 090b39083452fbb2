"""The sites of the sandbox. Every module here is one, unless its name begins with `_`.

A site defines `HOSTS`, the hosts that it answers for, and the handler `answer(request)`, which reads neither a clock
nor a random source: the same request always gets the same bytes. A site that shares its hosts with another one may
define `takes(request)`, which returns whether the request is for this site.

An entry of `HOSTS` is a host name (`news.example.com`), or begins with a dot and matches the domain and all below it
(`.example.com`); `?` and `*` are wildcards. The longest matching entry counts, one that begins with `*` last.
"""

import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from types import ModuleType

from webdata.domain.modules import importable
from webdata.runtime.wire.exchange import Handler, SandboxRequest

Takes = Callable[[SandboxRequest], bool]


@lru_cache(maxsize=1024)
def site_for(host: str) -> Handler | None:
    """The handler of a host; None for an unknown one."""
    return next((answer for pattern, answer in _sites() if _fits(host, pattern)), None)


def site_that_takes(request: SandboxRequest) -> Handler | None:
    """The handler of the site whose `takes` accepts a request, which precedes that of its host; None without one."""
    return next((answer for takes, answer in _takers(request.host) if takes(request)), None)


@lru_cache(maxsize=1024)
def _takers(host: str) -> list[tuple[Takes, Handler]]:
    fitting = (site for site in _modules() if any(_fits(host, pattern) for pattern in site.HOSTS))
    return [(site.takes, site.answer) for site in fitting if hasattr(site, "takes")]


def _fits(host: str, pattern: str) -> bool:
    return fnmatchcase(f".{host}", f"*{pattern}") if pattern.startswith(".") else fnmatchcase(host, pattern)


@cache
def _sites() -> list[tuple[str, Handler]]:
    """Pattern and handler of each site; sites with `takes` are behind the others of their hosts."""
    rows = [(hasattr(site, "takes"), pattern, site.answer) for site in _modules() for pattern in site.HOSTS]
    rows.sort(key=lambda row: (row[1].startswith("*"), row[0], -len(row[1])))
    return [(pattern, answer) for _, pattern, answer in rows]


@cache
def _modules() -> list[ModuleType]:
    return list(importable(sys.modules[__name__]))
