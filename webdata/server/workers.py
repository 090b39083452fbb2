"""Processes that serve together: a parent forks them, distributes connections among them, and restarts them.

The parent accepts every connection and distributes them round-robin; one that a worker has not taken when it dies goes
to another. Measured, workers that share a listening socket leave nearly all of a burst to one of them, and where each
has its own (SO_REUSEPORT) connections wait for one that has died.

A pair of sockets joins the parent to each worker. The parent sends one byte a message, together with a connection
unless it is STOP. The worker sends one byte each second, one for each connection that it has taken, and the text of the
error that keeps it from starting. When either process ends, the other reads the end of the stream.
"""

import contextlib
import faulthandler
import gc
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from webdata.domain.errors import ConfigError

logger = logging.getLogger(__name__)

STOP = b"\0"
"""From the parent: stop gracefully. Any other byte comes with a connection: the number of its listening socket."""
ALIVE, READY, CLOSED, TAKEN = b"\0", b"\1", b"\2", b"\3"
"""From a worker: it runs; it takes connections; it takes no more; it has taken one. Other bytes are an error's text."""
LONGEST_MESSAGE = 4096
"""Bytes of an error's text."""
TICK = 1.0
"""Seconds between two messages ALIVE, and between two checks for them."""
BUSY_AFTER = 3.0
"""Seconds of silence after which a worker gets connections only if the others take none."""
HANGS_AFTER = 30.0
"""Seconds of silence after which a worker is considered hung."""
STARTS_WITHIN = 120.0
"""Seconds of silence after which a worker that starts or stops is considered hung."""
STEADY_AFTER = 10.0
"""Seconds that a worker has to run for its end not to lengthen the pause before the next start."""
LONGEST_PAUSE = 30.0
"""Seconds between two starts of a worker, at most."""
MOST_WAITING = 256
"""Accepted connections that wait for a worker, at most."""
ENDS = (signal.SIGINT, signal.SIGTERM)
DUMPS_STACKS = signal.SIGUSR1
"""Makes a worker write the stacks of its threads to standard error."""
FORK = multiprocessing.get_context("fork")

Accepted = tuple[bytes, socket.socket]
"""A connection, and the number of its listening socket, from 1, as a byte."""


@dataclass(frozen=True)
class Worker:
    """A worker, in its own process."""

    number: int
    """From 1."""
    of: int
    control: socket.socket
    """To the parent."""
    folder: Path
    """Shared by the workers of one parent; no other user can read it."""

    def send(self, message: bytes) -> None:
        """Send to the parent; the message is dropped if the parent has ended or does not read."""
        with contextlib.suppress(OSError):
            self.control.send(message, socket.MSG_DONTWAIT)


