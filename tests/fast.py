"""Which tests are fast, and that they are: they start no server, browser or process, and read no saved pages.

Nobody marks them: the folder and the fixtures of a test decide, and one that is fast and starts something fails. Those
over PostgreSQL, the second database, are slow in the same way.
"""

from __future__ import annotations

import builtins
import io
import os
import socket
import subprocess
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = Path(__file__).parent

FOLDERS = (
    "batches",
    "benchmarks",
    "crawling",
    "e2e",
    "fetching/conversion",
    "fetching/egress",
    "fetching/transports",
    "runtime",
)
"""Folders whose tests are about sockets, processes and workers that wait: none of them is fast."""
FIXTURES = {"captures", "starts"}
"""Fixtures of tests that are not fast; what starts something asks for `starts`."""
POSTGRESQL = {"empty_postgresql", "module_postgresql", "postgresql"}
"""Fixtures of the second database."""
PARAMETERS = {*POSTGRESQL, "redis"}
"""Parameters by which a fixture asks for one that starts something while the test runs."""

STARTS: tuple[tuple[Any, str, str], ...] = (
    (socket.socket, "bind", "listens"),
    (socket.socket, "connect", "connects to a server"),
    (socket.socket, "connect_ex", "connects to a server"),
    (subprocess.Popen, "__init__", "starts a process"),
    (os, "fork", "starts a process"),
    (os, "posix_spawn", "starts a process"),
    (builtins, "open", "reads a saved page"),
    (io, "open", "reads a saved page"),
)
"""What a fast test must not call, and what it would do."""

_seen: set[str] | None = None


def is_fast(item: pytest.Item) -> bool:
    folder = item.path.relative_to(TESTS).as_posix()
    asked = FIXTURES.intersection(item.fixturenames) or PARAMETERS.intersection(_parameters(item))
    return not (folder.startswith(FOLDERS) or asked or item.get_closest_marker("slow"))


def is_over_postgresql(item: pytest.Item) -> bool:
    return not POSTGRESQL.isdisjoint([*item.fixturenames, *_parameters(item)])


def _parameters(item: pytest.Item) -> list[str]:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return [value for value in values if _is_text(value)]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


@pytest.fixture(scope="session")
def starts() -> None:
    """For every fixture, and for every test by itself, that starts a server or a process."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_over_postgresql(item):
            item.add_marker("slow")
        if is_fast(item):
            item.add_marker("fast")


def pytest_configure() -> None:
    for owner, name, meaning in STARTS:
        setattr(owner, name, _noticed(getattr(owner, name), meaning))


def _noticed(function: Callable[..., Any], meaning: str) -> Callable[..., Any]:
    """The function, whose calls are noted while a fast test runs.

    An audit hook would see the same; but while it runs for one thread, Python cannot trace another that starts.
    """

    @wraps(function)
    def noticed(*args: Any, **kwargs: Any) -> Any:
        if _seen is not None and not _is_allowed(meaning, args):
            _seen.add(meaning)
        return function(*args, **kwargs)

    return noticed


def _is_allowed(meaning: str, args: tuple[Any, ...]) -> bool:
    """Whether it is a file that is no saved page, or a socket at a path of this machine."""
    if meaning == "reads a saved page":
        return "shared/captures/" not in str(args[0])
    return len(args) > 1 and isinstance(args[0], socket.socket) and _is_text(args[1])


@contextmanager
def watched() -> Iterator[set[str]]:
    """What is done in the block that no fast test does."""
    global _seen  # noqa: PLW0603  # read by what replaces the functions in all of the process
    _seen = seen = set()
    try:
        yield seen
    finally:
        _seen = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    return (yield from _held_to_be_fast(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    return (yield from _held_to_be_fast(item))


def _held_to_be_fast(item: pytest.Item) -> Iterator[None]:
    if not item.get_closest_marker("fast"):
        return (yield)
    with watched() as seen:
        result = yield
    assert not seen, f"it {' and '.join(sorted(seen))}: its fixture, or the test, must ask for `starts` or `captures`"
    return result
