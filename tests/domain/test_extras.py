"""Libraries that not every installation has."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from webdata.domain.errors import ConfigError, MissingExtraError
from webdata.domain.extras import EXTRAS, extra, has_extra, missing_extra

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"all", "bench", "dev"}


def test_every_extra_has_its_sentence():
    """The extras that a message can name are those that can be installed, and `all` has each of them."""
    assert set(EXTRAS) == set(DECLARED) - FOR_DEVELOPERS
    [everything] = map(Requirement, DECLARED["all"])
    assert everything.extras == set(EXTRAS)


def test_an_extra_installs_no_more_than_it_names():
    """No library of an extra is one that every installation has."""
    own = {Requirement(one).name for name in EXTRAS for one in DECLARED[name]}
    assert own.isdisjoint({Requirement(one).name for one in PROJECT["dependencies"]})


@pytest.mark.parametrize("name", sorted(EXTRAS))
def test_a_missing_library_is_told_with_its_command(name, monkeypatch):
    """An import that fails for want of an extra becomes one sentence with the command that installs it."""
    _, [module, *_] = EXTRAS[name]
    with pytest.raises(MissingExtraError) as caught, extra(name):
        raise ModuleNotFoundError(f"No module named '{module}.part'", name=f"{module}.part")
    assert isinstance(caught.value, ConfigError)
    assert re.fullmatch(rf"[^.:]+ the extra {name}: pip install 'webdata\[{name}\]'", str(caught.value))
    monkeypatch.setattr("webdata.domain.extras.find_spec", lambda _: None)
    assert not has_extra(name)


def test_another_missing_module_is_no_missing_extra():
    """The import of a module that no extra installs fails as anywhere else."""
    with pytest.raises(ModuleNotFoundError, match="nothing_here"), extra("pdf"):
        import nothing_here  # noqa: F401


def test_what_is_installed_is_there():
    """An extra whose libraries are all installed is there, and its sentence names what it is for."""
    assert has_extra("pdf")
    assert missing_extra("pdf").startswith("PDF documents need")
