"""Which tests are fast, and that they are: they start no server, browser or process, and read no saved pages.

Nobody marks them: the folder and the fixtures of a test decide, and one that is fast and starts something fails.
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

FOLDERS = {"benchmarks", "conversion", "crawling", "e2e", "egress", "server", "transports"}
"""Folders whose tests are about sockets and processes: none of them is fast."""
FIXTURES = {
    "captures",
    "module_postgresql",
    "module_redis",
    "own_redis",
    "postgresql_server",
    "redis_process",
    "starts",
}
"""Fixtures that read saved pages or start something: no test that asks for one, itself or by another, is fast."""
CHOSEN = {"postgresql", "redis", "shared_redis"}
"""Parameters by which a fixture asks for one of those while the test runs."""

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
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    starts = FIXTURES & set(item.fixturenames) or CHOSEN & {one for one in parameters if isinstance(one, str)}
    return not (folder in FOLDERS or starts or item.get_closest_marker("slow"))


@pytest.fixture
def starts() -> None:
    """For a test that starts a server or a process in its own lines."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_fast(item):
            item.add_marker("fast")


def pytest_configure() -> None:
    sys.addaudithook(_notice)


def _notice(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is None:
        return
    if event in EVENTS:
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
    assert not seen, f"it {' and '.join(sorted(seen))}: a test that does asks for a fixture named in tests/fast.py"
    return result
