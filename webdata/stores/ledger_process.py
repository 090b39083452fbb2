"""A process that writes the books for another one, whose event loop answers calls meanwhile.

Threads of one process run Python's code in turn: measured, a thread that wrote beside the event loop cost it a tenth of
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

from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.stores.books import Operation
from webdata.stores.database import attach_database
from webdata.stores.sql_books import Results, SqlBooks

logger = logging.getLogger(__name__)

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that come to all processes of a terminal or a service at once: the owner of the books hears them for both."""
ANSWERS_WITHIN = 60
"""Seconds that a group may take; what waits for a database gives up before."""
ENDS_WITHIN = 10.0
"""Seconds that a process may take to end."""


class Bookkeeper:
    """Writes the books of the database at `url`, which somebody has opened before, in a process of its own.

    That ends with its owner, this one; what is not committed then is not done. One that ends before, or hangs, is
    followed by another. Raises ConfigError where the first cannot begin.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._begin()
        except OSError as error:
            raise ConfigError(
                f"the process that writes the ledger cannot begin ({error}): make room for another process"
            ) from error

    def write(self, operations: Sequence[Operation]) -> Results:
        """As `SqlBooks.write`. Raises DatabaseAwayError, too, where the process ends meanwhile."""
        try:
            if self.process.poll() is not None:
                self._follow()
            self._line.send_bytes(pickle.dumps(operations))  # as `send` does, in half the time
            self._wait()
            told: Results | Exception = self._line.recv()
        except (EOFError, OSError) as error:
            self._kill()  # its line ends a moment before it does; and this answer must not be taken for the next one's
            raise DatabaseAwayError(
                f"the process that writes the ledger has ended, or cannot begin: {error}"
            ) from error
        if isinstance(told, Exception):
            raise told
        return told

    def close(self) -> None:
        """Have the process end."""
        self._line.close()
        try:
            self.process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            self._kill()

    def _begin(self) -> None:
        self._line, line = Pipe()
        # The folder that somebody works in is no place to import from.
        command = [sys.executable, "-P", "-m", __name__, str(line.fileno())]
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # it inherits that, and never hears them
        try:
            self.process = subprocess.Popen(  # noqa: S603  # it is this program
                command, stdin=subprocess.DEVNULL, pass_fds=[line.fileno()]
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            line.close()
        self._line.send((self._url, os.getpid()))  # not as arguments: everybody on the machine can read those

    def _wait(self) -> None:
        """Until it answers; one that hangs is ended, or all callers would wait for it, and the end of this one."""
        for _ in range(ANSWERS_WITHIN):  # where this process stood still, as in a suspended machine, that counts little
            if self._line.poll(1):
                return
        raise TimeoutError(f"it has not answered within {ANSWERS_WITHIN} seconds")

    def _kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _follow(self) -> None:
        logger.error(
            "the process that writes the ledger has ended (status %d): another begins", self.process.returncode
        )
        self._line.close()
        self._begin()


def main(line: Connection) -> None:
    """Write what comes, until the owner of the books closes the line, or is gone."""
    with contextlib.suppress(EOFError, OSError):
        url, owner = line.recv()

        def check_owner() -> None:
            if os.getppid() != owner:  # its reservations may be settled already: none must follow
                sys.exit()

        books = SqlBooks(attach_database(url), check_owner)
        while True:
            line.send(_done(books, line.recv()))


def _done(books: SqlBooks, operations: Sequence[Operation]) -> Results | Exception:
    try:
        return books.write(operations)
    except Exception as error:  # noqa: BLE001  # whatever it is, the owner raises it
        return error if isinstance(error, DatabaseAwayError) else RuntimeError(repr(error))


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
