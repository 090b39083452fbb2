"""A child process that writes the ledger, so that the parent's event loop only answers calls.

Threads of one process share the interpreter. Measured: a thread that wrote the ledger cost the event loop a quarter of
its uncached calls, and a thread that only handed groups to this process a tenth of those, and a third of the calls that
are answered from the cache. So the event loop itself writes to the child and reads its answers.

A message is a pickle; an answer is framed (`runtime.process.child_process`).
"""

import asyncio
import contextlib
import logging
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Sequence

from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.runtime.process.child_process import framed, inherited, received_answer, start_child
from webdata.stores.database.database import attach_database
from webdata.stores.ledger.ledger_state import Operation
from webdata.stores.ledger.ledger_writer import LedgerWriter, Results

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 60
"""How long a group of operations may take; a wait for the database times out earlier."""
STOP_SECONDS = 10.0
"""How long the process may take to stop."""


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

    async def write(self, operations: Sequence[Operation]) -> Results:
        """As `LedgerWriter.write`, for one group at a time.

        Raises DatabaseUnavailableError also where the child stops meanwhile, or hangs.
        """
        try:
            if self.process.poll() is not None:
                self._restart()
            answer = await self._answer(operations)
        except (EOFError, OSError) as error:
            # It may still run after its socket has closed, and a late answer would be read as the next one.
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
            raise DatabaseUnavailableError(
                f"the process that writes the ledger has ended, or cannot begin: {error}"
            ) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _answer(self, operations: Sequence[Operation]) -> Results | Exception:
        """The answer to operations; raises TimeoutError for a child that hangs, EOFError for one that ends."""
        exchange = asyncio.ensure_future(self._exchange(operations))
        for _ in range(ANSWER_SECONDS):  # in steps, so that a pause of the whole machine counts as one second
            done, _waiting = await asyncio.wait({exchange}, timeout=1)
            if done:
                return exchange.result()
        exchange.cancel()
        raise TimeoutError(f"it has not answered within {ANSWER_SECONDS} seconds")

    async def _exchange(self, operations: Sequence[Operation]) -> Results | Exception:
        await asyncio.get_running_loop().sock_sendall(self._socket, pickle.dumps(operations))
        answer: Results | Exception = await received_answer(self._socket)
        return answer

    def close(self) -> None:
        """Stop the child process."""
        self._socket.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _start(self) -> None:
        parent_socket, child_socket = socket.socketpair()
        try:
            self.process = start_child(__name__, child_socket.fileno())
        except OSError:
            parent_socket.close()
            raise
        finally:
            child_socket.close()
        parent_socket.sendall(pickle.dumps((self._url, os.getpid())))  # arguments are visible to every user
        parent_socket.setblocking(False)
        self._socket = parent_socket

    def _restart(self) -> None:
        logger.error(
            "the process that writes the ledger has ended (status %d): another begins", self.process.returncode
        )
        self._socket.close()
        self._start()


def main() -> None:
    """Write the operations that arrive on a socket, until the parent closes it or dies."""
    (descriptor,) = inherited()
    pipe = socket.socket(fileno=descriptor).makefile("rwb")
    with contextlib.suppress(EOFError, OSError):
        url, parent = pickle.load(pipe)  # noqa: S301  # from the parent, as all that follows

        def check_parent() -> None:
            if os.getppid() != parent:  # its reservations may be settled already: none must follow
                sys.exit()

        writer = LedgerWriter(attach_database(url), check_parent)
        while True:
            pipe.write(framed(_answer(writer, pickle.load(pipe))))  # noqa: S301
            pipe.flush()


def _answer(writer: LedgerWriter, operations: Sequence[Operation]) -> Results | Exception:
    try:
        return writer.write(operations)
    except Exception as error:  # noqa: BLE001  # the parent raises it
        return error if isinstance(error, DatabaseUnavailableError) else RuntimeError(repr(error))
