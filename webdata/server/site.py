"""The HTTP server under the API: reads what clients really send, and closes connections without losing an answer."""

import re
from typing import Any

from twisted.internet.abstract import FileDescriptor
from twisted.internet.interfaces import IHalfCloseableProtocol, IHandshakeListener
from twisted.internet.protocol import connectionDone
from twisted.protocols.tls import TLSMemoryBIOProtocol
from twisted.python.failure import Failure
from twisted.web import server
from twisted.web.http import HTTPChannel, Request, datetimeToString
from twisted.web.http_headers import Headers
from twisted.web.resource import Resource
from zope.interface import implementer

from webdata.api.problems import ProblemDetails
from webdata.api.replies import new_request_id
from webdata.server.connections import LIMITS, Connections, Phase, Unsent

MAX_BODY = 1_048_576
"""Bytes of a request's body. What goes beyond is dropped, and the request is answered 413."""
SLOWEST = 16_384
"""Bytes a second of a body that count as progress; what is dropped counts as none."""

UNREADABLE = ProblemDetails(
    "bad_request",
    "This is not a readable HTTP request: send GET /v1/… HTTP/1.1 with at most 16 KB of path and headers.",
)
TOO_SLOW = ProblemDetails(
    "request_timeout",
    f"The request did not come in time: send the path and headers within {LIMITS[Phase.HEAD]:.0f} seconds, and a body "
    f"within {LIMITS[Phase.BODY]:.0f} seconds or at {SLOWEST // 1024} KB a second.",
)
ODD = re.compile(rb"[^\x21-\x7e]")
REQUEST_LINE_ENDS = (b" HTTP/1.1", b" HTTP/1.0")
KEEP_ALIVE = b"timeout=%d" % LIMITS[Phase.IDLE]
"""How long a connection stays open between two requests, for clients that would rather not find it closed."""
HSTS = "strict-transport-security"


def ascii_only(target: bytes) -> bytes:
    """Percent-encode the bytes of a URL that are not printable ASCII; clients such as curl send them as they are."""
    return ODD.sub(_escaped, target)


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


class BoundedRequest(server.Request):
    """A request that keeps no more than MAX_BODY bytes of its body, and one to tell that there were more."""

    def requestReceived(self: Any, command: bytes, path: bytes, version: bytes) -> None:
        """Have it answered by what its site listens for.

        No resource below that is looked for, and no arguments and no forms are read, as others of Twisted's requests
        do: who answers reads the target and the body as they came.
        """
        self.content.seek(0)
        self.method, self.uri, self.clientproto = command, path, version
        self.site = self.channel.site
        self.setHeader(b"date", datetimeToString())
        try:
            self.render(self.site.resource)
        except BaseException:  # noqa: BLE001  # as Twisted does
            self.processingFailed(Failure())

    def handleContentChunk(self, data: bytes) -> None:
        assert self.content is not None
        room = MAX_BODY + 1 - self.content.tell()
        server.Request.handleContentChunk(self, data[:room])


