"""A port on loopback whose every connection is served by a coroutine."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from math import inf

CHUNK = 64 * 1024
"""Bytes that are read at once."""
HOST = "127.0.0.1"
BACKLOG = 1024
"""Connections in the accept queue: one that finds it full is retried by its client a second later."""


class Stream:
    """Both directions of one connection."""

    def __init__(self, reader: StreamReader, writer: StreamWriter):
        self.reader = reader
        self.writer = writer

    async def read(self) -> bytes:
        """The next bytes; none when the other side has closed the connection."""
        return await self.reader.read(CHUNK)

    async def write(self, data: bytes) -> None:
        """Send, and wait while the other side reads more slowly."""
        self.writer.write(data)
        await self.writer.drain()

    def end(self) -> None:
        """Send what ends the stream, before the connection is closed."""


class Listener:
    """Serves each connection by `serve`, and closes it behind that; beyond `most` at a time they are closed at once."""

    def __init__(self, serve: Callable[[Stream], Awaitable[None]], most: float = inf):
        self.open: set[asyncio.Task[None]] = set()
        """What serves the open connections."""
        self._serve = serve
        self._most = most
        self._server: asyncio.Server | None = None

    @property
    def listens(self) -> bool:
        return self._server is not None

    async def start(self, host: str = HOST, port: int = 0) -> int:
        """Listen, and return the port, a free one for 0. Raises OSError."""
        self._server = await asyncio.start_server(self._accept, host, port, limit=CHUNK, backlog=BACKLOG)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port, and abort every connection."""
        if self._server:
            self._server.close()
            self._server = None
        for task in self.open:
            task.cancel()
        await asyncio.gather(*self.open, return_exceptions=True)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        full = len(self.open) >= self._most
        self.open.add(task)
        task.add_done_callback(self.open.discard)
        with closing(writer), suppress(OSError):  # the client left, or a time limit passed
            try:
                if not full:
                    await self._serve(Stream(reader, writer))
            except asyncio.CancelledError:
                writer.transport.abort()
