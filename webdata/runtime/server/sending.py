"""Sends bodies; large ones in pieces, as their clients read them, so that buffers hold no second copy."""

from twisted.internet.interfaces import IPushProducer
from twisted.web.server import Request
from zope.interface import implementer

PIECE = 128 * 1024
"""Bytes of one piece."""


def send(request: Request, body: bytes | memoryview) -> None:
    """Write the body of a response and finish it: a large one when the client has read nearly all of it."""
    if len(body) <= PIECE:
        request.write(bytes(body))  # TLS takes nothing else
        request.finish()
    else:
        sender = BodySender(request, body)
        request.registerProducer(sender, True)
        sender.resumeProducing()


@implementer(IPushProducer)
class BodySender:
    """Writes the next pieces whenever the connection has room for them."""

    def __init__(self, request: Request, body: bytes | memoryview) -> None:
        self._request = request
        self._rest = memoryview(body)
        self._paused = False

    @property
    def left(self) -> int:
        """Bytes that are not written yet."""
        return len(self._rest)

    def resumeProducing(self) -> None:
        """Write until the connection is full."""
        self._paused = False
        while self._rest and not self._paused:
            piece, self._rest = self._rest[:PIECE], self._rest[PIECE:]
            self._request.write(bytes(piece))
        if not self._rest and not self._paused:
            self._paused = True
            self._request.unregisterProducer()
            self._request.finish()

    def pauseProducing(self) -> None:
        """The connection is full."""
        self._paused = True

    def stopProducing(self) -> None:
        """The connection is lost."""
        self._paused = True
        self._rest = memoryview(b"")
