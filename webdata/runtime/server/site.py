"""The HTTP server under the API: takes what real clients send, and loses no response when it closes a connection."""

import asyncio
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, Literal, Protocol

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

from webdata.domain.errors import BodyTooLargeError, BrokenBodyError, SlowBodyError
from webdata.runtime.server.bodies import Bodies, SenderOf
from webdata.runtime.server.chunks import ChunkedBody
from webdata.runtime.server.connections import LIMITS, Connections, Phase, Unsent
from webdata.runtime.server.sending import BodySender
from webdata.runtime.server.streams import BodyStream, ResponseStream

MAX_BODY = 1_048_576
"""Bytes of a request's body. One that says so, or proves so, is refused without reading on."""
SLOWEST = 16_384
"""Bytes a second at which a body extends its time limit; those beyond MAX_BODY do not."""
SLOW_STREAM = (
    f"The body came too slowly: send it within {LIMITS[Phase.STREAM]:.0f} seconds or at {SLOWEST // 1024} KB a second"
)
ODD = re.compile(rb"[^\x21-\x7e]")
FOLDS = (b" ", b"\t")
"""The beginnings of a line that continues a header; no client sends it any more (RFC 9112 5.2)."""
TARGET_BEGUN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ ")
"""A method, and the blank before a target: what a request line begins with (RFC 9112 3)."""
AUTHORITY = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:%\[\]-]*")
"""The signs of a host and its port (RFC 3986 3.2.2)."""
REQUEST_LINE_ENDS = (b" HTTP/1.1", b" HTTP/1.0")
KEEP_ALIVE = b"timeout=%d" % LIMITS[Phase.IDLE]
"""How long a connection stays open between two requests, so that clients do not send into a closed one."""
HSTS = "strict-transport-security"


RefusedKind = Literal["unreadable", "long_target", "long_head", "too_slow"]
"""What is no HTTP request, a request line or headers longer than are read, a request not complete within LIMITS."""


class Refusals(Protocol):
    """The responses to clients whose requests do not reach the resource: whole, with `Connection: close`."""

    def refused(self, kind: RefusedKind, headers: Mapping[str, str]) -> bytes:
        """For a request that could not be read; with these further headers."""

    def body_refused(self, request: server.Request, error: Exception, headers: Mapping[str, str]) -> bytes:
        """For a request whose body is not read because of this error; with these further headers."""

    def failed(self, request: server.Request, error: BaseException, headers: Mapping[str, str]) -> bytes:
        """For a request that the resource failed to take; with these further headers."""

    def not_tls(self) -> bytes:
        """For a client that does not begin TLS on a port of HTTPS."""

    def https_required(self, method: str, target: str, location: str, has_key: bool) -> bytes:
        """For a request by plain HTTP: the redirect to `location`; `has_key` is true if it carried an API key."""

    def foreign_host(self, method: str, target: str) -> bytes:
        """For a request by plain HTTP to a host that is not this service's."""

    def insecure_key(self, method: str, target: str) -> bytes:
        """For a request by plain HTTP with an API key, where such requests are refused."""


def ascii_only(target: bytes) -> bytes:
    """Percent-encode the bytes of a URL that are not printable ASCII; clients such as curl send them unescaped."""
    return ODD.sub(lambda match: b"%%%02X" % match[0][0], target)


class BoundedRequest(server.Request):
    """A request whose body stays in memory: a file for each that has begun would let clients use up the open files.

    With a `stream` it is rendered before its body has come, which goes there and may have any length.
    """

    stream: BodyStream | None = None
    defaultContentType = None  # noqa: N815  # Twisted's name, and it takes what it does not know for HTML

    def gotLength(self, length: int | None) -> None:
        self.content = BytesIO()

    def requestReceived(self: Any, command: bytes, path: bytes, version: bytes) -> None:
        """Render the site's resource.

        Unlike Twisted's own requests it looks for no child resource and parses no arguments and no forms: the resource
        reads the target and the body itself.
        """
        if self.stream:
            self.stream.end()
            return
        self.begin(command, path, version)

    def begin(self: Any, command: bytes, path: bytes, version: bytes) -> None:
        """Render the resource with what is there of the body."""
        self.content.seek(0)
        self.method, self.uri, self.clientproto = command, path, version
        self.site = self.channel.site
        self.setHeader(b"date", datetimeToString())
        try:
            self.render(self.site.resource)
        except BaseException:  # noqa: BLE001  # as Twisted does
            self.processingFailed(Failure())

    def processingFailed(self: Any, reason: Failure) -> Failure:
        """Answer as other errors are, instead of by Twisted's page of HTML without headers."""
        self.channel.fail(self, reason.value)
        return reason

    def handleContentChunk(self: Any, data: bytes) -> None:
        if self.stream:
            self.stream.feed(data)
        elif self.channel.stores(len(data)):
            server.Request.handleContentChunk(self, data)


