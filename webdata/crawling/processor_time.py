"""A limit of the processor's time for what reads a page in the event loop, where nothing else runs meanwhile.

Page modules read any page of a site within milliseconds; one that was made for it can take them minutes, by elements
within elements that each are looked at again. A signal ends that anywhere in their Python code, which changes nothing
but values of its own. The timer counts the processor's time of all threads, so that its signal only asks: what the
thread itself has used decides.
"""

import signal
from collections.abc import Callable, Coroutine, Generator
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
    step, value = work.send, None
    while True:
        _set_timer(seconds)
        try:
            awaited = step(value)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # it is the coroutine's result
        finally:
            _set_timer(0)
        try:
            step, value = work.send, (yield awaited)
        except BaseException as error:  # noqa: BLE001  # also a cancellation is the coroutine's to handle
            step, value = work.throw, error


def _set_timer(seconds: float) -> None:
    if current_thread() is main_thread():
        signal.signal(signal.SIGVTALRM, _ends_at(thread_time() + seconds) if seconds else _come_late)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, REPEATED)


def _ends_at(end: float) -> Callable[[int, FrameType | None], None]:
    """A handler of the signal that ends the work once this thread has used its time; Python runs it in this thread."""

    def end_work(_number: int, _frame: FrameType | None) -> None:
        if thread_time() >= end:
            raise LayoutError("a page that is read in a second")

    return end_work


def _come_late(_number: int, _frame: FrameType | None) -> None:
    """Nothing: the signal was sent before the end of the work and met what runs after it."""
