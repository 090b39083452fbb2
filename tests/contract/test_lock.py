"""The lock file, from which `make setup` installs."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ENTRIES = [entry.replace("\\\n", "").split("--hash=") for entry in re.split(r"\n(?=\S)", LOCK.strip())]
LOCKED = [Requirement(entry[0]) for entry in ENTRIES]
DATED = {"certifi", "tzdata"}
"""Packages of data alone, whose releases are dates and break nothing."""


def requirements(names):
    """What is required, with that of the project's own extras."""
    for text in names:
        required = Requirement(text)
        if required.name == PROJECT["name"]:
            yield from requirements(one for extra in sorted(required.extras) for one in EXTRAS[extra])
        else:
            yield required


REQUIRED = list(requirements([*PROJECT["dependencies"], *EXTRAS["dev"]]))


@pytest.mark.parametrize("required", REQUIRED, ids=lambda one: one.name)
def test_the_lock_satisfies_the_project(required):
    """Each dependency, those of development included, is locked at a release that pyproject.toml allows."""
    found = [one for one in LOCKED if canonicalize_name(one.name) == canonicalize_name(required.name)]
    assert found, "run `make lock`"
    for one in found:
        [pin] = one.specifier
        assert (pin.operator, required.specifier.contains(pin.version)) == ("==", True)


@pytest.mark.parametrize("required", REQUIRED, ids=lambda one: one.name)
def test_a_major_release_is_taken_on_purpose(required):
    """Each dependency of code has an upper bound, which a release that may break something is beyond."""
    bounded = any(one.operator in ("<", "==", "~=") for one in required.specifier)
    assert bounded or required.name in DATED


def test_the_lock_holds_hashes_and_no_address():
    """Each entry has the SHA-256 of its files, and nothing says where to get them."""
    for name, *hashes in ENTRIES:
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", one) for one in hashes), name
    assert "://" not in LOCK