@implementer(IHandshakeListener, IHalfCloseableProtocol)
class Channel(HTTPChannel):
    """A connection, which reports its phases to the site's connections."""

    site: "Site"
    transport: Any
    """TCP, or TLS over it."""
    phase = Phase.NEW
    since = 0.0
    unsent: Unsent | None = None
    unsent_since = 0.0
    _secure = False
    _unread: Request | None = None
    """The request answered last, while the client has not read enough of the answers for another to begin."""
    received = 0
    """Bytes of the current request's body, as they were sent."""
    _most = MAX_BODY
    """Bytes that the body may have."""
    _stored = 0
    """Bytes of the body that are in memory."""
    _sender: str | None = None
    """Whose share of memory the current request's body takes; None where it came together with its head."""
    _seeking: asyncio.Future[str] | None = None
    """The search for the sender, during which nothing is read."""
    _stream: BodyStream | None = None
    """The current request's body, where it is passed on as it comes and has not ended."""

    def connectionMade(self) -> None:
        HTTPChannel.connectionMade(self)
        self._secure = HTTPChannel.isSecure(self)  # read several times a request, and slow
        self._host = HTTPChannel.getHost(self)  # as well: it asks the kernel
        self.site.connections.opened(self, Phase.HANDSHAKE if self._secure else Phase.NEW)

    def isSecure(self) -> bool:
        """Whether the connection is by TLS."""
        return self._secure

    def getHost(self) -> Any:
        """The address and port that the client has connected to."""
        return self._host

    def handshakeCompleted(self) -> None:
        self._enter(Phase.NEW)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.site.connections.closed(self)
        self._unread = None
        if self._stream:
            self._stream.fail(BrokenBodyError("the client has gone"))
        self._end_body()
        HTTPChannel.connectionLost(self, reason)

    def readConnectionLost(self) -> None:
        """The client has closed its side: close the connection once all is sent."""
        self.loseConnection()

    def writeConnectionLost(self) -> None:
        """Nothing: the client may still send."""

    def dataReceived(self, data: bytes) -> None:
        if self.phase is Phase.CLOSING:  # TLS still delivers data then
            return
        if self.phase in (Phase.NEW, Phase.IDLE):
            self._enter(Phase.HEAD)
        HTTPChannel.dataReceived(self, data)
        if self.phase is Phase.HEAD and self._has_bare_line_end():
            self._respondToBadRequestAndDisconnect()

    def _has_bare_line_end(self) -> bool:
        """Whether a line that is not complete has an end without CR, behind which its client waits for the answer."""
        return bool(self.line_mode and b"\n" in self._buffer and not (self.paused or self._busyReceiving))

    def lineReceived(self, line: bytes) -> None:
        if self._receivedHeaderSize + len(line) > self.totalHeadersSize:
            self._refuse_long(line)
            return
        if line[:1] in FOLDS:
            self._respondToBadRequestAndDisconnect()
            return
        if line.endswith(REQUEST_LINE_ENDS) and not line.isascii():
            method, _, rest = line.partition(b" ")
            target, _, version = rest.rpartition(b" ")
            line = b" ".join((method, ascii_only(target), version))
        HTTPChannel.lineReceived(self, line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._refuse_long(line)

    def _refuse_long(self, line: bytes) -> None:
        """Refuse a head that this line makes longer than any is read."""
        if self._receivedHeaderSize:
            self._close_with(self.site.refusals.refused("long_head", self._security_headers()))
        elif TARGET_BEGUN.match(line):
            self._close_with(self.site.refusals.refused("long_target", self._security_headers()))
        else:
            self._respondToBadRequestAndDisconnect()

    def headerReceived(self, line: bytes) -> bool:
        if self.phase is Phase.CLOSING:  # an earlier header was refused, which Twisted forgets
            return False
        if self._receivedHeaderCount >= self.maxHeaders:
            self._refuse_long(line)
            return False
        return bool(HTTPChannel.headerReceived(self, line))

    def allHeadersReceived(self) -> None:
        """Have the body read once it is known whose it is, unless it is here already."""
        hosts = self.requests[-1].requestHeaders.getRawHeaders(b"host") or ()
        if not self._is_one_message() or not all(map(AUTHORITY.fullmatch, hosts)):
            self._respondToBadRequestAndDisconnect()
            return
        is_own = None if self._secure else self.site.is_own_host
        if is_own and not all(is_own(host.decode("ascii")) for host in hosts):
            method, target = self._command.decode("ascii", "replace"), ascii_only(self._path).decode("ascii")
            self._close_with(self.site.refusals.foreign_host(method, target))
            return
        self.received = self._stored = 0
        if self.length == 0:
            HTTPChannel.allHeadersReceived(self)
            return
        self._enter(Phase.BODY)
        self._most = self.site.most_body(self._path)
        if self.length is not None and self.length <= min(len(self._buffer), self._most):
            HTTPChannel.allHeadersReceived(self)
        elif self.site.streams(self._path):
            self._stream = BodyStream(self.length, self._pause_stream, self._resume_stream)
            self._seek_sender()
        elif self.length is not None and self.length > self._most:
            self._refuse_body(BodyTooLargeError(self._most))
        else:
            self._seek_sender()

    def rawDataReceived(self, data: bytes) -> None:
        self.received += len(data)
        HTTPChannel.rawDataReceived(self, data)

    def stores(self, size: int) -> bool:
        """Whether to store so many further bytes of the body; if not, the request has been refused."""
        if self.phase is Phase.CLOSING:
            return False
        try:
            if self._stored + size > self._most:
                raise BodyTooLargeError(self._most)
            if self._sender:
                self.site.bodies.take(self._sender, size)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            self._refuse_body(error)
            return False
        self._stored += size
        return True

    def allContentReceived(self) -> None:
        if self.phase is Phase.CLOSING:
            return
        self._end_body()
        self._enter(Phase.CALL)
        HTTPChannel.allContentReceived(self)

    def _is_one_message(self) -> bool:
        """Whether no other server can read another request into these bytes (RFC 9112 3.2 and 6.1)."""
        headers = self.requests[-1].requestHeaders
        hosts = headers.getRawHeaders(b"host") or ()
        if len(hosts) != 1 and (hosts or self._version == b"HTTP/1.1"):
            return False
        return self.length is not None or self._version == b"HTTP/1.1"

    def _maybeChooseTransferDecoder(self, header: bytes, data: bytes) -> bool:
        if header == b"Transfer-Encoding" and data.lower() != b"chunked":  # Twisted ignores "identity"
            return self._failChooseTransferDecoder()
        try:
            chosen = bool(super()._maybeChooseTransferDecoder(header, data))  # type: ignore[no-untyped-call]
        except ValueError:  # Python reads no number of more than 4300 digits
            return self._failChooseTransferDecoder()
        if chosen and header == b"Transfer-Encoding":
            stored = self.requests[-1].handleContentChunk
            self._transferDecoder = ChunkedBody(stored, self._finishRequestBody, self._chunk_begins)
        return chosen

    def _chunk_begins(self, size: int) -> bool:
        """Whether to read a chunk of so many bytes; if not, the request has been refused."""
        if not self._stream and self._stored + size > self._most:
            self._refuse_body(BodyTooLargeError(self._most))
            return False
        return True

    def _seek_sender(self) -> None:
        request = self.requests[-1]
        request.uri = self._path
        try:
            self._seeking = self.site.bodies.seek(request)
        except Exception as error:  # noqa: BLE001  # whatever happens, the caller gets a reply
            self._refuse_body(error)
            return
        self.paused = True
        self._networkProducer.pauseProducing()
        self._seeking.add_done_callback(self._sender_found)

    def _sender_found(self, seeking: asyncio.Future[str]) -> None:
        error = seeking.exception()
        if seeking is not self._seeking:  # the connection is closed
            return
        self._seeking = None
        if isinstance(error, Exception):
            self._refuse_body(error)
            return
        if self._stream:
            self._begin_stream(self._stream)
            return
        self._sender = seeking.result()
        HTTPChannel.allHeadersReceived(self)
        self._read_on()

    def _begin_stream(self, stream: BodyStream) -> None:
        """Render the request, and read its body."""
        request: Any = self.requests[-1]
        request.stream = stream
        HTTPChannel.allHeadersReceived(self)
        self._enter(Phase.STREAM)
        request.begin(self._command, self._path, self._version)
        if self._stream:  # the response may have ended it
            self._read_on()

    def _pause_stream(self) -> None:
        self.paused = True
        self._networkProducer.pauseProducing()
        self._enter(Phase.CALL)  # what follows waits for the reader of the stream, not for the client

    def _resume_stream(self) -> None:
        if self._stream:
            self.received = 0
            self._enter(Phase.STREAM)
            self._read_on()

    def _break_stream(self, stream: BodyStream, error: Exception) -> None:
        """Have the request answered with an error, as the rest of its body is not read."""
        self.paused = True
        self._networkProducer.pauseProducing()
        self._enter(Phase.CALL)
        stream.fail(error)

    def _read_on(self) -> None:
        self.paused = False
        self._networkProducer.resumeProducing()
        self.dataReceived(b"")

    def _refuse_body(self, error: Exception) -> None:
        request = self.requests[-1]
        request.method, request.uri = self._command, self._path
        self._close_with(self.site.refusals.body_refused(request, error, self._security_headers()))

    def _end_body(self) -> None:
        """Give back the memory of a body that is complete or not wanted any more."""
        self._seeking = self._stream = None
        if self._sender:
            self.site.bodies.give_back(self._sender, self._stored)
            self._sender = None

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Headers) -> None:
        for name, value in self._security_headers().items():
            headers.setRawHeaders(name, [value])
        if self._stream:  # it may never be read to its end
            self.persistent = False
            headers.setRawHeaders(b"connection", [b"close"])
        if self.persistent:
            headers.setRawHeaders(b"keep-alive", [KEEP_ALIVE])
        # In one piece, as Twisted looks at each of the hundred pieces that its own method makes.
        lines = [b"%b: %b\r\n" % (name, value) for name, values in headers.getAllRawHeaders() for value in values]
        self.transport.write(b"".join([b"%b %b %b\r\n" % (version, code, reason), *lines, b"\r\n"]))

    def requestDone(self, request: Request) -> None:
        if self._stream:
            self.requests.remove(request)
            self._stop_reading()
            return
        if self._waitingForTransport and self.persistent:  # or answers to pipelined requests would pile up in memory
            self._unread = request
            self._networkProducer.pauseProducing()
            return
        self._enter(Phase.IDLE)  # first: the next pipelined request may begin in this call
        HTTPChannel.requestDone(self, request)

    def resumeProducing(self) -> None:
        HTTPChannel.resumeProducing(self)
        if self.paused:
            self._networkProducer.pauseProducing()
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
        """Close the connection of a client that took too long; one that had begun a request gets a 408 first."""
        if self.phase is Phase.STREAM and self._stream:
            self._break_stream(self._stream, SlowBodyError(SLOW_STREAM))
        elif self.phase in (Phase.HEAD, Phase.BODY):
            self._close_with(self.site.refusals.refused("too_slow", self._security_headers()))
        elif self.phase in (Phase.NEW, Phase.IDLE):
            self.loseConnection()
        else:
            self.abort()

    def fail(self, request: server.Request, error: BaseException) -> None:
        """End a request that could not be taken, by a last response unless one has begun."""
        if request.startedWriting:
            self.abort()
        else:
            self._close_with(self.site.refusals.failed(request, error, self._security_headers()))

    def extra(self) -> float:
        """Seconds by which a body that arrives fast enough extends its limit."""
        if self.phase is Phase.STREAM:
            return self.received / SLOWEST
        return min(self.received, MAX_BODY) / SLOWEST if self.phase is Phase.BODY else 0.0

    def now_unsent(self) -> Unsent | None:
        """Bytes that wait for the socket, and how many of them were sent; None when all were."""
        tcp = self.transport.transport if isinstance(self.transport, TLSMemoryBIOProtocol) else self.transport
        if not isinstance(tcp, FileDescriptor):
            return None
        waiting = len(tcp.dataBuffer) + tcp._tempDataLen  # noqa: SLF001  # there is no public attribute
        left = self._requestProducer.left if isinstance(self._requestProducer, (BodySender, ResponseStream)) else 0
        return (waiting + left, tcp.offset) if waiting else None

    def _enter(self, phase: Phase) -> None:
        self.site.connections.enter(self, phase)

    def _respondToBadRequestAndDisconnect(self) -> None:
        # Twisted's own answer to what it cannot parse has neither headers nor a body.
        if self._stream and self._seeking is None:
            self._break_stream(
                self._stream,
                BrokenBodyError(
                    "The body breaks the chunked transfer coding: send a size in hex before each chunk, 0 at the end"
                ),
            )
            return
        self._close_with(self.site.refusals.refused("unreadable", self._security_headers()))

    def _close_with(self, response: bytes) -> None:
        """Send a last response, close the sending side and drop what still arrives.

        To close both sides at once would reset the connection of a client that still sends, and lose the response.
        """
        if self.phase is Phase.CLOSING:
            return
        HTTPChannel.write(self, response)
        self._stop_reading()

    def _stop_reading(self) -> None:
        """Close the sending side once all is sent, and drop what still arrives."""
        self._end_body()
        self._enter(Phase.CLOSING)
        if self.paused:
            self._read_on()
        if not isinstance(self.transport, FileDescriptor):  # TLS itself reads until the client closes
            self.loseConnection()
            return
        self.transport.unregisterProducer()
        self.transport.loseWriteConnection()
        HTTPChannel.clearLineBuffer(self)
        HTTPChannel.setRawMode(self)

    def _security_headers(self) -> dict[str, str]:
        return self.site.tls_headers if self._secure else {}


