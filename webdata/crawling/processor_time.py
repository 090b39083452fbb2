"""A limit of the processor's time for what reads a page in the event loop, where nothing else runs meanwhile.

Page modules read any page of a site within milliseconds; one that was made for it can take them minutes, by elements
within elements that each are looked at again. A signal ends that anywhere in their Python code, which changes nothing
but values of its own. The timer counts the processor's time of all threads, so that its signal only asks: what the
thread itself has used decides.
"""

import signal
from collections.abc import Coroutine, Generator
from threading import current_thread, main_thread
from time import thread_time
from types import FrameType, coroutine
from typing import Any, TypeVar

from webdata.domain.errors import LayoutError

T = TypeVar("T")

SECONDS = 1.0
"""Seconds of the processor that a page may take. The slowest saved page takes 0.05."""
REPEATED = 0.1
"""Seconds after which the signal is sent again: for what other threads have used, and code that catches exceptions."""


@coroutine
def limited(work: Coroutine[Any, Any, T], seconds: float = SECONDS) -> Generator[Any, Any, T]:
    """The result of a coroutine that may take the processor for so many seconds until it ends or waits for something.

    Raises LayoutError where it takes longer. Only the main thread receives signals, so that others have no limit.
    """
    if current_thread() is not main_thread():
        return (yield from work.__await__())
    step, value = work.send, None
    while True:
        limit = StepLimit(thread_time() + seconds)
        try:
            limit.begin(seconds)
            awaited = step(value)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # it is the coroutine's result
        finally:
            limit.ended = True  # at once: the signal may come in what follows, and must end neither it nor the loop
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        try:
            step, value = work.send, (yield awaited)
        except BaseException as error:  # noqa: BLE001  # also a cancellation is the coroutine's to handle
            step, value = work.throw, error


class StepLimit:
    """The time of the processor, of this thread, at which one step of the work is ended."""

    def __init__(self, until: float):
        self.ended = False
        """Whether the step has ended by itself."""
        self._until = until

    def begin(self, seconds: float) -> None:
        """Have the signal sent after so many seconds, and again."""
        signal.signal(signal.SIGVTALRM, self._end_work)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, REPEATED)

    def _end_work(self, _number: int, _frame: FrameType | None) -> None:
        """Raise LayoutError in the work, where Python runs this handler, once it has used its time."""
        if not self.ended and thread_time() >= self._until:
            raise LayoutError("a page that is read in a second")
