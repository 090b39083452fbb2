"""A fair queue: of many calls that are ready at once, a few continue in each round of the loop, by key in turn."""

import asyncio
from collections import OrderedDict, deque

AT_ONCE = 8
"""Calls that continue in one round of the loop; one at a time would cost a fifth of the throughput."""
LONG_QUEUE = 16
"""Beyond so many waiting calls the loop makes several rounds between two of them."""
ROUNDS = 4
"""How many. A call takes some thirty rounds from its request to its reply: the fewer of them are long, the less it is
delayed by a long queue."""


class FairQueue:
    """Calls continue one of a key after one of the next, while the event loop does everything else in between.

    Without it a thousand responses at once would hold up everybody for the seconds that parsing them takes.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """By key; those of a key in their order."""
        self._continued = 0
        """How many have continued in this round of the loop."""

    async def wait(self, key: str = "") -> None:
        """Return when a call of the key may continue."""
        loop = asyncio.get_running_loop()
        if not self._continued:
            loop.call_soon(self._next, 1)
        if self._continued < AT_ONCE:
            self._continued += 1
            return
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(key, deque()).append(waiting)
        await waiting

    def _next(self, rounds: int) -> None:
        loop = asyncio.get_running_loop()
        if rounds > 1:
            loop.call_soon(self._next, rounds - 1)
            return
        if waiting := self._taken():
            self._continued = AT_ONCE
            waiting.set_result(None)
            loop.call_soon(self._next, ROUNDS if sum(map(len, self._waiting.values())) > LONG_QUEUE else 1)
        else:
            self._continued = 0

    def _taken(self) -> asyncio.Future[None] | None:
        """What has waited longest of the key whose turn it is, which is now the last one."""
        while self._waiting:
            key, of_key = self._waiting.popitem(last=False)
            waiting = of_key.popleft()
            if of_key:
                self._waiting[key] = of_key
            if not waiting.done():  # else it was cancelled
                return waiting
        return None
