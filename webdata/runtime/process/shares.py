"""Shares of what the work of a process has in common, so that no account takes from the others.

Whose share it is, is the id of an account: many keys of one account have no more than one key has.
"""

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
MOST_BYTES_OF_ONE = 56 * MEBIBYTE
"""Bytes of them that the calls of one account may hold: two of the largest pages, as base64."""


class Shares:
    """How much each account holds of what all have together: `most` of all, and `most_of_one` of each.

    What one alone holds may be any amount, as other limits bound it.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self.total = 0
        self._of: Counter[str] = Counter()

    def of(self, account: str) -> int:
        """What an account holds."""
        return self._of[account]

    def has_room_for_one(self, account: str, amount: int, instead_of: int = 0) -> bool:
        """Whether an account may hold this amount more, `instead_of` a part of what it holds."""
        return _fits(self._of[account] - instead_of, amount, self.most_of_one)

    def has_room(self, amount: int, instead_of: int = 0) -> bool:
        """Whether all together may hold this amount more, `instead_of` a part of what they hold."""
        return _fits(self.total - instead_of, amount, self.most)

    def change(self, account: str, amount: int) -> None:
        """Count this amount more, or less, for an account."""
        self.total += amount
        self._of[account] += amount
        if not self._of[account]:
            del self._of[account]


def _fits(others: int, amount: int, most: int) -> bool:
    return others <= 0 or others + amount <= most


class HeldBytes(Shares):
    """The bytes of the large pages and answers that are being read, converted or sent."""

    def __init__(
        self,
        most: int = MOST_BYTES,
        most_of_one: int = MOST_BYTES_OF_ONE,
        on_loss: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_loss` is called when a call that held some has failed."""
        super().__init__(most, most_of_one)
        self.on_loss = on_loss


class CallShare:
    """What one call of an account holds: `bytes_held` are those of its page, then of its answer.

    `is_gone` returns whether the caller has hung up.
    """

    def __init__(self, account: str, held: HeldBytes, is_gone: Callable[[], bool] = lambda: False) -> None:
        self.account = account
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

        Raises RateLimitedError where the account, OverloadedError where the process would then hold too many. One call
        alone may hold any number: other limits bound the size of a page.
        """
        counted = size if size > SMALL and not self._released else 0
        more = counted - self.bytes_held
        held = self._held
        if more > 0 and not held.has_room_for_one(self.account, counted, self.bytes_held):
            self.refused = True
            most = held.most_of_one // MEBIBYTE
            raise RateLimitedError(
                f"The large answers that this account fetches or has not read exceed {most} MiB: let one end first.",
                1,
            )
        if more > 0 and not held.has_room(counted, self.bytes_held):
            self.refused = True
            raise OverloadedError("too many large answers are fetched or read at this moment", retry_after=1)
        held.change(self.account, more)
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


class Waiting:
    """What waits for its turn: of one account after that of the next, and those of an account in their order."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def add(self, account: str) -> asyncio.Future[None]:
        """What is done when it is its turn."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._of.setdefault(account, deque()).append(waiting)
        return waiting

    def give(self, may: Callable[[str], bool] = lambda _: True) -> str | None:
        """Give the turn to the first account that `may` have it, which is the last one then; returns it, if any."""
        for account, waiting in list(self._of.items()):
            while waiting and waiting[0].done():  # cancelled
                waiting.popleft()
            given = bool(waiting) and may(account)
            if given:
                waiting.popleft().set_result(None)
                self._of.move_to_end(account)
            if not waiting:
                del self._of[account]
            if given:
                return account
        return None


class FairSlots:
    """A semaphore whose slots are given to the accounts that wait in turn.

    Where there are several slots one account never holds all of them: the last one is for others. What belongs to no
    account ("", as in `scrapy crawl`) may hold all.
    """

    def __init__(self, limit: int) -> None:
        self._held = Shares(limit, max(1, limit - 1))
        self._waiting = Waiting()

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Hold a slot of the key."""
        await self.acquire(account)
        try:
            yield
        finally:
            self.release(account)

    async def acquire(self, account: str) -> None:
        """Wait for a slot, and hold it until `release`."""
        waiting = self._waiting.add(account)
        self._give()
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():  # given in the same round of the loop
                self.release(account)
            raise

    def release(self, account: str) -> None:
        """Give a slot back."""
        self._held.change(account, -1)
        self._give()

    def _give(self) -> None:
        """Give the free slots to those that wait: one to an account, then to the next."""
        while self._held.has_room(1) and (account := self._waiting.give(self._may)) is not None:
            self._held.change(account, 1)

    def _may(self, account: str) -> bool:
        return not account or self._held.has_room_for_one(account, 1)


AT_ONCE = 8
"""Calls that continue in one round of the loop; one at a time would cost a fifth of the throughput."""
LONG_QUEUE = 16
"""Beyond so many waiting calls the loop makes several rounds between two of them."""
ROUNDS = 4
"""How many. A call takes some thirty rounds from its request to its reply: the fewer of them are long, the less it is
delayed by a long queue."""


class FairQueue:
    """Calls continue one of an account after one of the next, while the event loop does everything else in between.

    Without it a thousand responses at once would hold up everybody for the seconds that parsing them takes.
    """

    def __init__(self) -> None:
        self._waiting = Waiting()
        self._continued = 0
        """How many have continued in this round of the loop."""

    async def wait(self, account: str = "") -> None:
        """Return when a call of the account may continue."""
        if not self._continued:
            asyncio.get_running_loop().call_soon(self._next, 1)
        if self._continued < AT_ONCE:
            self._continued += 1
            return
        await self._waiting.add(account)

    def _next(self, rounds: int) -> None:
        loop = asyncio.get_running_loop()
        if rounds > 1:
            loop.call_soon(self._next, rounds - 1)
        elif self._waiting.give() is not None:
            self._continued = AT_ONCE
            loop.call_soon(self._next, ROUNDS if len(self._waiting) > LONG_QUEUE else 1)
        else:
            self._continued = 0
