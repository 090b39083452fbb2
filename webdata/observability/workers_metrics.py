"""The metrics of all workers of one parent, which any of them can collect.

Each worker listens on a Unix socket in the folder that they share, and answers one byte with all of its metrics.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from webdata.server.workers import Worker

QUERY = b"?"
TIMEOUT = 1.0
"""Seconds that another worker has to send its metrics."""


class WorkersMetrics:
    """Serves the metrics of this worker, which `packed` returns, and collects those of the others."""

    def __init__(self, worker: Worker, packed: Callable[[], bytes]) -> None:
        self._worker = worker
        self._packed = packed
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Serve this worker's metrics to the others."""
        path = self._path(self._worker.number)
        path.unlink(missing_ok=True)  # left by a worker of this number that died
        self._server = await asyncio.start_unix_server(self._answer, path)

    def close(self) -> None:
        """Stop serving them."""
        if self._server:
            self._server.close()
            self._path(self._worker.number).unlink(missing_ok=True)

    def snapshot(self) -> dict[str, int]:
        """The number of this worker, how many workers there should be, and how many run."""
        worker = self._worker
        return {"number": worker.number, "of": worker.of, "running": sum(map(self._runs, self._others())) + 1}

    async def collect(self) -> Mapping[int, bytes | None]:
        """The metrics of all workers by number; None for one that does not answer in time."""
        others = self._others()
        answers = await asyncio.gather(*map(self._query, others))
        metrics = {self._worker.number: self._packed(), **dict(zip(others, answers, strict=True))}
        return dict(sorted(metrics.items()))

    def _others(self) -> list[int]:
        return [number for number in range(1, self._worker.of + 1) if number != self._worker.number]

    def _path(self, number: int) -> Path:
        return self._worker.folder / f"{number}.socket"

    def _runs(self, number: int) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.setblocking(False)
            return probe.connect_ex(str(self._path(number))) == 0

    async def _query(self, number: int) -> bytes | None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await asyncio.open_unix_connection(self._path(number))
                with contextlib.closing(writer):
                    writer.write(QUERY)
                    return await reader.read() or None
        return None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError):
            if await reader.read(1):  # `snapshot` connects and sends nothing
                writer.write(self._packed())
                await writer.drain()
