"""Which processes are dead."""

import os
import subprocess
import sys

from webdata.stores.processes import is_dead, this_process


def test_this_one_lives():
    """The process that asks is not dead, and is called the same each time."""
    assert this_process() == this_process()
    assert not is_dead(this_process())


def test_one_that_has_ended():
    """A process of this machine that has ended is dead."""
    code = "from webdata.stores.processes import this_process; print(this_process())"
    name = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert is_dead(name)


def test_one_that_nobody_has_buried():
    """A process that has ended is dead, though the system still knows it."""
    code = "from webdata.stores.processes import this_process; print(this_process())"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        name = process.stdout.read().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(name)


def test_a_number_that_is_used_again():
    """A process that began at another time than the one of its number is dead."""
    host, pid, started = this_process().rsplit(":", 2)
    assert is_dead(f"{host}:{pid}:{int(started or 0) + 1}")


def test_other_machines():
    """Of another machine's processes it is not known, so they are not dead."""
    assert not is_dead("elsewhere.example:999999999:1")
    assert not is_dead(f"elsewhere.example:{os.getpid()}:1")
