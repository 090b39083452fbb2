"""Bodies that are passed on while they arrive: of requests, from a channel, and of responses, to it.

Neither holds more than HIGH bytes and one read of a socket: whoever is faster waits.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from twisted.internet.interfaces import IPushProducer
from twisted.web.server import Request
from zope.interface import implementer

HIGH = 128 * 1024
"""Bytes that wait for their reader at which no more are read from the client."""


class BodyStream:
    """The body of a request, by `async for`; it raises the error for which the body never ends.

    `pause` and `resume` stop and continue the reading from the client.
    """

    def __init__(self, length: int | None, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self.length = length
        """Bytes of the whole; None where the client does not say."""
        self.ended = False
        """Whether all of it has come."""
        self.error: Exception | None = None
        self._pause = pause
        self._resume = resume
        self._paused = False
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._changed = asyncio.Event()

    def feed(self, data: bytes) -> None:
        """Add bytes that came."""
        if self.error:
            return
        self._pieces.append(data)
        self._waiting += len(data)
        self._changed.set()
        if self._waiting > HIGH and not self._paused:
            self._paused = True
            self._pause()

    def end(self) -> None:
        """Take note that all has come."""
        self.ended = True
        self._changed.set()

    def fail(self, error: Exception) -> None:
        """The rest does not come; what waits is dropped."""
        if not self.ended and not self.error:
            self.error = error
            self._pieces.clear()
            self._changed.set()

    def __aiter__(self) -> "BodyStream":
        return self

    async def __anext__(self) -> bytes:
        while not self._pieces:
            if self.error:
                raise self.error
            if self.ended:
                raise StopAsyncIteration
            self._changed.clear()
            if self._paused:
                self._paused, self._waiting = False, 0
                self._resume()
                continue
            await self._changed.wait()
        piece = self._pieces.popleft()
        self._waiting -= len(piece)
        return piece


@implementer(IPushProducer)
class ResponseStream:
    """Writes a response, of which status and headers are set, as fast as its client reads it."""

    def __init__(self, request: Request) -> None:
        self.ended = False
        """Whether all is written, or was broken off."""
        self._request = request
        self._written = 0
        self._room = asyncio.Event()
        self._room.set()
        request.registerProducer(self, True)

    @property
    def left(self) -> int:
        """A number that differs after each write, as what is left of a body of known length does."""
        return -self._written

    async def write(self, data: bytes) -> None:
        """Write, and wait until there is room for more; ends at once when the client is gone."""
        self._request.write(data)
        self._written += len(data)
        await self._room.wait()

    def finish(self) -> None:
        """Take note that all is written."""
        self.ended = True
        self._request.unregisterProducer()
        self._request.finish()

    def break_off(self) -> None:
        """Close the connection, so that the client sees that the rest is missing."""
        self.ended = True
        self._request.unregisterProducer()
        self._request.loseConnection()

    def resumeProducing(self) -> None:
        """The connection has room."""
        self._room.set()

    def pauseProducing(self) -> None:
        """The connection is full."""
        self._room.clear()

    def stopProducing(self) -> None:
        """The connection is lost."""
        self._room.set()
