"""What tests of several parts share."""

import inspect
import os
from functools import wraps
from pathlib import Path

import pytest
from scrapy.utils.defer import deferred_from_coro

CAPTURES = Path(__file__).parents[2] / "shared" / "captures"


def pytest_configure() -> None:
    """Tests leave no pages behind, don't pause, and use no other transport than plain HTTP; those that do say so."""
    os.environ["WEBDATA_KEPT_PAGES"] = ""
    os.environ["WEBDATA_BACKOFF"] = "0"
    os.environ["WEBDATA_TRANSPORTS"] = "http"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Tests marked `task` run as asyncio tasks, in which asyncio's own things can be awaited."""
    for item in items:
        if item.get_closest_marker("task") and inspect.iscoroutinefunction(item.obj):
            item.obj = as_task(item.obj)


def as_task(test):
    @wraps(test)
    def run(*args, **kwargs):
        return deferred_from_coro(test(*args, **kwargs))

    return run


@pytest.fixture(scope="session")
def captures():
    """The folder of real saved pages beside the checkout; a test that needs it is skipped where it is absent."""
    if not CAPTURES.is_dir():
        pytest.skip("there are no real saved pages beside the project (../shared/captures)")
    return CAPTURES