@implementer(IHandshakeListener, IHalfCloseableProtocol)
class Channel(HTTPChannel):
    """A connection that its site knows of, and what it waits for."""

    site: "Site"
    transport: Any
    """TCP, or TLS over it."""
    phase = Phase.NEW
    since = 0.0
    unsent: Unsent | None = None
    unsent_since = 0.0
    _secure = False
    _unread: Request | None = None
    """The last one that was answered, until the client has read enough for another to be looked at."""
    received = 0
    """Bytes of the body that comes now."""

    def connectionMade(self) -> None:
        HTTPChannel.connectionMade(self)
        self._secure = HTTPChannel.isSecure(self)  # asked several times a request, and slow to find out
        self.site.connections.opened(self, Phase.HANDSHAKE if self._secure else Phase.NEW)

    def isSecure(self) -> bool:
        """Whether it is by TLS."""
        return self._secure

    def handshakeCompleted(self) -> None:
        self._enter(Phase.NEW)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.site.connections.closed(self)
        self._unread = None
        HTTPChannel.connectionLost(self, reason)

    def readConnectionLost(self) -> None:
        """Close it when the client has closed its end, but send what was written to it first."""
        self.loseConnection()

    def writeConnectionLost(self) -> None:
        """Nothing: the other end is still heard."""

    def dataReceived(self, data: bytes) -> None:
        if self.phase is Phase.CLOSING:  # after its last answer nothing of a connection is read, by TLS neither
            return
        if self.phase in (Phase.NEW, Phase.IDLE):
            self._enter(Phase.HEAD)
        HTTPChannel.dataReceived(self, data)

    def lineReceived(self, line: bytes) -> None:
        if line.endswith(REQUEST_LINE_ENDS) and not line.isascii():
            method, _, rest = line.partition(b" ")
            target, _, version = rest.rpartition(b" ")
            line = b" ".join((method, ascii_only(target), version))
        HTTPChannel.lineReceived(self, line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._respondToBadRequestAndDisconnect()

    def allHeadersReceived(self) -> None:
        self.received = 0
        if self.length != 0:  # None where its length is not known
            self._enter(Phase.BODY)
        HTTPChannel.allHeadersReceived(self)

    def rawDataReceived(self, data: bytes) -> None:
        self.received += len(data)
        HTTPChannel.rawDataReceived(self, data)

    def allContentReceived(self) -> None:
        self._enter(Phase.CALL)
        HTTPChannel.allContentReceived(self)

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Headers) -> None:
        for name, value in self._own_headers().items():
            headers.setRawHeaders(name, [value])
        if self.persistent:
            headers.setRawHeaders(b"keep-alive", [KEEP_ALIVE])
        HTTPChannel.writeHeaders(self, version, code, reason, headers)

    def requestDone(self, request: Request) -> None:
        if self._waitingForTransport and self.persistent:  # else answers to what is asked at once would pile up here
            self._unread = request
            self._networkProducer.pauseProducing()
            return
        self._enter(Phase.IDLE)  # now: another request may be here already, and begins in this call
        HTTPChannel.requestDone(self, request)

    def resumeProducing(self) -> None:
        HTTPChannel.resumeProducing(self)
        if self._unread:
            request, self._unread = self._unread, None
            self.requestDone(request)

    def loseConnection(self) -> None:
        self._enter(Phase.CLOSING)
        HTTPChannel.loseConnection(self)

    def close(self) -> None:
        """Close it once all is sent."""
        self.loseConnection()

    def abort(self) -> None:
        """Close it at once."""
        self._enter(Phase.CLOSING)
        self.transport.abortConnection()

    def late(self) -> None:
        """Tell a client that was too slow to ask, and close the connection; without a word where it asked nothing."""
        if self.phase in (Phase.HEAD, Phase.BODY):
            self._say_last(TOO_SLOW)
        elif self.phase in (Phase.NEW, Phase.IDLE):
            self.loseConnection()
        else:
            self.abort()

    def extra(self) -> float:
        """Seconds that a body has earned by coming fast enough."""
        return min(self.received, MAX_BODY) / SLOWEST if self.phase is Phase.BODY else 0.0

    def now_unsent(self) -> Unsent | None:
        """Where the sending stands: the length of what waits for the socket, and how much of it has gone."""
        tcp = self.transport.transport if isinstance(self.transport, TLSMemoryBIOProtocol) else self.transport
        return (len(tcp.dataBuffer), tcp.offset) if isinstance(tcp, FileDescriptor) and tcp.dataBuffer else None

    def _enter(self, phase: Phase) -> None:
        self.site.connections.enter(self, phase)

    def _respondToBadRequestAndDisconnect(self) -> None:
        # Twisted answers what it cannot parse without headers or body; every answer of ours has both.
        self._say_last(UNREADABLE)

    def _say_last(self, problem: ProblemDetails) -> None:
        HTTPChannel.write(self, problem.reply(new_request_id()).with_headers(self._own_headers()).last_words())
        self._hear_out()

    def _hear_out(self) -> None:
        """Close our end, and drop what still comes: closing all would lose the answer of a client that still sends."""
        if not isinstance(self.transport, FileDescriptor):  # TLS hears the other end out by itself
            self.loseConnection()
            return
        self._enter(Phase.CLOSING)
        self.transport.unregisterProducer()
        self.transport.loseWriteConnection()
        HTTPChannel.clearLineBuffer(self)
        HTTPChannel.setRawMode(self)

    def _own_headers(self) -> dict[str, str]:
        """Those that say how the connection was, not what was asked."""
        return self.site.secure_headers if self._secure else {}


class Site(server.Site):
    """Listens for a resource; its connections are kept with those of the process.

    By TLS every response says that browsers shall use nothing else for `hsts` seconds (RFC 6797), 0 says nothing.
    """

    protocol: type[Channel] = Channel  # type: ignore[assignment]  # Twisted's own wraps this one to speak HTTP/2 as well

    def __init__(self, resource: Resource, connections: Connections, hsts: int = 0) -> None:
        server.Site.__init__(self, resource, requestFactory=BoundedRequest, parsePOSTFormSubmission=False)
        self.timeOut = None  # a timer for each connection; ours has one for all
        self.connections = connections
        self.secure_headers = {HSTS: f"max-age={hsts}"} if hsts else {}

    def log(self, request: object) -> None:
        """Nothing: the front of the API writes the access log."""
