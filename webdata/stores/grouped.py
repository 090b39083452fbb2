"""Grouped commits: what many callers want written becomes one transaction, which is as durable and costs once."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Pending = tuple[asyncio.Future[Any], asyncio.AbstractEventLoop]

MOST = 500
"""Operations of one group."""


class GroupedWriter(Generic[T, R]):
    """A thread that writes what callers submit: all that came in while it wrote the last group is the next one.

    So a lone caller waits for nobody, and groups grow with the load. Measured, waiting for a group to grow first gave
    fewer operations a second, and later.

    `write` is given a group and tells, in the same order, what became of each: a result, or the error to raise. When
    it raises itself, everyone in the group is told so.
    """

    def __init__(self, write: Callable[[list[T]], Sequence[R | Exception]]) -> None:
        self._write = write
        self._queue: SimpleQueue[tuple[T, Pending] | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._run, name="grouped-writer", daemon=True)
        self._thread.start()

    async def submit(self, item: T) -> R:
        """Have it written, and wait until it is. One whose caller has gone is written all the same.

        Raises RuntimeError after the end.
        """
        if self._closed:
            raise RuntimeError("nothing is written any more: the store is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        self._queue.put((item, (future, loop)))
        return await future

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

    def _group(self) -> tuple[list[tuple[T, Pending]], bool]:
        """What to write together, and whether there is more to come."""
        group: list[tuple[T, Pending]] = []
        with contextlib.suppress(Empty):
            while len(group) < MOST:
                one = self._queue.get(block=not group)
                if one is None:
                    return group, False
                group.append(one)
        return group, True

    def _finish(self, group: list[tuple[T, Pending]]) -> None:
        results: Sequence[R | Exception]
        try:
            results = self._write([item for item, _ in group])
        except Exception as error:  # noqa: BLE001  # each caller raises it
            results = [error] * len(group)
        told = defaultdict(list)
        for (_, (future, loop)), result in zip(group, results, strict=True):
            told[loop].append((future, result))
        for loop, pairs in told.items():
            with contextlib.suppress(RuntimeError):  # the loop has ended, and its callers with it
                loop.call_soon_threadsafe(_tell, pairs)


def _tell(pairs: list[tuple["asyncio.Future[R]", R | Exception]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