@dataclass
class Slot:
    """The parent's record of the worker of one number, and of its successors."""

    number: int
    process: ForkProcess | None = None
    control: socket.socket | None = None
    ready: bool = False
    """Whether the worker takes connections."""
    begun: float = 0.0
    due: float = 0.0
    """When the next worker is to start."""
    silence: float = 0.0
    """Seconds since the last message, without those in which the parent itself did not run."""
    quick_ends: int = 0
    """How many workers in a row have ended soon after their start."""
    error: bytes = b""
    untaken: deque[Accepted] = field(default_factory=deque)
    """Connections that were sent to the worker and that it has not taken yet."""

    def __str__(self) -> str:
        return f"worker {self.number} (pid {self.process.pid if self.process else None})"

    def stop(self) -> None:
        """Have the worker stop gracefully."""
        with contextlib.suppress(OSError):  # it has ended
            if self.control:
                self.control.send(STOP, socket.MSG_DONTWAIT)

    def send(self, accepted: Accepted) -> bool:
        """Send a connection to the worker; False if it takes none."""
        number, connection = accepted
        try:
            if not self.control or not self.ready:
                return False
            socket.send_fds(self.control, [number], [connection.fileno()], socket.MSG_DONTWAIT)
        except OSError:
            return False
        self.untaken.append(accepted)
        return True

    def receive(self) -> None:
        """Read the worker's messages."""
        messages = b""
        with contextlib.suppress(OSError):
            messages = self.control.recv(LONGEST_MESSAGE, socket.MSG_DONTWAIT) if self.control else b""
        if not messages:
            self._close()
        self.silence = 0.0
        self.ready = (self.ready or READY in messages) and CLOSED not in messages
        for _ in range(messages.count(TAKEN)):
            self.untaken.popleft()[1].close()
        self.error += messages.strip(ALIVE + READY + CLOSED + TAKEN)

    def ended(self, now: float) -> float:
        """Record that the worker has ended; returns the seconds until the next one is to start."""
        self.process, self.ready, self.error = None, False, b""
        self._close()
        self.quick_ends = self.quick_ends + 1 if now - self.begun < STEADY_AFTER else 0
        pause = min(LONGEST_PAUSE, 2.0 ** (self.quick_ends - 2)) if self.quick_ends > 1 else 0.0
        self.due = now + pause
        return pause

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send the worker a signal."""
        with contextlib.suppress(ProcessLookupError):
            if self.process and self.process.pid:
                os.kill(self.process.pid, number)

    def _close(self) -> None:
        if self.control:
            self.control.close()
            self.control = None


class Workers:
    """`count` processes that run `work`, and get the connections to the `listening` sockets.

    `work` returns once its worker has received STOP and stopped. `on_ready` is called once, in this process, when all
    workers are ready. This process must not have other threads.
    """

    def __init__(
        self,
        count: int,
        listening: Sequence[socket.socket],
        work: Callable[[Worker], None],
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._listening = listening
        self._work = work
        self._on_ready = on_ready
        self._were_ready = False
        self._slots = [Slot(number) for number in range(1, count + 1)]
        self._parent = os.getpid()
        self._waiting: deque[Accepted] = deque()
        self._last = 0  # the number of the worker that got the last connection
        self._checked = monotonic()
        self._signals = 0
        self._stopping = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run the workers until SIGINT or SIGTERM, then let them finish; a second signal kills them.

        Raises ConfigError if the first start of a worker raises it, SystemExit if that start fails otherwise.
        """
        gc.collect()
        gc.freeze()  # or the collector would write to, and so copy, the memory that the workers share
        self._folder = Path(tempfile.mkdtemp(prefix="webdata-"))
        with self._handling_signals():
            try:
                while not self._stopping:
                    self._step()
            finally:
                self._stop()
                while self._running():
                    self._step()
                for _, connection in self._waiting:
                    connection.close()
                shutil.rmtree(self._folder, ignore_errors=True)
        if self._failure:
            raise self._failure

    @contextlib.contextmanager
    def _handling_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._signalled) for number in ENDS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        self._stop()
        if self._signals > 1:
            for slot in self._running():
                slot.kill()

    def _stop(self) -> None:
        """Have all workers stop gracefully, and start no more."""
        self._stopping = True
        for slot in self._slots:
            slot.stop()

    def _running(self) -> list[Slot]:
        return [slot for slot in self._slots if slot.process]

    def _step(self) -> None:
        """Start the workers that are due, wait up to TICK for events, and handle them."""
        now = monotonic()
        for slot in self._slots:
            if not slot.process and slot.due <= now and not self._stopping:
                self._start(slot)
        pauses = [] if self._stopping else [slot.due - now for slot in self._slots if not slot.process]
        handlers = self._handlers()
        happened = set(wait(list(handlers), min([TICK, *pauses])))
        for event, handle in handlers.items():
            if event in happened:
                handle()
        while self._waiting and self._send(self._waiting[0]):
            self._waiting.popleft()
        self._kill_hung()
        if not self._were_ready and not self._stopping and all(slot.ready for slot in self._slots):
            self._were_ready = True
            self._on_ready()

    def _handlers(self) -> dict[Any, Callable[[], None]]:
        """What to wait for, and what handles it, in this order. The kernel queues connections that no worker takes."""
        messages: dict[Any, Callable[[], None]] = {slot.control: slot.receive for slot in self._slots if slot.control}
        ends = {slot.process.sentinel: partial(self._ended, slot) for slot in self._slots if slot.process}
        if self._waiting or not any(slot.ready for slot in self._slots):
            return {**messages, **ends}
        numbered = enumerate(self._listening, 1)
        connections = {one: partial(self._accept, one, bytes([number])) for number, one in numbered}
        return {**messages, **ends, **connections}

    def _start(self, slot: Slot) -> None:
        slot.begun, slot.silence = monotonic(), 0.0
        try:
            self._fork(slot)
        except OSError as error:  # such as too many processes or open files, for now
            if not self._were_ready:
                raise
            when = _when(slot.ended(slot.begun))
            logger.warning("worker %d cannot be started (%s); it is tried %s", slot.number, error.strerror, when)
        if self._stopping:  # a signal arrived during the fork
            slot.stop()

    def _fork(self, slot: Slot) -> None:
        slot.control, control = socket.socketpair()
        process = FORK.Process(target=self._run_worker, args=(slot.number, control))
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # or a worker could run this process's handlers
        try:
            process.start()
            slot.process = process
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
            control.close()

    def _close_parents_sockets(self) -> None:
        """Close a worker's copies: neither a port nor a connection is closed before its last copy is."""
        controls = [slot.control for slot in self._slots if slot.control]
        accepted = chain(self._waiting, *(slot.untaken for slot in self._slots))
        for one in (*self._listening, *controls, *(connection for _, connection in accepted)):
            one.close()

    def _run_worker(self, number: int, control: socket.socket) -> None:
        """Run one worker, in its own process."""
        self._close_parents_sockets()
        # Ctrl-C signals all processes of a terminal: the parent alone handles it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        faulthandler.register(DUMPS_STACKS)
        worker = Worker(number, len(self._slots), control, self._folder)
        try:
            self._work(worker)
        except ConfigError as error:
            worker.send(str(error).encode()[:LONGEST_MESSAGE])
            sys.exit(2)
        finally:
            if os.getppid() != self._parent:  # it died: the last worker removes the folder
                with contextlib.suppress(OSError):
                    self._folder.rmdir()

    def _accept(self, listening: socket.socket, number: bytes) -> None:
        with contextlib.suppress(OSError):  # no further connection, or one whose client has gone
            while len(self._waiting) < MOST_WAITING:
                self._waiting.append((number, listening.accept()[0]))

    def _send(self, accepted: Accepted) -> bool:
        """Send a connection to the next worker that takes it; busy ones are tried last."""
        next_ones = [*self._slots[self._last :], *self._slots[: self._last]]
        for slot in sorted(next_ones, key=lambda slot: slot.silence > BUSY_AFTER):
            if slot.send(accepted):
                self._last = slot.number
                return True
        return False

    def _kill_hung(self) -> None:
        """Kill the workers that hang.

        While this process was suspended, as by a pause of the container, the workers were too: that time counts for
        two ticks at most.
        """
        now = monotonic()
        elapsed, self._checked = min(now - self._checked, 2 * TICK), now
        for slot in self._running():
            before, limit = slot.silence, HANGS_AFTER if slot.ready else STARTS_WITHIN
            slot.silence += elapsed
            if before <= limit < slot.silence:
                logger.error("%s has sent nothing for %d s: its stacks follow, and it is killed", slot, limit)
                slot.kill(DUMPS_STACKS)
            elif slot.silence > limit + TICK:
                slot.kill()

    def _ended(self, slot: Slot) -> None:
        assert slot.process
        slot.process.join()  # the process id is free from now on
        if slot.control:
            slot.receive()
        self._waiting.extendleft(reversed(slot.untaken))
        slot.untaken.clear()
        status, name, reason = slot.process.exitcode or 0, str(slot), slot.error.decode("utf-8", "replace")
        pause = slot.ended(monotonic())
        if self._stopping:
            return
        if status > 0 and not self._were_ready:
            self._failure = ConfigError(reason) if reason else SystemExit(status)
            self._stop()
            return
        end = f"was ended by signal {-status}" if status < 0 else f"has ended with status {status}"
        logger.error("%s %s%s; it is started %s", name, end, f" ({reason})" if reason else "", _when(pause))


def _when(pause: float) -> str:
    return f"in {pause:g} s" if pause else "again"
