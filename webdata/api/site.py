"""The HTTP server under the API: reads what clients really send, and closes connections without losing an answer."""

import asyncio
import re

from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import server
from twisted.web.http import HTTPChannel
from twisted.web.resource import Resource

from webdata.api.problems import ProblemDetails
from webdata.api.replies import new_request_id

MAX_BODY = 1_048_576
"""Bytes of a request's body. What goes beyond is dropped, and the request is answered 413."""

UNREADABLE = ProblemDetails(
    "bad_request",
    "This is not a readable HTTP request: send GET /v1/… HTTP/1.1 with at most 16 KB of path and headers.",
)
REQUEST_LINE_ENDS = (b" HTTP/1.1", b" HTTP/1.0")


def ascii_only(target: bytes) -> bytes:
    """Percent-encode the bytes of a URL that are not printable ASCII; clients such as curl send them as they are."""
    return re.sub(rb"[^\x21-\x7e]", lambda match: b"%%%02X" % match[0][0], target)


class BoundedRequest(server.Request):
    """A request that keeps no more than MAX_BODY bytes of its body, and one to tell that there were more."""

    def handleContentChunk(self, data: bytes) -> None:
        assert self.content is not None
        room = MAX_BODY + 1 - self.content.tell()
        server.Request.handleContentChunk(self, data[:room])


class Channel(HTTPChannel):
    """A connection that its site knows of."""

    site: "Site"

    def connectionMade(self) -> None:
        HTTPChannel.connectionMade(self)
        self.site.opened(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.site.closed(self)
        HTTPChannel.connectionLost(self, reason)

    def lineReceived(self, line: bytes) -> None:
        if line.endswith(REQUEST_LINE_ENDS) and not line.isascii():
            method, _, rest = line.partition(b" ")
            target, _, version = rest.rpartition(b" ")
            line = b" ".join((method, ascii_only(target), version))
        HTTPChannel.lineReceived(self, line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._respondToBadRequestAndDisconnect()

    def _respondToBadRequestAndDisconnect(self) -> None:
        # Twisted answers what it cannot parse without headers or body; every answer of ours has both.
        HTTPChannel.write(self, UNREADABLE.reply(new_request_id()).last_words())
        HTTPChannel.loseConnection(self)


class Site(server.Site):
    """Listens for a resource, and knows its open connections."""

    protocol = Channel  # type: ignore[assignment]  # Twisted's own wraps this one to speak HTTP/2 as well

    def __init__(self, resource: Resource) -> None:
        server.Site.__init__(self, resource, requestFactory=BoundedRequest, parsePOSTFormSubmission=False)
        self._channels: set[Channel] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()

    def log(self, request: object) -> None:
        """Nothing: the front of the API writes the access log."""

    def opened(self, channel: Channel) -> None:
        """A connection is there."""
        self._channels.add(channel)
        self._none_open.clear()

    def closed(self, channel: Channel) -> None:
        """A connection is gone."""
        self._channels.discard(channel)
        if not self._channels:
            self._none_open.set()

    async def close(self) -> None:
        """Close every connection once what was written to it is sent; returns when none is open."""
        for channel in list(self._channels):
            HTTPChannel.loseConnection(channel)
        await self._none_open.wait()
