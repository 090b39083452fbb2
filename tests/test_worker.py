"""The program that runs batches, as a child of the service."""

import pickle
import subprocess
import sys

import pytest

from tests.conftest import free_port
from webdata.config.config import Config


@pytest.mark.slow
def test_a_child_that_finds_no_database_ends_with_one_line(starts):
    """A database that is away when the child begins is told in a line, and the service begins another child."""
    settings = Config(database=f"postgresql://postgres@127.0.0.1:{free_port()}/webdata")
    command = [sys.executable, "-c", "from webdata.worker import main; main()"]
    ended = subprocess.run(command, input=pickle.dumps(settings), capture_output=True, timeout=60, check=False)
    [line] = ended.stderr.decode().splitlines()
    assert "The process that runs batches cannot begin: the database cannot be used" in line
    assert ended.returncode == 1
