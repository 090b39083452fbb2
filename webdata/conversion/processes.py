"""Pages made into Markdown in processes of their own, which can be killed.

Whatever a page holds, no thread of Python can be made to leave it, and none runs beside one that is in C. So a
conversion has a process, which is ended when its time or its memory is used up; it costs a page less than a
millisecond. The processes are forked from one that knows the page modules: the first takes 0.7 s, each further 25 ms.
"""

import asyncio
import multiprocessing
import resource
import signal
from collections.abc import AsyncIterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from threading import Lock
from typing import Any

from pebble import ProcessExpired, ProcessPool

from webdata.domain.errors import UnsupportedContentError, UpstreamError, UpstreamTimeoutError
from webdata.pages import url
from webdata.resources.url_request import UrlPage

SECONDS = 5.0
"""Seconds that a page may take, and again its text without markup; no page of up to 20 MB that was met takes two."""
WORKERS = 3
LARGE = 1024 * 1024
"""Bytes from which a page is large."""
LARGE_AT_ONCE = WORKERS - 1
"""Large pages that are worked on at once: they take much memory, and one process stays free for the others."""
PAGES = 500
"""Pages after which a process is replaced."""
MEMORY = 2 * 1024**3
"""Bytes of a process's address space; a page of 20 MB takes 0.5 GB."""
MODULES = ("__main__", "webdata.pages.url")
"""What is known to the process that the others are forked from; they would each read the program themselves."""


class Turns:
    """The few places for large pages, each of which takes several times its length while it is worked on."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LARGE_AT_ONCE)

    @asynccontextmanager
    async def turn(self, length: int, left: float) -> AsyncIterator[None]:
        """A place for a page of up to so many bytes, which one that is not large needs not.

        Raises UpstreamTimeoutError where none is free within the seconds that are `left`.
        """
        if length < LARGE:
            yield
            return
        try:
            await asyncio.wait_for(self._places.acquire(), left)
        except TimeoutError as error:
            raise UpstreamTimeoutError("no time was left for a page so large", "timeout") from error
        try:
            yield
        finally:
            self._places.release()


class Conversions:
    """Processes that convert pages: started at the first page, ended when the last that holds them has let go."""

    def __init__(self, seconds: float = SECONDS, seconds_bare: float = SECONDS):
        self.seconds = {False: seconds, True: seconds_bare}
        self._pool: ProcessPool | None = None
        self._holders = 0
        self._lock = Lock()

    def hold(self) -> None:
        """Say that they will be used, until `release`; who never does has them until the program ends."""
        with self._lock:
            self._holders += 1

    async def release(self) -> None:
        """Let go of the processes; the last who does ends them."""
        with self._lock:
            self._holders -= 1
            pool = self._pool if self._holders <= 0 else None
            self._pool = None if pool else self._pool
        if pool:
            pool.stop()
            await asyncio.to_thread(pool.join)

    async def page(self, body: bytes, left: float, told: Mapping[str, Any]) -> UrlPage:
        """The record of a page as Markdown, or as text without markup where that takes too much.

        `told` are the other arguments of `webdata.pages.url.page`. Raises as that does, UpstreamTimeoutError when it
        takes more seconds than are `left`, and UpstreamError for a page that nothing can be made of in time.
        """
        try:
            async with asyncio.timeout(left):
                for bare in (False, True):
                    found = await self._tried(body, {**told, "bare": bare}, self.seconds[bare])
                    if found is not None:
                        return _read(found)
        except TimeoutError as error:
            raise UpstreamTimeoutError("no time is left to convert the page", "timeout") from error
        raise UpstreamError("the page takes too long to convert, ask for it with response_type full", "too_complex")

    async def _tried(self, body: bytes, told: Mapping[str, Any], seconds: float) -> UrlPage | str | None:
        """What `_converted` gives; None where it was ended before."""
        future = self._started().schedule(_converted, (body, told, seconds + 1), timeout=seconds)
        try:
            return await asyncio.wrap_future(future)
        except (ProcessExpired, BrokenProcessPool, MemoryError, TimeoutError):
            return None

    def _started(self) -> ProcessPool:
        with self._lock:
            if self._pool is None or not self._pool.active:
                context = multiprocessing.get_context("forkserver")
                context.set_forkserver_preload([*MODULES])
                self._pool = ProcessPool(WORKERS, PAGES, _bounded, context=context)
            return self._pool


CONVERSIONS = Conversions()
"""Those of the program."""


def _read(found: UrlPage | str) -> UrlPage:
    if isinstance(found, str):
        raise UnsupportedContentError(found)
    return found


def _bounded() -> None:
    """Bind a process: to what memory it may have, and to go at once when it is told to."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _converted(body: bytes, told: Mapping[str, Any], seconds: float) -> UrlPage | str:
    """The record of a page; the content type of one that is no text, for exceptions lose their parts on their way.

    The alarm is for the case that nobody is left to end the process.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return url.page(body, **told)
    except UnsupportedContentError as error:
        return error.content_type
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
