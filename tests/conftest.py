"""What tests of several parts share."""

import os
from pathlib import Path

import pytest

CAPTURES = Path(__file__).parents[2] / "shared" / "captures"


def pytest_configure() -> None:
    """Tests leave no pages behind in the working directory; those that keep some say where."""
    os.environ["WEBDATA_KEPT_PAGES"] = ""


@pytest.fixture(scope="session")
def captures():
    """The folder of real saved pages beside the checkout; a test that needs it is skipped where it is absent."""
    if not CAPTURES.is_dir():
        pytest.skip("there are no real saved pages beside the project (../shared/captures)")
    return CAPTURES
