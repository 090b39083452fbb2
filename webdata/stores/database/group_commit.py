"""Group commit: items that many callers submit are written in one transaction, at the cost of one."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

GROUP_SIZE = 500
"""Items of one group at most."""
POST_SECONDS = 0.01
"""How long posted items are collected."""
MOST_POSTED = 50_000
"""Queued items beyond which posted ones are dropped, while the database is away."""


class GroupCommitter(Generic[T, R]):
    """Writes queued items in groups, one at a time: items that arrive while a group is written are the next group.

    So at low load an item is written at once, and at high load one transaction serves many. Belongs to one event loop
    at a time.

    With `collect` each group waits so many seconds for more items: fewer transactions, where nobody waits for one.

    `write` is passed a group and returns one result for each item, in the same order; an exception among the results
    is raised to the caller of its item, an exception that `write` raises to all callers of the group.
    """

    def __init__(self, write: Callable[[list[T]], Awaitable[Sequence[R | Exception]]], collect: float = 0.0) -> None:
        self._write = write
        self._collect = collect
        self.failure: Exception | None = None
        """Why the last group could not be written; None since an item was."""
        self._queue: deque[tuple[T | None, asyncio.Future[R | None] | None]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def submit(self, item: T) -> R:
        """Write an item and return its result. Cancellation does not stop the write.

        Raises RuntimeError after `close`.
        """
        result = await self._enqueue(item)
        assert result is not None
        return result

    def post(self, item: T) -> None:
        """Queue an item without waiting; an item that cannot be written is logged as an error and dropped.

        Raises RuntimeError after `close`.
        """
        self._check_open()
        if len(self._queue) >= MOST_POSTED:
            logger.error("%s is lost: %d wait to be written already", item, MOST_POSTED)
            return
        self._queue.append((item, None))
        if not self._timer:
            self._timer = asyncio.get_running_loop().call_later(POST_SECONDS, self._start_writing)

    async def flush(self) -> None:
        """Wait until every item that is queued now is written or dropped."""
        await self._enqueue(None)

    def close(self) -> None:
        """Take no more items. `flush` before: those that still wait are lost."""
        self._closed = True
        if self._timer:
            self._timer.cancel()

    async def _enqueue(self, item: T | None) -> R | None:
        self._check_open()
        future: asyncio.Future[R | None] = asyncio.get_running_loop().create_future()
        self._queue.append((item, future))
        self._start_writing()
        return await future

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("nothing is written any more: the store is closed")

    def _start_writing(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if not self._writing or self._writing.done():
            self._writing = asyncio.ensure_future(self._write_groups())

    async def _write_groups(self) -> None:
        while self._queue:
            if self._collect:
                await asyncio.sleep(self._collect)
            await self._write_group([self._queue.popleft() for _ in range(min(GROUP_SIZE, len(self._queue)))])

    async def _write_group(self, group: list[tuple[T | None, "asyncio.Future[R | None] | None"]]) -> None:
        items = [item for item, _ in group if item is not None]
        results: Sequence[R | Exception]
        try:
            results = await self._write(items) if items else ()
            if len(results) != len(items):
                raise RuntimeError(f"{len(results)} results for {len(items)} items")
            if not all(isinstance(result, Exception) for result in results):  # refusals write nothing
                self.failure = None
        except Exception as error:  # noqa: BLE001  # each caller raises it; the next group may be written
            self.failure = error
            results = [error] * len(items)
        remaining = iter(results)
        for item, future in group:
            result = None if item is None else next(remaining)
            if future:
                _resolve(future, result)
            elif isinstance(result, Exception):
                logger.error("%s is lost: %s", item, result)


def _resolve(future: "asyncio.Future[R | None]", result: R | Exception | None) -> None:
    if future.done():  # its caller was cancelled
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
