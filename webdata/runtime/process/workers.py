"""Processes that serve together: a supervisor forks them, and restarts those that end or hang.

Each worker opens listening sockets of its own on the shared ports, among which the kernel distributes connections
(SO_REUSEPORT, socket(7)). It reports to the supervisor by a `State` in shared memory, once each second; the supervisor
stops it by SIGTERM, and so does the kernel when the supervisor has died.
"""

import contextlib
import faulthandler
import gc
import logging
import mmap
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from ctypes import Array, Structure, c_char, c_double, sizeof
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from time import monotonic
from types import FrameType
from typing import ClassVar

from webdata.domain.errors import ConfigError
from webdata.runtime.process.parents import end_with_parent

logger = logging.getLogger(__name__)

TICK = 1.0
"""Seconds between two beats of a worker, and between two checks for them."""
FIRST_TICK = 0.05
"""Seconds between two checks before all workers are ready."""
HANGS_AFTER = 30.0
"""Seconds without a beat after which a worker is considered hung."""
STARTS_WITHIN = 120.0
"""Seconds without a beat after which a worker that starts or stops is considered hung."""
STEADY_AFTER = 10.0
"""Seconds that a worker has to run for its end not to lengthen the pause before the next start."""
LONGEST_PAUSE = 30.0
"""Seconds between two starts of a worker, at most."""
LONGEST_ERROR = 4096
"""Bytes of an error's text."""
ENDS = (signal.SIGINT, signal.SIGTERM)
DUMPS_STACKS = signal.SIGUSR1
"""Makes a worker write the stacks of its threads to standard error."""
FORK = multiprocessing.get_context("fork")


class State(Structure):
    """What a worker reports, in memory shared with the supervisor and all workers."""

    beat: float
    """When it last reported that it takes connections, by the monotonic clock; 0 before it does and after its end."""
    error: bytes
    """Why it cannot start."""
    _fields_: ClassVar = [("beat", c_double), ("error", c_char * LONGEST_ERROR)]


@dataclass(frozen=True)
class Worker:
    """A worker, in its own process."""

    number: int
    """The number of the worker, from 1."""
    states: "Array[State]"
    """The states of all workers."""
    supervisor: int
    """The process id of the supervisor."""

    def beat(self) -> None:
        """Report that it takes connections; again every TICK, or it is considered hung."""
        self.states[self.number - 1].beat = monotonic()

    def end(self) -> bool:
        """Report that it takes none any more.

        Returns whether files of all are its to remove: its supervisor, which does that, has died, and all others have
        ended.
        """
        self.states[self.number - 1].beat = 0.0
        return self.orphaned and not any(state.beat for state in self.states)

    @property
    def orphaned(self) -> bool:
        """Whether the supervisor has died."""
        return os.getppid() != self.supervisor

    def snapshot(self) -> dict[str, int]:
        """The number of this worker, how many workers there should be, and how many run."""
        return {
            "number": self.number,
            "of": len(self.states),
            "running": sum(state.beat > 0 for state in self.states),
        }


@dataclass
class Slot:
    """The supervisor's record of the worker of one number, and of its successors."""

    number: int
    state: State = field(default_factory=State)
    process: ForkProcess | None = None
    begun: float = 0.0
    due: float = 0.0
    """When the next worker is to start."""
    last_beat: float = 0.0
    silence: float = 0.0
    """Seconds since the last beat, without those in which the supervisor itself did not run."""
    quick_ends: int = 0
    """How many workers in a row have ended soon after their start."""

    def __str__(self) -> str:
        return f"worker {self.number} (pid {self.process.pid if self.process else None})"

    def ended(self, now: float) -> float:
        """Record that the worker has ended; returns the seconds until the next one is to start."""
        self.process, self.state.beat, self.state.error = None, 0.0, b""
        self.quick_ends = self.quick_ends + 1 if now - self.begun < STEADY_AFTER else 0
        pause = min(LONGEST_PAUSE, 2.0 ** (self.quick_ends - 2)) if self.quick_ends > 1 else 0.0
        self.due = now + pause
        return pause

    def measure_silence(self, elapsed: float) -> None:
        """Update `silence`, `elapsed` seconds after the last time."""
        self.silence = self.silence + elapsed if self.state.beat == self.last_beat else 0.0
        self.last_beat = self.state.beat


