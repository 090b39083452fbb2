"""The worker of a service: a child process with a low priority, which runs while there are batches.

A process of its own, so that calls do not wait for the parsing of a batch's pages: they would share one interpreter.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from time import monotonic

from webdata.batches import program
from webdata.server.child_process import ChildProcess
from webdata.server.repeat import repeat
from webdata.stores.interfaces_batches import ChunkStore

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""Between two looks whether there are batches to run."""
IDLE_SECONDS = 300.0
"""After which a process ends that has nothing to run."""


class EmbeddedWorker:
    """Starts the process when there are batches, again when it has died, and stops it when there are none.

    `settings` makes what it is started with; `stop_seconds` is how long its rows may take to end. `observer` is called
    with the resource, engine and outcome of every row that has ended.
    """

    def __init__(
        self,
        settings: Callable[[], program.ProgramSettings],
        stop_seconds: float,
        observer: Callable[[str, str, str], None] = lambda _resource, _engine, _outcome: None,
    ) -> None:
        self._settings = settings
        self._stop_seconds = stop_seconds
        self._watching: asyncio.Task[None] | None = None
        self._busy_at = monotonic()
        self.child = ChildProcess(program.__name__, observer)

    def start(self, chunks: ChunkStore) -> None:
        """Begin to look for batches."""
        looking = repeat("the process that runs batches", partial(self._look, chunks), WATCH_SECONDS)
        self._watching = asyncio.ensure_future(looking)

    async def stop(self) -> None:
        """Stop the process, after its rows that run."""
        if self._watching:
            self._watching.cancel()
        await self.child.stop(self._stop_seconds)

    async def _look(self, chunks: ChunkStore) -> None:
        if await chunks.resume_paid() or await chunks.active():
            self._busy_at = monotonic()
            if self.child.has_died:
                logger.error("the process that runs batches has ended: another begins")
            if not self.child.runs:
                self.child.start(self._settings())
        elif self.child.runs and monotonic() > self._busy_at + IDLE_SECONDS:
            await self.child.stop(self._stop_seconds)
