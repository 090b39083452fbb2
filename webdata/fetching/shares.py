"""Shares of what the calls of a process have in common, so that no key takes from the others: bytes and slots."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from webdata.domain.errors import CallerGoneError, OverloadedError, RateLimitedError

MEBIBYTE = 1024 * 1024
SMALL = MEBIBYTE
"""Bytes that a call may hold without being counted: nearly all pages and answers are smaller."""
MOST_BYTES = 128 * MEBIBYTE
"""Bytes of large pages and answers that all calls of a process may hold. A page takes several times its length while
it is read, converted and answered."""
MOST_BYTES_OF_KEY = 56 * MEBIBYTE
"""Bytes of them that the calls of one key may hold: two of the largest pages, as base64."""


class HeldBytes:
    """The bytes of the large pages and answers that are being read, converted or sent, by key."""

    def __init__(
        self,
        most: int = MOST_BYTES,
        most_of_key: int = MOST_BYTES_OF_KEY,
        on_loss: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_loss` is called when a call that held some has failed."""
        self.on_loss = on_loss
        self.most = most
        self.most_of_key = most_of_key
        self.of_keys: Counter[str] = Counter()
        self.total = 0

    @staticmethod
    def exceeds(others: int, size: int, most: int) -> bool:
        """Whether `size` bytes are too many beside those of others."""
        return others > 0 and others + size > most

    def change(self, key: str, size: int) -> None:
        """Count `size` bytes more, or fewer, for a key."""
        self.total += size
        self.of_keys[key] += size
        if not self.of_keys[key]:
            del self.of_keys[key]


class CallShare:
    """What one call holds: `key` is that of its caller, `bytes_held` those of its page, then of its answer.

    `is_gone` returns whether the caller has hung up.
    """

    def __init__(self, key: str, held: HeldBytes, is_gone: Callable[[], bool] = lambda: False) -> None:
        self.key = key
        self._is_gone = is_gone
        self.bytes_held = 0
        self.refused = False
        """Whether there was no room for it."""
        self._held = held
        self._released = False

    def check_caller(self) -> None:
        """Raise CallerGoneError for a caller that has hung up, before something is fetched for nobody."""
        if self._is_gone():
            raise CallerGoneError("the caller hung up before anything was fetched")

    def hold(self, size: int) -> None:
        """Hold `size` bytes instead of those before; at most SMALL are not counted.

        Raises RateLimitedError where the key, OverloadedError where the process would then hold too many. One call
        alone may hold any number: other limits bound the size of a page.
        """
        counted = size if size > SMALL and not self._released else 0
        more = counted - self.bytes_held
        held = self._held
        if more > 0 and held.exceeds(held.of_keys[self.key] - self.bytes_held, counted, held.most_of_key):
            self.refused = True
            most = held.most_of_key // MEBIBYTE
            raise RateLimitedError(
                f"The large answers that this key fetches or has not read yet exceed {most} MiB: let one end first.", 1
            )
        if more > 0 and held.exceeds(held.total - self.bytes_held, counted, held.most):
            self.refused = True
            raise OverloadedError("too many large answers are fetched or read at this moment", retry_after=1)
        self._held.change(self.key, more)
        self.bytes_held = counted

    def release(self) -> None:
        """Hold nothing any more: the answer is read, or nobody reads it."""
        self.hold(0)
        self._released = True

    def lose(self) -> None:
        """Release: the call has failed, and its error keeps its page in memory until garbage is collected."""
        if self.bytes_held:
            self._held.on_loss()
        self.release()


class FairSlots:
    """A semaphore whose slots are given to the keys that wait in turn.

    Where there are several slots one key never holds all of them: the last one is for other keys. A batch has no key
    (""), and may hold all.
    """

    def __init__(self, limit: int) -> None:
        self._free = self._limit = limit
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, key: str) -> AsyncIterator[None]:
        """Hold a slot."""
        await self.acquire(key)
        try:
            yield
        finally:
            self.release(key)

    async def acquire(self, key: str) -> None:
        """Wait for a slot, and hold it until `release`."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(waiting)
        self._give()
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():  # given in the same round of the loop
                self.release(key)
            raise

    def release(self, key: str) -> None:
        """Give a slot back."""
        self._free += 1
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]
        self._give()

    def _give(self) -> None:
        """Give the free slots to those that wait: one to a key, then to the next."""
        given = True
        while given and self._free:
            given = any(self._give_to(key) for key in list(self._waiting))

    def _give_to(self, key: str) -> bool:
        waiting = self._waiting[key]
        while waiting and waiting[0].done():  # cancelled
            waiting.popleft()
        given = bool(waiting) and self._running[key] < self._most(key)
        if given:
            waiting.popleft().set_result(None)
            self._free -= 1
            self._running[key] += 1
            self._waiting.move_to_end(key)
        if not waiting:
            del self._waiting[key]
        return given

    def _most(self, key: str) -> int:
        return max(1, self._limit - 1) if key else self._limit
