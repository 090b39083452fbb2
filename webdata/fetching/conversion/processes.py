"""What a page can make long: conversion to Markdown, decompression, large forms, in processes that can be killed.

A conversion runs in a process of a pool (`webdata.runtime.process.pools`), which is killed when its time or its memory
is used up; the overhead is less than a millisecond a page.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Lock, Thread
from typing import Any

from pebble import ProcessExpired, ProcessPool

from webdata.domain.errors import UnsupportedContentError, UpstreamError, UpstreamTimeoutError
from webdata.pages import url
from webdata.pages.consent import Form, form
from webdata.resources.url_request import UrlRecord
from webdata.runtime.process.pools import process_pool
from webdata.runtime.process.shares import FairSlots
from webdata.runtime.wire.content_codings import Decompressed, leniently_decompressed

SECONDS = 5.0
"""Limit of one conversion, and again of the one without markup; measured, no page of up to 20 MB takes two."""
WORKERS = 3
LARGE = 1024 * 1024
"""Bytes from which a page is large."""
LARGE_AT_ONCE = WORKERS - 1
"""Large pages that are converted at once: they take much memory, and one process stays free for small pages."""
SECONDS_OF_MEBIBYTE = 0.02
"""That a slot is held for each mebibyte of a page at least: 50 MB a second for one account."""
SELECTING = ("extract", "include", "exclude")
"""The arguments of a page with selectors of its caller."""
MODULES = ("webdata.pages.consent", "webdata.pages.url", "webdata.pages._url.markdown")
"""Modules that are imported once, before the fork."""


class LargePageLimit:
    """Slots for large pages, each of which takes several times its length in memory while it is converted.

    A slot is free again after SECONDS_OF_MEBIBYTE for each mebibyte at the earliest: receiving and sending a large page
    keeps the event loop from other calls, and no account may do that all the time.
    """

    def __init__(self) -> None:
        self._slots = FairSlots(LARGE_AT_ONCE)

    @asynccontextmanager
    async def slot(self, length: int, left: float, account: str = "") -> AsyncIterator[None]:
        """Hold a slot for a page of at most `length` bytes, of an account's share; a page that is not large needs none.

        Raises UpstreamTimeoutError when no slot is free within `left` seconds.
        """
        if length < LARGE:
            yield
            return
        try:
            async with asyncio.timeout(left):
                await self._slots.acquire(account)
        except TimeoutError as error:
            raise UpstreamTimeoutError("no time was left for a page so large", "timeout") from error
        loop = asyncio.get_running_loop()
        until = loop.time() + length / LARGE * SECONDS_OF_MEBIBYTE
        try:
            yield
        finally:
            loop.call_at(until, self._slots.release, account)


class Conversions:
    """A process pool that converts pages: started for the first page, stopped when its last holder releases it.

    The processes are given to the accounts in turn, and one is never taken by the account that has all others.
    """

    def __init__(self, seconds: float = SECONDS, seconds_bare: float = SECONDS):
        self.seconds = {False: seconds, True: seconds_bare}
        self._pool: ProcessPool | None = None
        self._started: ProcessPool | None = None
        """The pool whose processes run, or have run: to ask another one whether it is active would start it."""
        self._slots = FairSlots(WORKERS)
        self._holders = 0
        self._is_here = False
        self._lock = Lock()

    def run_here(self) -> None:
        """Convert in this process from now on, since it is one that is killed itself when a page takes too long."""
        self._is_here = True

    def hold(self) -> None:
        """Add a holder. Without one, the processes run until the program ends."""
        with self._lock:
            self._holders += 1

    async def release(self) -> None:
        """Remove a holder; after the last one the processes are stopped."""
        with self._lock:
            self._holders -= 1
            pool = self._pool if self._holders <= 0 else None
            self._pool = None if pool else self._pool
        if pool:
            await asyncio.to_thread(_end, pool)

    async def page(self, body: bytes, left: float, arguments: Mapping[str, Any], account: str = "") -> UrlRecord:
        """The record of a page as Markdown, or as text without markup when Markdown takes too much time or memory.

        `arguments` are the other arguments of `webdata.pages.url.page`; `bare` is whether it may be without markup.
        Raises the errors of that function, UpstreamTimeoutError after `left` seconds, and when both conversions fail
        UpstreamError of kind `too_complex`, or UnsupportedContentError where the caller's selectors may be the reason.
        """
        try:
            async with asyncio.timeout(left):
                for bare in (False, True) if arguments.get("bare", True) else (False,):
                    page: UrlRecord | tuple[str, str, str] | None = await self._attempt(
                        _convert, (body, {**arguments, "bare": bare}), self.seconds[bare], account
                    )
                    if isinstance(page, tuple):
                        raise UnsupportedContentError(*page)
                    if page is not None:
                        return page
        except TimeoutError as error:
            raise UpstreamTimeoutError("no time is left to convert the page", "timeout") from error
        if selecting := [name for name in SELECTING if arguments.get(name)]:
            reason = f"on which {' and '.join(selecting)} would take too much time or memory"
            raise UnsupportedContentError(_media(arguments), reason, "give simpler selectors")
        raise UpstreamError("the page takes too long to convert, ask for it with response_type full", "too_complex")

    async def decompressed(
        self, body: bytes, content_encoding: str, limit: int, left: float, account: str = ""
    ) -> Decompressed:
        """The plain body of a large page, by `leniently_decompressed`, whose errors it raises.

        Raises UpstreamTimeoutError after `left` seconds, and UpstreamError of kind `too_complex` when it takes too much
        time or memory.
        """
        try:
            async with asyncio.timeout(left):
                plain = await self._attempt(_decompress, (body, content_encoding, limit), self.seconds[False], account)
        except TimeoutError as error:
            raise UpstreamTimeoutError("no time is left to decompress the page", "timeout") from error
        if plain is None:
            raise UpstreamError("the page takes too long to decompress", "too_complex")
        if isinstance(plain, Decompressed):
            return plain
        raise UpstreamError(*plain)

    async def consent_form(self, body: bytes, url: str, left: float, account: str = "") -> Form | None:
        """The submission for the consent page at a URL, by `webdata.pages.consent.form`.

        None also for a page that takes too much memory, or more than `left` seconds: a page of 32 KB can be one of
        millions of elements, since browsers begin open formatting anew in each paragraph
        (https://html.spec.whatwg.org/#reconstruct-the-active-formatting-elements).
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                found: Form | None = await self._attempt(form, (body, url), self.seconds[False], account)
                return found
        return None

    async def _attempt(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, account: str
    ) -> Any:
        """The function's result; None when its process was killed or ran out of memory."""
        if self._is_here:
            return function(*arguments)
        async with self._slots.slot(account):
            task = (function, [*arguments], seconds + 1)
            try:
                return await asyncio.wrap_future(await self._scheduled(task, seconds))
            except (ProcessExpired, BrokenProcessPool, MemoryError, TimeoutError):
                return None

    async def _scheduled(self, task: Sequence[Any], seconds: float) -> "Future[Any]":
        """The result of a task, in the future. The first one of a pool starts its processes, in a thread.

        That takes most of a second, in which others are to be answered.
        """
        pool = self._running_pool()
        schedule = partial(pool.schedule, _alarmed, task, timeout=seconds)
        if pool is self._started:
            return schedule()
        try:
            future = await asyncio.to_thread(schedule)
        except Exception:
            self._started = pool  # so that it is replaced, if it is broken
            raise
        self._started = pool
        return future

    def _running_pool(self) -> ProcessPool:
        with self._lock:
            if self._pool and self._pool is self._started and not self._pool.active:
                Thread(target=_end, args=(self._pool,)).start()  # one process that dies breaks it, the others live on
                self._pool = None
            self._pool = self._pool or process_pool(WORKERS, MODULES)
            return self._pool


CONVERSIONS = Conversions()
"""The pool that all crawlers of the program share."""


def _end(pool: ProcessPool) -> None:
    """End the processes of a pool, at once where they can be, else within seconds."""
    pool.stop()
    pool.join()


def _media(arguments: Mapping[str, Any]) -> str:
    """The media type that a page was sent with."""
    sent = (value for name, value in arguments["headers"].items() if name.lower() == "content-type")
    return next(sent, "").partition(";")[0].strip().lower() or "of no known type"


def _alarmed(function: Callable[..., Any], arguments: list[Any], seconds: float) -> Any:
    """The function's result; the alarm ends the process when its parent has died and cannot kill it."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        arguments.clear()  # the pool keeps them until the process gets its next page


def _convert(body: bytes, arguments: Mapping[str, Any]) -> UrlRecord | tuple[str, str, str]:
    """The record of a page; the arguments of the error for one that has none, since a pickled exception loses them."""
    try:
        return url.page(body, **arguments)
    except UnsupportedContentError as error:
        return error.content_type, error.reason, error.advice


def _decompress(body: bytes, content_encoding: str, limit: int) -> Decompressed | tuple[str, str | None]:
    """The plain body, or the reason and the kind of the error, since a pickled exception loses its fields."""
    try:
        return leniently_decompressed(body, content_encoding, limit)
    except UpstreamError as error:
        return error.reason, error.kind
