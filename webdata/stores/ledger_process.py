"""A child process that writes the ledger, so that the parent's event loop only answers calls.

Threads of one process share the interpreter: measured, a thread that wrote the ledger cost the event loop a tenth of
its uncached calls, and a third of those from the cache.
"""

import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.stores.database import attach_database
from webdata.stores.ledger_state import Operation
from webdata.stores.ledger_writer import LedgerWriter, Results

logger = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a terminal or a service manager sends to all processes; the parent handles them and stops the child."""
ANSWER_SECONDS = 60
"""How long a group of operations may take; a wait for the database times out earlier."""
STOP_SECONDS = 10.0
"""How long the process may take to stop."""
CODE = f"import sys; sys.path.append(sys.argv[2]); from {__name__} import main; main(int(sys.argv[1]))"
ROOT = str(Path(__file__).parents[2])
"""The folder of this package, which is not on the path of a new interpreter where the package is not installed."""


class LedgerProcess:
    """Writes the ledger of the database at `url`, which must be opened before, in a child process.

    The child stops with this process, and then commits nothing more. A child that stops earlier, or hangs, is replaced
    at the next write. Raises ConfigError where the first child cannot start.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._start()
        except OSError as error:
            raise ConfigError(
                f"the process that writes the ledger cannot begin ({error}): make room for another process"
            ) from error

    def write(self, operations: Sequence[Operation]) -> Results:
        """As `LedgerWriter.write`. Raises DatabaseAwayError also where the child stops meanwhile, or hangs."""
        try:
            if self.process.poll() is not None:
                self._restart()
            self._pipe.send_bytes(pickle.dumps(operations))  # the same as `send`, in half the time
            self._wait()
            answer: Results | Exception = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._kill()  # it may still run after its pipe has closed, and a late answer would be read as the next one
            raise DatabaseAwayError(
                f"the process that writes the ledger has ended, or cannot begin: {error}"
            ) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """Stop the child."""
        self._pipe.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()

    def _start(self) -> None:
        self._pipe, child_pipe = Pipe()
        # -P: modules in the current folder must not be imported.
        command = [sys.executable, "-P", "-c", CODE, str(child_pipe.fileno()), ROOT]
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # the child inherits the mask
        try:
            self.process = subprocess.Popen(  # noqa: S603  # it is this program
                command, stdin=subprocess.DEVNULL, pass_fds=[child_pipe.fileno()]
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            child_pipe.close()
        self._pipe.send((self._url, os.getpid()))  # arguments are visible to every user of the machine

    def _wait(self) -> None:
        """Wait for an answer; raises TimeoutError for a child that hangs."""
        for _ in range(ANSWER_SECONDS):  # in steps, so that a pause of the whole machine counts as one second
            if self._pipe.poll(1):
                return
        raise TimeoutError(f"it has not answered within {ANSWER_SECONDS} seconds")

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _restart(self) -> None:
        logger.error(
            "the process that writes the ledger has ended (status %d): another begins", self.process.returncode
        )
        self._pipe.close()
        self._start()


def main(file_descriptor: int) -> None:
    """Write the operations that arrive on a pipe, until the parent closes it or dies."""
    pipe = Connection(file_descriptor)
    with contextlib.suppress(EOFError, OSError):
        url, parent = pipe.recv()

        def check_parent() -> None:
            if os.getppid() != parent:  # its reservations may be settled already: none must follow
                sys.exit()

        writer = LedgerWriter(attach_database(url), check_parent)
        while True:
            pipe.send(_answer(writer, pipe.recv()))


def _answer(writer: LedgerWriter, operations: Sequence[Operation]) -> Results | Exception:
    try:
        return writer.write(operations)
    except Exception as error:  # noqa: BLE001  # the parent raises it
        return error if isinstance(error, DatabaseAwayError) else RuntimeError(repr(error))
