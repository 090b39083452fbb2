"""The child process that validates a submission while its body arrives.

In a process of its own, since a million queries take the processor some seconds, and a hostile one its memory: the
kernel ends it at CPU_SECONDS and MEMORY.
"""

import os
import pickle
import resource
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from webdata.batches.validation import Validated, validated
from webdata.domain.errors import BodyTooLargeError, BrokenBodyError, OverloadedError, QueryError
from webdata.runtime.process.child_process import framed, inherited

CPU_SECONDS = 300
MEMORY = 1024**3
NICENESS = 5
FULL_DISK_RETRY = 60
"""Seconds until another try, where the disk is full."""


def main() -> None:
    """Read a task and a body from a socket, and answer with a Validated, or the error that a caller may know."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM,))
    os.nice(NICENESS)
    socket_descriptor, file_descriptor = inherited()
    pipe: Any = socket.socket(fileno=socket_descriptor).makefile("rwb", buffering=1 << 18)
    file = os.fdopen(file_descriptor, "wb", buffering=1 << 18)
    answer = _answer(lambda: validated(pickle.load(pipe), pipe, file), file)  # noqa: S301  # the parent's
    with suppress(OSError):  # where the disk is full there is a rest to write, and the answer tells
        file.close()
    pipe.write(framed(answer))
    pipe.flush()


def _answer(validate: Callable[[], Validated], file: IO[bytes]) -> Validated | tuple[str, Any]:
    """The result, or the name of an error and its argument, since a pickled exception loses its fields."""
    try:
        result = validate()
        file.flush()
    except QueryError as error:
        return "query", error.problems
    except BodyTooLargeError as error:
        return "too_large", error.most
    except BrokenBodyError as error:
        return "broken", str(error)
    except OSError as error:
        return "disk", str(error)
    return result


def error_of(answer: tuple[str, Any]) -> Exception:
    """The error that an answer stands for."""
    kind, argument = answer
    errors: dict[str, Callable[[Any], Exception]] = {
        "query": QueryError,
        "too_large": BodyTooLargeError,
        "broken": BrokenBodyError,
    }
    return errors.get(kind, lambda reason: OverloadedError(reason, FULL_DISK_RETRY))(argument)
