"""Names of processes, and which processes are dead."""

import os
import subprocess
import sys

import pytest

from webdata.runtime.process.names import is_dead, this_process
from webdata.stores.accounts.tables import RESERVATIONS

pytestmark = pytest.mark.usefixtures("starts")

CODE = "from webdata.runtime.process.names import this_process; print(this_process())"


def test_this_process_is_not_dead():
    """This process is not dead, and its name does not change."""
    assert this_process() == this_process()
    assert not is_dead(this_process())


def test_a_process_that_has_ended_is_dead():
    """A process of this machine that has ended is dead."""
    name = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout.strip()
    assert is_dead(name)


def test_a_zombie_is_dead():
    """A process that has ended is dead also before its parent reaps it."""
    with subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True) as process:
        name = process.stdout.read().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(name)


def test_a_reused_process_id_is_another_process():
    """A process is dead when its id belongs to a process with another start time."""
    host, pid, started = this_process().rsplit(":", 2)
    assert is_dead(f"{host}:{pid}:{int(started or 0) + 1}")


def test_processes_of_other_machines_are_not_dead():
    """The state of another machine's process is unknown, so it is not dead."""
    assert not is_dead("elsewhere.example:999999999:1")
    assert not is_dead(f"elsewhere.example:{os.getpid()}:1")


def test_a_name_fits_into_its_column():
    """The name of this process contains its id and fits into its column of the database."""
    assert len(this_process()) < RESERVATIONS.c.process.type.length
    assert str(os.getpid()) in this_process()
