"""Grouped commits: what many callers want written becomes one transaction, which is as durable and costs once."""

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

Pending = tuple[asyncio.Future[Any], asyncio.AbstractEventLoop]

MOST = 500
"""Operations of one group."""
GATHERED = 0.002
"""Seconds that a group gathers in while several callers wait for theirs; a lone caller waits for nobody.

A transaction costs the processor some 250 us, an operation in it 15: with 16 callers at once that is half as much.
"""
WITHIN = 0.02
"""Seconds in which what nobody waits for is written, where the database keeps up: half of it it gathers."""
MOST_POSTED = 50_000
"""Items that may wait to be written while the database is away."""


class GroupedWriter(Generic[T, R]):
    """A thread that writes what comes in, in groups that grow with the load.

    `write` is given a group and tells, in the same order, what became of each: a result, or the error to raise. When
    it raises itself, everyone in the group is told so.
    """

    def __init__(self, write: Callable[[list[T]], Sequence[R | Exception]]) -> None:
        self._write = write
        self._queue: SimpleQueue[tuple[T | None, Pending | None] | None] = SimpleQueue()
        self._closed = False
        self._crowded = False
        self._thread = Thread(target=self._run, name="grouped-writer", daemon=True)
        self._thread.start()

    async def submit(self, item: T) -> R:
        """Have it written, and wait until it is. One whose caller has gone is written all the same.

        Raises RuntimeError after the end.
        """
        result: R = await self._queued(item)
        return result

    def post(self, item: T) -> None:
        """Have it written soon. What cannot be written is told in the log, and lost.

        Raises RuntimeError after the end.
        """
        self._check_open()
        if self._queue.qsize() < MOST_POSTED:
            self._queue.put((item, None))
        else:
            logger.error("%s is lost: %d wait to be written already", item, MOST_POSTED)

    async def flush(self) -> None:
        """Wait until everything that came in before is written, or lost."""
        await self._queued(None)

    async def _queued(self, item: T | None) -> Any:
        self._check_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.put((item, (future, loop)))
        return await future

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("nothing is written any more: the store is closed")

    def close(self) -> None:
        """Write what was submitted, and end."""
        self._closed = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        more = True
        while more:
            group, more = self._group()
            if group:
                self._finish(group)

    def _group(self) -> tuple[list[tuple[T | None, Pending | None]], bool]:
        """What to write together, and whether there is more to come."""
        first = self._queue.get()
        if first is None:
            return [], False
        group = [first]
        if first[1] is None:
            sleep(WITHIN / 2)
        elif self._crowded:
            sleep(GATHERED)
        with contextlib.suppress(Empty):
            while len(group) < MOST:
                one = self._queue.get_nowait()
                if one is None:
                    return group, False
                group.append(one)
        self._crowded = sum(pending is not None for _, pending in group) > 1
        return group, True

    def _finish(self, group: list[tuple[T | None, Pending | None]]) -> None:
        items = [item for item, _ in group if item is not None]
        results: Sequence[R | Exception]
        try:
            results = self._write(items) if items else ()
        except Exception as error:  # noqa: BLE001  # each caller raises it
            results = [error] * len(items)
        told = defaultdict(list)
        left = iter(results)
        for item, pending in group:
            result = None if item is None else next(left)
            if pending:
                future, loop = pending
                told[loop].append((future, result))
            elif isinstance(result, Exception):
                logger.error("%s is lost: %s", item, result)
        for loop, pairs in told.items():
            with contextlib.suppress(RuntimeError):  # the loop has ended, and its callers with it
                loop.call_soon_threadsafe(_tell, pairs)


def _tell(pairs: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