class Workers:
    """`count` processes that run `work`.

    `work` returns once its worker has received SIGTERM and stopped. `on_ready` is called once, in this process, when
    all workers are ready, `on_end` with the number of each worker that has ended. This process must not have other
    threads.
    """

    def __init__(
        self,
        count: int,
        work: Callable[[Worker], None],
        on_ready: Callable[[], None] = lambda: None,
        on_end: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._work = work
        self._on_ready = on_ready
        self._on_end = on_end
        self._were_ready = False
        self._states = (State * count).from_buffer(mmap.mmap(-1, count * sizeof(State)))
        self._slots = [Slot(number, state) for number, state in enumerate(self._states, 1)]
        self._supervisor = os.getpid()
        self._checked = monotonic()
        self._stopping = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Run the workers until SIGINT or SIGTERM, then let them finish; a second signal kills them.

        Raises ConfigError if the first start of a worker raises it, SystemExit if that start fails otherwise.
        """
        gc.collect()
        gc.freeze()  # or the collector would write to, and so copy, the memory that the workers share
        gc.enable()
        with self._handling_signals():
            try:
                while not self._stopping:
                    self._step()
            finally:
                self._stop()
                while self._running():
                    self._step()
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
        if self._stopping:
            for process in self._running():
                process.kill()
        self._stop()

    def _stop(self) -> None:
        """Have all workers stop gracefully, and start no more."""
        if not self._stopping:
            self._stopping = True
            for process in self._running():
                process.terminate()

    def _running(self) -> list[ForkProcess]:
        return [slot.process for slot in self._slots if slot.process]

    def _step(self) -> None:
        """Start the workers that are due, wait for some to end, and look after the others."""
        now = monotonic()
        for slot in self._slots:
            if not slot.process and slot.due <= now and not self._stopping:
                self._start(slot)
        pauses = [] if self._stopping else [slot.due - now for slot in self._slots if not slot.process]
        tick = TICK if self._were_ready else FIRST_TICK
        wait([process.sentinel for process in self._running()], min([tick, *pauses]))
        for slot in self._slots:
            if slot.process and slot.process.exitcode is not None:
                self._ended(slot, slot.process.exitcode)
        self._kill_hung()
        if not self._were_ready and not self._stopping and all(slot.state.beat for slot in self._slots):
            self._were_ready = True
            self._on_ready()

    def _start(self, slot: Slot) -> None:
        slot.begun, slot.silence = monotonic(), 0.0
        process = FORK.Process(target=self._run_worker, args=(slot,))
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # or a worker could run this process's handlers
        try:
            process.start()
            slot.process = process
        except OSError as error:  # such as too many processes or open files, for now
            if not self._were_ready:
                raise
            when = _when(slot.ended(slot.begun))
            logger.warning("worker %d cannot be started (%s); it is tried %s", slot.number, error.strerror, when)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        if self._stopping and slot.process:  # a signal arrived just before the fork
            slot.process.terminate()

    def _run_worker(self, slot: Slot) -> None:
        """Run one worker, in its own process."""
        # Ctrl-C signals all processes of a terminal: the supervisor alone handles it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        end_with_parent(self._supervisor, signal.SIGTERM)
        faulthandler.register(DUMPS_STACKS)
        try:
            self._work(Worker(slot.number, self._states, self._supervisor))
        except ConfigError as error:
            slot.state.error = str(error).encode()[:LONGEST_ERROR]
            sys.exit(2)

    def _kill_hung(self) -> None:
        """Kill the workers that hang.

        While this process was suspended, as by a pause of the container, the workers were too: that time counts for
        two ticks at most.
        """
        now = monotonic()
        elapsed, self._checked = min(now - self._checked, 2 * TICK), now
        for slot in self._slots:
            if not slot.process:
                continue
            before, limit = slot.silence, HANGS_AFTER if slot.state.beat and not self._stopping else STARTS_WITHIN
            slot.measure_silence(elapsed)
            if before <= limit < slot.silence:
                logger.error("%s has reported nothing for %d s: its stacks follow, and it is killed", slot, limit)
                os.kill(slot.process.pid or 0, DUMPS_STACKS)
            elif slot.silence > limit + TICK:
                slot.process.kill()

    def _ended(self, slot: Slot, status: int) -> None:
        name, reason = str(slot), slot.state.error.decode("utf-8", "replace")
        pause = slot.ended(monotonic())
        self._on_end(slot.number)
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
