"""A child process that runs while there is work for it, beside the service, whose own calls lose nothing to it.

A service without such work never starts it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic

from webdata.runtime.process.child_process import ChildProcess
from webdata.runtime.process.repeat import repeat

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""Between two looks whether there is work."""
IDLE_SECONDS = 300.0
"""After which a process ends that has no work."""
IDLE_STOP_SECONDS = 60.0
"""How long that may take: what is due now and then may begin at this moment, and nobody waits for the end."""


class OnDemandProcess:
    """Runs `main` of a module while it `is_needed`, and again when it has died, until `stop`.

    `what` it is, the log says. `settings` makes what it is started with; `told` is called with the parts of each of its
    messages. What it has begun may take `stop_seconds` to end when the service stops.
    """

    def __init__(
        self,
        what: str,
        module: str,
        settings: Callable[[], object],
        is_needed: Callable[[], Awaitable[object]],
        stop_seconds: float,
        told: Callable[..., None] = lambda *_: None,
    ) -> None:
        self._what = what
        self._settings = settings
        self._is_needed = is_needed
        self._stop_seconds = stop_seconds
        self._watching: asyncio.Task[None] | None = None
        self._busy_at = monotonic()
        self.child = ChildProcess(module, told)

    def start(self) -> None:
        """Begin to look for work."""
        self._watching = asyncio.ensure_future(repeat(self._what, self._look, WATCH_SECONDS))

    async def stop(self) -> None:
        """Stop the process, after what it has begun."""
        if self._watching:
            self._watching.cancel()
        await self.child.stop(self._stop_seconds)

    async def _look(self) -> None:
        has_died = self.child.has_died  # what it had begun is not due before another one has released it
        if await self._is_needed() or has_died:
            self._busy_at = monotonic()
            if has_died:
                logger.error("%s has ended: another begins", self._what)
            if not self.child.runs:
                self.child.start(self._settings())
        elif self.child.runs and monotonic() > self._busy_at + IDLE_SECONDS:
            await self.child.stop(IDLE_STOP_SECONDS)
