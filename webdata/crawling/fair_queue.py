"""A crowd goes one by one, so that whoever else is there is heard in between."""

import asyncio
from collections import deque

TOGETHER = 8
"""So many go in one round of the loop; to have them go one by one costs a fifth of the throughput."""
CROWD = 16
"""Beyond so many who wait, the loop comes round several times for each turn."""
ROUNDS = 4
"""How often. A call takes some thirty rounds from its request to its answer:
the fewer of them are long, the less it notices of a crowd."""


class Turns:
    """Lets a crowd go one after the other, in the order in which they come, while the loop looks at all else.

    Without it a thousand answers that come at once hold up everybody for the seconds that it takes to read them. A few
    go at once.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._gone = 0
        """How many have gone in this round of the loop."""

    async def come(self) -> None:
        """Return when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        if not self._gone:
            loop.call_soon(self._next, 1)
        if self._gone < TOGETHER:
            self._gone += 1
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self, rounds: int) -> None:
        loop = asyncio.get_running_loop()
        if rounds > 1:
            loop.call_soon(self._next, rounds - 1)
            return
        while self._waiting and self._waiting[0].done():  # who is gone waits no more
            self._waiting.popleft()
        if self._waiting:
            self._gone = TOGETHER
            self._waiting.popleft().set_result(None)
            loop.call_soon(self._next, ROUNDS if len(self._waiting) > CROWD else 1)
        else:
            self._gone = 0
