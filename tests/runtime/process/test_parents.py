"""Children whose parent is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HANGS = """\
import time
def main():
    print("runs", flush=True)
    while True:
        time.sleep(60)
"""
PARENT = """\
import subprocess, sys, time
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from webdata.runtime.process.child_process import start_child
import os
os.environ["PYTHONPATH"] = sys.argv[1]
print(start_child("hangs", stdin=subprocess.PIPE).pid, flush=True)
time.sleep(60)
"""


def ended(pid):
    """Whether a process has ended, or is a zombie that nobody reaps."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's signal is Linux's")
def test_a_child_ends_when_its_parent_is_killed(tmp_path):
    """Also one that reads no pipe, and ignores the signals of terminals, as a child that hangs does."""
    (tmp_path / "hangs.py").write_text(HANGS)
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), root], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        assert parent.stdout.readline() == "runs\n"
        assert not ended(child)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        for _ in range(200):
            if ended(child):
                break
            time.sleep(0.01)
        else:
            os.kill(child, signal.SIGKILL)
            pytest.fail("the child runs on")
