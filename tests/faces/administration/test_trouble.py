"""Commands over a database that cannot be used."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "command",
    [("keys", "create"), ("keys", "list"), ("accounts", "list"), ("usage",), ("accounts", "credit", "x", "1")],
)
def test_a_database_that_fails_is_one_line(attempt, run, tmp_path, command):
    """An error of the database is one line, with status 1."""
    run("keys", "list")
    with closing(sqlite3.connect(tmp_path / "webdata.sqlite3")) as database:
        for table in ("keys", "movements", "accounts"):
            database.execute(f"DROP TABLE {table}")
    result = attempt(*command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: the database does not answer: ")
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_no_database_is_one_line(attempt, tmp_path):
    """A file with other content is a mistake, in one line."""
    (tmp_path / "webdata.sqlite3").write_bytes(b"no database" * 1000)
    result = attempt("keys", "list")
    assert result.exit_code == 2
    assert "Error: the database cannot be used (file is not a database)" in result.stderr


@pytest.mark.skipif(not shutil.which("prlimit"), reason="a limit of files' sizes needs util-linux")
@pytest.mark.usefixtures("starts")
def test_a_full_disk_is_one_line(url, run, tmp_path):
    """A disk without room, as a limit of files' sizes, is one line, with status 1."""
    run("keys", "list")
    command = ["prlimit", "--fsize=20000", Path(sys.executable).with_name("webdata"), "keys", "create"]
    environ = {**os.environ, "WEBDATA_DATABASE": url}
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: the database does not answer: ")
    assert ended.stderr.count("\n") == 1
