"""A child process of this program that works beside the service, and ends with it.

Its settings are pickled to its standard input, as arguments would be visible to every user. That stays open: its end,
which the parent's death causes at the latest, stops the child. What the child tells the parent, for metrics, goes
through a pipe of its own: lines of JSON.
"""

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from webdata.domain.errors import ConfigError, DatabaseUnavailableError

logger = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a terminal or a service manager sends to all processes; the parent handles them and stops the child."""
ROOT = str(Path(__file__).parents[3])
"""The folder of this package, which is not on the path of a new interpreter where the package is not installed."""

READ_AT_ONCE = 65536
LENGTH_BYTES = 4
"""Bytes of the length that precedes a pickled answer on a socket."""


class ChildProcess:
    """The process that runs `main` of a module, or its successors.

    `told` is called with the parts of each message of theirs (see `tell_parent`).
    """

    def __init__(self, module: str, told: Callable[..., None]) -> None:
        self._told = told
        self._messages: int | None = None
        self._unread = b""
        self._module = module
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def has_died(self) -> bool:
        """Whether it has ended otherwise than by itself."""
        return self.process is not None and self.process.poll() not in (None, 0)

    def start(self, settings: object) -> None:
        """Start it with these settings, which can be pickled; raises OSError where there is no room for a process."""
        self._close_pipes()
        self._messages, messages = os.pipe()
        os.set_blocking(self._messages, False)
        os.set_blocking(messages, False)
        try:
            self.process = start_child(self._module, messages, stdin=subprocess.PIPE)
        finally:
            os.close(messages)
        asyncio.get_running_loop().add_reader(self._messages, self._read)
        assert self.process.stdin
        with contextlib.suppress(OSError):  # it has died already: the next look sees that
            self.process.stdin.write(pickle.dumps(settings))
            self.process.stdin.flush()

    async def stop(self, seconds: float) -> None:
        """Let it stop within so many seconds, or kill it."""
        self._close_stdin()
        if self.process:
            await asyncio.to_thread(_wait_or_kill, self.process, seconds)
        self._close_pipes()

    def _read(self) -> None:
        """Read what the child has told so far."""
        assert self._messages is not None
        try:
            read = os.read(self._messages, READ_AT_ONCE)
        except BlockingIOError:
            return
        *lines, self._unread = (self._unread + read).split(b"\n")
        for line in lines:
            self._told(*orjson.loads(line))
        if not read:
            asyncio.get_running_loop().remove_reader(self._messages)

    def _close_pipes(self) -> None:
        """Read what a child that has ended has told last, and close its pipes."""
        self._close_stdin()
        if self._messages is not None:
            self._read()
            asyncio.get_running_loop().remove_reader(self._messages)
            os.close(self._messages)
            self._messages, self._unread = None, b""

    def _close_stdin(self) -> None:
        if self.process and self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()


def start_child(module: str, *descriptors: int, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a process that runs `main` of a module, which finds these descriptors in `inherited`.

    It ignores STOP_SIGNALS. Raises OSError where there is no room for a process.
    """
    code = (
        "import sys; sys.path.append(sys.argv[1]); from webdata.runtime.process.parents import end_with_parent; "
        f"end_with_parent({os.getpid()}); from {module} import main; main()"
    )
    # -P: the current folder's modules are not imported
    command = [sys.executable, "-P", "-c", code, ROOT, *map(str, descriptors)]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # the child inherits the mask
    try:
        return subprocess.Popen(command, stdin=stdin, pass_fds=descriptors)  # noqa: S603  # it is this program
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


async def received_answer(pipe: socket.socket) -> Any:
    """A child's next answer on a socket; raises EOFError for a child that has closed it, or ended."""
    length = int.from_bytes(await _received(pipe, LENGTH_BYTES), "big")
    return pickle.loads(await _received(pipe, length))  # noqa: S301  # from the own child


async def _received(pipe: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        part = await asyncio.get_running_loop().sock_recv(pipe, length - len(received))
        if not part:
            raise EOFError("it has closed its socket")
        received += part
    return bytes(received)


def _wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def inherited() -> list[int]:
    """In the child: the descriptors that it was started with."""
    return [int(argument) for argument in sys.argv[2:]]


def framed(answer: object) -> bytes:
    """In the child: an answer as it is sent on a socket."""
    pickled = pickle.dumps(answer)
    return len(pickled).to_bytes(LENGTH_BYTES, "big") + pickled


def settings_of_child() -> Any:
    """In the child: the settings that it was started with."""
    return pickle.load(sys.stdin.buffer)  # noqa: S301  # from the parent


def run_child(what: str, run: Callable[[Any], None]) -> None:
    """In the child: run with the settings that it was started with. Why it cannot begin is logged in a line."""
    try:
        run(settings_of_child())
    except (ConfigError, DatabaseUnavailableError) as error:  # it was there when the service began
        logger.error("%s cannot begin: %s", what, error)  # noqa: TRY400  # the message says all
        sys.exit(1)


def tell_parent(*message: str) -> None:
    """In the child: send a message; it is lost where the parent has died, or has not read for long."""
    with contextlib.suppress(OSError):
        os.write(inherited()[0], orjson.dumps(message) + b"\n")  # at once: it is shorter than PIPE_BUF


def when_parent_stops(stop: Callable[[], None]) -> None:
    """In the child: call `stop` when the parent stops it, or has died."""

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            stop()

    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), read)
