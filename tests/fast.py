"""Which tests are fast, and that they are: they start no server, browser or process, and read no saved pages.

Nobody marks them: the folder and the fixtures of a test decide, and one that is fast and starts something fails. Those
over PostgreSQL, the second database, are slow in the same way.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent

FOLDERS = {"batches", "benchmarks", "conversion", "crawling", "e2e", "egress", "server", "transports"}
"""Folders whose tests are about sockets, processes and workers that wait: none of them is fast."""
FIXTURES = {"captures", "starts"}
"""Fixtures of tests that are not fast; what starts something asks for `starts`."""
POSTGRESQL = {"empty_postgresql", "module_postgresql", "postgresql"}
"""Fixtures of the second database."""
PARAMETERS = {*POSTGRESQL, "redis"}
"""Parameters by which a fixture asks for one that starts something while the test runs."""

EVENTS = {
    "socket.bind": "listens",
    "socket.connect": "connects to a server",
    "subprocess.Popen": "starts a process",
    "os.fork": "starts a process",
    "os.posix_spawn": "starts a process",
}
"""Python's audit events that a fast test must not raise, and what they mean."""

_seen: set[str] | None = None


def is_fast(item: pytest.Item) -> bool:
    folder = item.path.relative_to(TESTS).parts[0]
    asked = FIXTURES.intersection(item.fixturenames) or PARAMETERS.intersection(_parameters(item))
    return not (folder in FOLDERS or asked or item.get_closest_marker("slow"))


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
    sys.addaudithook(_notice)


def _notice(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is None:
        return
    if event in EVENTS and not (event.startswith("socket.") and _is_text(arguments[1])):  # a path of this machine
        _seen.add(EVENTS[event])
    elif event == "open" and isinstance(arguments[0], str) and "shared/captures/" in arguments[0]:
        _seen.add("reads a saved page")


@contextmanager
def watched() -> Iterator[set[str]]:
    """What is done in the block that no fast test does."""
    global _seen  # noqa: PLW0603  # an audit hook belongs to the process, and cannot be removed
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