class Site(server.Site):
    """Serves a resource by HTTP; `connections` are those of the process, on all ports.

    `sender_of` says from a request's head whose body is about to come; without an answer none is read. `streams` says
    of a target whether its bodies are passed on as they come, in any length; else they are read whole, and have at most
    the bytes that `most_body` says of the target. By plain HTTP `is_own_host` says of a `Host` header whether it is
    answered; None answers any.

    Over TLS every response has Strict-Transport-Security of `hsts` seconds (RFC 6797), none where it is 0.
    """

    protocol: type[Channel] = Channel  # type: ignore[assignment]  # Twisted's own wraps this one to speak HTTP/2 as well

    def __init__(
        self,
        resource: Resource,
        connections: Connections,
        refusals: Refusals,
        sender_of: SenderOf,
        hsts: int = 0,
        streams: Callable[[bytes], bool] = lambda _: False,
        most_body: Callable[[bytes], int] = lambda _: MAX_BODY,
        is_own_host: Callable[[str], bool] | None = None,
    ) -> None:
        server.Site.__init__(self, resource, requestFactory=BoundedRequest, parsePOSTFormSubmission=False)
        self.timeOut = None  # Twisted's timer for each connection: Connections has one for all
        self.connections = connections
        self.refusals = refusals
        self.bodies = Bodies(sender_of)
        self.streams = streams
        self.most_body = most_body
        self.is_own_host = is_own_host
        self.tls_headers = {HSTS: f"max-age={hsts}"} if hsts else {}

    def log(self, request: object) -> None:
        """Nothing: the resource writes the access log."""
