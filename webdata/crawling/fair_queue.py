"""A fair queue: of many calls that are ready at once, a few continue in each round of the event loop."""

import asyncio
from collections import deque

AT_ONCE = 8
"""Calls that continue in one round of the loop; one at a time would cost a fifth of the throughput."""
LONG_QUEUE = 16
"""Beyond so many waiting calls the loop makes several rounds between two of them."""
ROUNDS = 4
"""How many. A call takes some thirty rounds from its request to its reply: the fewer of them are long, the less it is
delayed by a long queue."""


class FairQueue:
    """Calls continue in the order in which they wait, while the event loop does everything else in between.

    Without it a thousand responses at once would hold up everybody for the seconds that parsing them takes.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._continued = 0
        """How many have continued in this round of the loop."""

    async def wait(self) -> None:
        """Return when the caller may continue."""
        loop = asyncio.get_running_loop()
        if not self._continued:
            loop.call_soon(self._next, 1)
        if self._continued < AT_ONCE:
            self._continued += 1
            return
        waiting: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiting)
        await waiting

    def _next(self, rounds: int) -> None:
        loop = asyncio.get_running_loop()
        if rounds > 1:
            loop.call_soon(self._next, rounds - 1)
            return
        while self._waiting and self._waiting[0].done():  # cancelled
            self._waiting.popleft()
        if self._waiting:
            self._continued = AT_ONCE
            self._waiting.popleft().set_result(None)
            loop.call_soon(self._next, ROUNDS if len(self._waiting) > LONG_QUEUE else 1)
        else:
            self._continued = 0
