"""How the program was called."""

import sys

import pytest

from webdata.runtime.process.program import called_as


@pytest.fixture
def program(tmp_path, monkeypatch):
    """An executable in a folder beside the current one; returns its path."""
    folder = tmp_path / "here" / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "webdata").write_text("#!/bin/sh\n")
    (folder / "webdata").chmod(0o700)
    monkeypatch.chdir(tmp_path / "here")
    return folder / "webdata"


def test_a_program_is_called_as_it_was(program, monkeypatch, tmp_path):
    """By its name where the PATH leads to it, else by its path, which is short inside of the current folder."""
    monkeypatch.setenv("PATH", "/usr/bin")
    for given, typed in [(".venv/bin/webdata", ".venv/bin/webdata"), (str(program), ".venv/bin/webdata")]:
        monkeypatch.setattr(sys, "argv", [given, "serve"])
        assert called_as() == typed
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    assert called_as() == str(program)
    monkeypatch.setenv("PATH", str(program.parent))
    assert called_as() == "webdata"


def test_a_module_is_called_with_its_python(program, monkeypatch):
    """`python -m webdata` is that of the same Python."""
    monkeypatch.setattr(sys, "argv", ["/somewhere/webdata/__main__.py"])
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    assert called_as() == ".venv/bin/python -m webdata"
