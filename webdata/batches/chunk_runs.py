"""The run of one chunk by a worker: some of its rows at once, each written as it ends."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from math import inf
from time import monotonic
from typing import Any

from webdata.batches.rows import PutOff, RowRunner
from webdata.domain.errors import DatabaseUnavailableError, OutOfCreditsError
from webdata.runtime.process.shares import FairSlots
from webdata.stores.answers.model import AddedAnswer
from webdata.stores.batches.model import Chunk, EndedRow, RowResult

logger = logging.getLogger(__name__)

ROWS_AT_ONCE = 10
"""Queries of a chunk that run at once."""
SLICE_SECONDS = 2.0
"""After which no further row begins, so that the slot is dealt anew: to the account that has had least."""
LOST_IN_A_ROW = 10
"""Rows that are put off one after the other, after which the rest of the chunk is put off without a try."""
WRITE_AGAIN_SECONDS = 1.0
"""Between two attempts to write a result, while the database is away."""
LAST_WRITE_SECONDS = 30.0
"""How long a worker that ends goes on with such attempts."""


class ChunkRun:
    """Runs the rows of a chunk while its lease holds, for some seconds. `clock` gives seconds that never go back."""

    def __init__(
        self,
        chunk: Chunk,
        runner: RowRunner,
        end_row: Callable[[EndedRow], Awaitable[bool]],
        room: FairSlots,
        lease_end: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.chunk = chunk
        self.lease_end = lease_end
        """When no further row may begin, by the clock, unless the lease is renewed."""
        self.put_off: list[float] = []
        """For each row that is to be run again: the seconds until then, at least."""
        self._runner = runner
        self._end_row = end_row
        self._room = room
        self._clock = clock
        self._slice_end = clock() + SLICE_SECONDS
        self._stopped = False
        self._last_write = inf
        self._lost_in_a_row = 0
        self._rows = iter(chunk.rows)

    @property
    def is_last_round(self) -> bool:
        """Whether a row that is lost now is not put off any more."""
        return self.chunk.rounds >= self.chunk.batch.rounds

    def stop(self) -> None:
        """Begin no further row: those that run are finished."""
        self._stopped = True

    def end(self) -> None:
        """Stop as the worker ends: a result that cannot be written soon is given up, and its row left to others."""
        self.stop()
        self._last_write = self._clock() + LAST_WRITE_SECONDS

    async def run(self) -> bool:
        """Run the rows that are left; returns whether all of them were begun."""
        await asyncio.gather(*(self._run_some() for _ in range(min(ROWS_AT_ONCE, len(self.chunk.rows)))))
        return next(self._rows, None) is None and not self._stopped

    async def _run_some(self) -> None:
        """Run rows one after the other."""
        for row, fields in self._next_rows():
            async with self._room.slot(self.chunk.batch.account_id):
                if self._may_begin():
                    await self._run_row(row, fields)

    def _next_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        while self._may_begin() and not self._gives_back():
            following = next(self._rows, None)
            if following is None:
                return
            yield following

    def _may_begin(self) -> bool:
        if self._clock() >= self.lease_end or (self._lost_in_a_row >= LOST_IN_A_ROW and not self.is_last_round):
            self._stopped = True
        return not self._stopped

    def _gives_back(self) -> bool:
        """Whether the slot is given back before the chunk is done; not by one that would wait for its lost rows."""
        return self._clock() >= self._slice_end and not self.put_off

    async def _run_row(self, row: int, fields: Mapping[str, Any]) -> None:
        try:
            end = await self._runner.run(self.chunk.batch, row, fields, self._write, last=self.is_last_round)
        except (OutOfCreditsError, DatabaseUnavailableError):
            self.stop()
            return
        if isinstance(end, PutOff):
            self.put_off.append(end.seconds)
            self._lost_in_a_row += 1
        else:
            self._lost_in_a_row = 0

    async def _write(self, result: RowResult, archived: AddedAnswer | None) -> None:
        """Write a result, also where the database does not answer for a while: what was fetched is not lost."""
        while True:
            try:
                await self._end_row(EndedRow(self.chunk.batch, self.chunk.number, result, archived))
            except DatabaseUnavailableError as error:
                if self._clock() >= self._last_write:
                    raise
                logger.warning("a row of %s is not written yet: %s", self.chunk.batch.id, error)
                await asyncio.sleep(WRITE_AGAIN_SECONDS)
            else:
                return
