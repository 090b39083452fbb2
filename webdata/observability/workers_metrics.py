"""The workers of one parent among themselves: what each has counted, for whichever of them is asked.

Each listens on a Unix socket in a folder that only they can look into, and tells whoever connects and says a byte all
of its metrics.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from webdata.server.workers import Worker

ASKED = b"?"
PATIENCE = 1.0
"""Seconds that a sibling has to tell its metrics."""


class Siblings:
    """A worker's siblings, and itself among them. `tell` gives its own metrics."""

    def __init__(self, worker: Worker, tell: Callable[[], bytes]) -> None:
        self._worker = worker
        self._tell = tell
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Answer the others from now on."""
        place = self._place(self._worker.number)
        place.unlink(missing_ok=True)  # of the one before, which died
        self._server = await asyncio.start_unix_server(self._answer, place)

    def close(self) -> None:
        """Answer nobody any more."""
        if self._server:
            self._server.close()
            self._place(self._worker.number).unlink(missing_ok=True)

    def snapshot(self) -> dict[str, int]:
        """Which of them this one is, how many there should be, and how many there are."""
        worker = self._worker
        return {"number": worker.number, "of": worker.of, "running": sum(map(self._runs, self._others())) + 1}

    async def told(self) -> Mapping[int, bytes | None]:
        """The metrics of all by their numbers; None for one that does not answer in time."""
        others = self._others()
        heard = await asyncio.gather(*map(self._ask, others))
        told = {self._worker.number: self._tell(), **dict(zip(others, heard, strict=True))}
        return dict(sorted(told.items()))

    def _others(self) -> list[int]:
        return [number for number in range(1, self._worker.of + 1) if number != self._worker.number]

    def _place(self, number: int) -> Path:
        return self._worker.folder / f"{number}.socket"

    def _runs(self, number: int) -> bool:
        with socket.socket(socket.AF_UNIX) as one:
            one.setblocking(False)
            return one.connect_ex(str(self._place(number))) == 0

    async def _ask(self, number: int) -> bytes | None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                reader, writer = await asyncio.open_unix_connection(self._place(number))
                with contextlib.closing(writer):
                    writer.write(ASKED)
                    return await reader.read() or None
        return None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError):
            if await reader.read(1):  # else somebody wanted to know no more than whether this worker runs
                writer.write(self._tell())
                await writer.drain()
