"""Debian's packages, which are installed once somebody agrees."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def agreed(**environ):
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "YES")}
    return subprocess.run(
        ["sh", "-c", ". scripts/debian; agreed chromium"],
        cwd=ROOT,
        env={**kept, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("starts")
@pytest.mark.parametrize("name", ["CI", "YES"])
def test_a_variable_agrees(name):
    """CI=1 and YES=1 agree, without a word."""
    done = agreed(**{name: "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("starts")
def test_nothing_is_installed_where_nobody_can_be_asked():
    """Without a terminal apt-get changes nothing, and the line that agrees is told."""
    done = agreed()
    assert done.returncode == 1
    assert "not installing Debian's chromium" in done.stderr
    assert "make setup YES=1" in done.stderr
