"""The lock files, from which `make setup` and `make develop` install."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = {"all": ROOT / "requirements.lock", "dev": ROOT / "requirements-dev.lock"}
"""By the extra that each has."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
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


def entries(extra):
    """The requirement of each entry of a lock, and its hashes."""
    text = LOCKS[extra].read_text(encoding="utf-8").strip()
    for entry in re.split(r"\n(?=\S)", text):
        requirement, *hashes = entry.replace("\\\n", "").split("--hash=")
        yield Requirement(requirement), hashes


REQUIRED = {extra: list(requirements([*PROJECT["dependencies"], *EXTRAS[extra]])) for extra in LOCKS}
EACH = [(extra, one) for extra, required in REQUIRED.items() for one in required]
LOCKED = {extra: [one for one, _ in entries(extra)] for extra in LOCKS}


@pytest.mark.parametrize(("extra", "required"), EACH, ids=lambda one: getattr(one, "name", one))
def test_the_locks_satisfy_the_project(extra, required):
    """Each dependency, those of development too, is locked at a release that pyproject.toml allows."""
    found = [one for one in LOCKED[extra] if canonicalize_name(one.name) == canonicalize_name(required.name)]
    assert found, "run `make lock`"
    for one in found:
        [pin] = one.specifier
        assert (pin.operator, required.specifier.contains(pin.version)) == ("==", True)


@pytest.mark.parametrize("required", REQUIRED["dev"], ids=lambda one: one.name)
def test_a_major_release_is_taken_on_purpose(required):
    """Each dependency of code has an upper bound, which a release that may break something is beyond."""
    bounded = any(one.operator in ("<", "==", "~=") for one in required.specifier)
    assert bounded or required.name in DATED


@pytest.mark.parametrize("extra", LOCKS)
def test_a_lock_holds_hashes_and_no_address(extra):
    """Each entry has the SHA-256 of its files, and nothing says where to get them."""
    for one, hashes in entries(extra):
        assert hashes, one.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", text) for text in hashes), one.name
    assert "://" not in LOCKS[extra].read_text(encoding="utf-8")


def test_both_locks_have_the_same_releases():
    """What a service runs is what was tested."""
    pins = {extra: {one.name: str(one.specifier) for one in found} for extra, found in LOCKED.items()}
    assert pins["all"].items() <= pins["dev"].items()
