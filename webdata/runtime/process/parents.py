"""The end of a process with its parent, also where that is killed and can stop nothing."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html"""


def end_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when its parent, of this process id, has died.

    The parent's thread that started it must live as long as the parent does. On other systems than Linux nothing is
    done: there a child ends when it reads the end of its pipe.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it has died before
        os.kill(os.getpid(), number)
