"""A port on loopback whose every connection is served by a coroutine."""

import asyncio
import logging
import socket
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from functools import partial
from math import inf

logger = logging.getLogger(__name__)

CHUNK = 64 * 1024
"""Bytes that are read at once."""
HOST = "127.0.0.1"
BACKLOG = 1024
"""Connections in the accept queue: one that finds it full is retried by its client a second later."""
PAUSE = 1.0
"""Seconds until the next connection is accepted after an error, such as too many open files: it waits in the queue."""


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
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None

    @property
    def listens(self) -> bool:
        return self._socket is not None

    async def start(self, host: str = HOST, port: int = 0) -> int:
        """Listen, and return the port, a free one for 0; the host is an address. Raises OSError."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self._socket.setblocking(False)
        self._accepting = asyncio.create_task(self._accept_all(self._socket))
        return int(self._socket.getsockname()[1])

    async def stop(self) -> None:
        """Close the port, and abort every connection."""
        tasks = [*self.open, *([self._accepting] if self._accepting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket:
            self._socket.close()
            self._socket = None

    async def _accept_all(self, listening: socket.socket) -> None:
        """Accept connections; unlike asyncio's server it logs one line, not a thousand, where files are exhausted."""
        loop, fails = asyncio.get_running_loop(), False
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
                protocol = partial(StreamReaderProtocol, StreamReader(CHUNK), self._accept)
                await loop.connect_accepted_socket(protocol, connection)
            except ConnectionAbortedError:
                continue
            except OSError as error:
                if not fails:
                    logger.error("connections on loopback wait: %s", error.strerror)  # noqa: TRY400  # it says all
                fails = True
                await asyncio.sleep(PAUSE)
                continue
            fails = False

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
