"""Several processes that serve together: a parent that forks them, hands them connections and watches over them.

The parent accepts every connection and hands them out in turn; one that a worker has not taken when it dies goes to
another. Measured, workers that share a listening socket leave nearly all of a burst to one of them, and where each has
its own (SO_REUSEPORT) connections wait for one that has died.

Between the parent and a worker there is a socket. The parent sends a byte that tells what it is, and with it a
connection where it is one; the worker sends a byte a second and one for each connection that it has taken, and in words
why it cannot start. The end of either shows at the other.
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
"""From a worker: it runs; it takes connections; it takes none any more; it has one. Other bytes are words."""
WORDS = 4096
"""Bytes that a worker may say at once."""
TICK = 1.0
"""Seconds between two signs of life, and between two looks for them."""
BUSY_AFTER = 3.0
"""Seconds of silence after which a worker is handed nothing while others are heard."""
HANGS_AFTER = 30.0
"""Seconds of silence after which a worker is taken to hang."""
STARTS_WITHIN = 120.0
"""Seconds of silence in which a worker has to have started, or ended."""
STEADY_AFTER = 10.0
"""Seconds after which a worker that ends is not taken for one that cannot run."""
LONGEST_PAUSE = 30.0
"""Seconds, at most, before one that ends again and again is started once more."""
MOST_WAITING = 256
"""Connections that are accepted before they are handed out."""
ENDS = (signal.SIGINT, signal.SIGTERM)
TELLS_WHERE = signal.SIGUSR1
"""Has a worker write to standard error where its threads are."""
FORK = multiprocessing.get_context("fork")

Handed = tuple[bytes, socket.socket]
"""A connection, and the byte that it goes with."""


@dataclass(frozen=True)
class Worker:
    """A worker as it knows itself."""

    number: int
    """From 1."""
    of: int
    control: socket.socket
    """To the parent."""
    folder: Path
    """For what the workers of one parent share; nobody else can look into it."""

    def send(self, words: bytes) -> None:
        """Tell the parent; one that is gone or does not listen is no reason to wait or to fail."""
        with contextlib.suppress(OSError):
            self.control.send(words, socket.MSG_DONTWAIT)


@dataclass
class Place:
    """A worker as its parent knows it, and after it the next of that number."""

    number: int
    process: ForkProcess | None = None
    line: socket.socket | None = None
    ready: bool = False
    """Whether it takes connections."""
    begun: float = 0.0
    due: float = 0.0
    """When the next one is to start."""
    silent: float = 0.0
    """Seconds since it was heard, without those in which the parent itself did not run."""
    quick_ends: int = 0
    """How many in a row have ended soon after their start."""
    words: bytes = b""
    given: deque[Handed] = field(default_factory=deque)
    """Connections that were handed to it, and that it has not taken yet."""

    def __str__(self) -> str:
        return f"worker {self.number} (pid {self.process.pid if self.process else None})"

    def stop(self) -> None:
        """Have it stop gracefully."""
        with contextlib.suppress(OSError):  # one that is gone has stopped
            if self.line:
                self.line.send(STOP, socket.MSG_DONTWAIT)

    def hand(self, one: Handed) -> bool:
        """Give it a connection; False where it does not take any."""
        kind, connection = one
        try:
            if not self.line or not self.ready:
                return False
            socket.send_fds(self.line, [kind], [connection.fileno()], socket.MSG_DONTWAIT)
        except OSError:
            return False
        self.given.append(one)
        return True

    def hear(self) -> None:
        """Take in what the worker has said."""
        said = b""
        with contextlib.suppress(OSError):
            said = self.line.recv(WORDS, socket.MSG_DONTWAIT) if self.line else b""
        if not said and self.line:  # its end; the process tells how
            self.line.close()
            self.line = None
        self.silent = 0.0
        self.ready = (self.ready or READY in said) and CLOSED not in said
        for _ in range(said.count(TAKEN)):
            self.given.popleft()[1].close()
        self.words += said.strip(ALIVE + READY + CLOSED + TAKEN)

    def ended(self, now: float) -> float:
        """The worker is gone; gives the seconds before the next one is started."""
        self.process, self.ready, self.words = None, False, b""
        if self.line:
            self.line.close()
            self.line = None
        self.quick_ends = self.quick_ends + 1 if now - self.begun < STEADY_AFTER else 0
        pause = min(LONGEST_PAUSE, 2.0 ** (self.quick_ends - 2)) if self.quick_ends > 1 else 0.0
        self.due = now + pause
        return pause


class Workers:
    """`count` processes that do `work`, and are handed what comes to the `listening` sockets.

    `work` returns when its worker was told to stop, and has. `begun` is called once, in this process, when all of them
    are ready. There must be no threads yet.
    """

    def __init__(
        self,
        count: int,
        listening: Sequence[socket.socket],
        work: Callable[[Worker], None],
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._listening = listening
        self._work = work
        self._begun = begun
        self._has_begun = False
        self._places = [Place(number) for number in range(1, count + 1)]
        self._parent = os.getpid()
        self._waiting: deque[Handed] = deque()
        self._last = 0  # the place that was handed something last
        self._looked = monotonic()
        self._signals = 0
        self._stopping = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Have them work until SIGINT or SIGTERM, then let them finish; a second signal ends them at once.

        Raises ConfigError when one of them cannot start at first, and SystemExit where one fails otherwise then.
        """
        gc.collect()
        gc.freeze()  # the collector would copy what the workers share by looking at it
        self._folder = Path(tempfile.mkdtemp(prefix="webdata-"))
        with self._signals_heard():
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
    def _signals_heard(self) -> Iterator[None]:
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
            for place in self._running():
                _end(place)

    def _stop(self) -> None:
        """Have all of them stop gracefully, and start no more."""
        self._stopping = True
        for place in self._places:
            place.stop()

    def _running(self) -> list[Place]:
        return [place for place in self._places if place.process]

    def _step(self) -> None:
        """Start those that are due, and do what there is to do; returns after a second at most."""
        now = monotonic()
        for place in self._places:
            if not place.process and place.due <= now and not self._stopping:
                self._start(place)
        due = [place.due - now for place in self._places if not place.process]
        awaited = self._awaited()
        happened = set(wait(list(awaited), min([TICK, *due])))
        for one, do in awaited.items():
            if one in happened:
                do()
        self._hand_out()
        self._look_after()
        if not self._has_begun and not self._stopping and all(place.ready for place in self._places):
            self._has_begun = True
            self._begun()

    def _awaited(self) -> dict[Any, Callable[[], None]]:
        """What may happen, and what to do then, in this order. Connections wait where nobody takes them."""
        lines: dict[Any, Callable[[], None]] = {place.line: place.hear for place in self._places if place.line}
        ends = {place.process.sentinel: partial(self._ended, place) for place in self._places if place.process}
        if self._waiting or not any(place.ready for place in self._places):
            return {**lines, **ends}
        doors = {one: partial(self._accept, one, bytes([kind])) for kind, one in enumerate(self._listening, 1)}
        return {**lines, **ends, **doors}

    def _start(self, place: Place) -> None:
        place.begun, place.silent = monotonic(), 0.0
        try:
            self._fork(place)
        except OSError as error:  # no room for a process or its line, which may pass
            if not self._has_begun:
                raise
            pause = place.ended(place.begun)
            when = _when(pause)
            logger.warning("worker %d cannot be started (%s); it is tried %s", place.number, error.strerror, when)
        if self._stopping:  # since a moment ago
            place.stop()

    def _fork(self, place: Place) -> None:
        place.line, line = socket.socketpair()
        process = FORK.Process(target=self._live, args=(place.number, line))
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # or the worker could take one for its parent
        try:
            process.start()
            place.process = process
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
            line.close()

    def _close_the_parents(self) -> None:
        """Close in a worker what is its parent's: as long as it held them, no port and no connection would end."""
        lines = [place.line for place in self._places if place.line]
        handed = [connection for _, connection in chain(self._waiting, *(place.given for place in self._places))]
        for one in (*self._listening, *lines, *handed):
            one.close()

    def _live(self, number: int, line: socket.socket) -> None:
        """A worker's life, in its own process."""
        self._close_the_parents()
        # Ctrl-C goes to all processes of a terminal: the parent takes it for all.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        faulthandler.register(TELLS_WHERE)
        worker = Worker(number, len(self._places), line, self._folder)
        try:
            self._work(worker)
        except ConfigError as error:
            worker.send(str(error).encode()[:WORDS])
            sys.exit(2)
        finally:
            if os.getppid() != self._parent:  # who would tidy up is gone: the last worker does
                with contextlib.suppress(OSError):
                    self._folder.rmdir()

    def _accept(self, listens: socket.socket, kind: bytes) -> None:
        with contextlib.suppress(OSError):  # nothing more, or a caller that has gone meanwhile
            while len(self._waiting) < MOST_WAITING:
                self._waiting.append((kind, listens.accept()[0]))

    def _hand_out(self) -> None:
        """Give what was accepted to those whose turn it is, as far as they take it."""
        while self._waiting and self._hand(self._waiting[0]):
            self._waiting.popleft()

    def _hand(self, one: Handed) -> bool:
        """Those that seem busy come last."""
        in_turn = [*self._places[self._last :], *self._places[: self._last]]
        for place in sorted(in_turn, key=lambda place: place.silent > BUSY_AFTER):
            if place.hand(one):
                self._last = place.number
                return True
        return False

    def _look_after(self) -> None:
        """End what hangs.

        Where this process was held up itself the workers were too, as by a pause of the container: that counts little.
        """
        now = monotonic()
        passed, self._looked = min(now - self._looked, 2 * TICK), now
        for place in self._running():
            before, limit = place.silent, HANGS_AFTER if place.ready else STARTS_WITHIN
            place.silent += passed
            if before <= limit < place.silent:
                logger.error("%s has not been heard for %d s: it tells where it is, and is ended", place, limit)
                _end(place, TELLS_WHERE)
            elif place.silent > limit + TICK:
                _end(place)

    def _ended(self, place: Place) -> None:
        assert place.process
        place.process.join()  # from now on the system knows no such process
        if place.line:
            place.hear()
        self._waiting.extendleft(reversed(place.given))
        place.given.clear()
        status, who, why = place.process.exitcode or 0, str(place), place.words.decode("utf-8", "replace")
        has_run = self._has_begun
        pause = place.ended(monotonic())
        if self._stopping:
            return
        if status > 0 and not has_run:
            self._failure = ConfigError(why) if why else SystemExit(status)
            self._stop()
            return
        how = f"was ended by signal {-status}" if status < 0 else f"has ended with status {status}"
        logger.error("%s %s%s; it is started %s", who, how, f" ({why})" if why else "", _when(pause))


def _when(pause: float) -> str:
    return f"in {pause:g} s" if pause else "again"


def _end(place: Place, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        if place.process and place.process.pid:
            os.kill(place.process.pid, number)
