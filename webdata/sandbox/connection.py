"""One client of the sandbox's proxy."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Protocol as Shape
from typing import cast

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IPushProducer
from twisted.internet.protocol import Protocol
from twisted.internet.tcp import Server
from twisted.python.failure import Failure
from zope.interface import implementer

from webdata.sandbox import hello
from webdata.sandbox.certificates import Authority, HostTLS
from webdata.sandbox.exchange import Reply, SandboxRequest, plain, unknown
from webdata.sandbox.wire import ESTABLISHED, Message, RequestReader, WireError, reply_bytes

AUTHORITY = r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))(?::\d{1,5})?"
TUNNEL = re.compile(AUTHORITY)
ABSOLUTE = re.compile(rf"(?P<scheme>https?)://{AUTHORITY}(?P<target>(?:[/?].*)?)", re.IGNORECASE)

USAGE = "This is a forward proxy: ask for http://HOST/PATH, or open a tunnel with CONNECT HOST:443."


class Answering(Shape):
    """What a connection needs of the sandbox."""

    authority: Authority
    connections: "set[Connection]"

    def knows(self, host: str) -> bool: ...

    def answer(self, request: SandboxRequest) -> Reply: ...


class Connection(Protocol):
    """Plain requests for any host, or a tunnel to one whose TLS ends here; one request after the other."""

    def __init__(self, sandbox: Answering):
        self.gone: Deferred[None] = Deferred()
        """Fires when the connection is lost."""
        self._sandbox = sandbox
        self._reader = RequestReader()
        self._tunnel: str | None = None
        self._tls: HostTLS | None = None
        """What the handshake is made with, until it begins."""
        self._hello = b""
        self._later: IDelayedCall | None = None
        self._closing = False

    def connectionMade(self) -> None:
        self._sandbox.connections.add(self)

    def connectionLost(self, reason: Failure | None = None) -> None:
        self._closing = True
        self._sandbox.connections.discard(self)
        if self._later:
            self._later.cancel()
        self.gone.callback(None)

    def abort(self) -> None:
        """Break the connection now (TCP reset)."""
        self._closing = True
        self._socket.abortConnection()

    @property
    def _socket(self) -> Server:
        return cast(Server, self.transport)

    def dataReceived(self, data: bytes) -> None:
        if self._closing:
            return
        if self._tls:
            self._start_tls(self._tls, data)
            return
        try:
            self._reader.feed(data)
            while not self._closing and self._later is None and (message := self._reader.next()):
                self._take(message)
        except WireError as error:
            self._refuse(plain(error.status, f"{error.reason}. {USAGE}"))

    def _take(self, message: Message) -> None:
        if message.method == "CONNECT":
            self._connect(message.target)
        else:
            self._reply(message, self._answer(message))

    def _connect(self, target: str) -> None:
        match = TUNNEL.fullmatch(target)
        if self._tunnel or not match:
            raise WireError(HTTPStatus.BAD_REQUEST, "a tunnel that cannot be opened")
        host = _host(match)
        if self._sandbox.knows(host):
            self._open_tunnel(host)
        else:
            self._refuse(unknown(host))

    def _open_tunnel(self, host: str) -> None:
        try:
            self._tls = self._sandbox.authority.host(host)
        except ValueError as error:
            raise WireError(HTTPStatus.BAD_REQUEST, f"no certificate can be made for {host}") from error
        self._tunnel = host
        early = self._reader.rest()
        self._socket.write(ESTABLISHED)
        if early:  # sent without waiting for us: it belongs to the handshake
            self._start_tls(self._tls, early)

    def _start_tls(self, tls: HostTLS, data: bytes) -> None:
        """Begin the handshake as soon as its first bytes are all there: they tell who the client is."""
        self._hello += data
        if hello.whole(self._hello):
            self._tls = None
            self._socket.startTLS(tls)
            self._socket.protocol.dataReceived(self._hello)

    def _answer(self, message: Message) -> Reply:
        request = self._request(message)
        return self._sandbox.answer(request) if request else plain(HTTPStatus.BAD_REQUEST, USAGE)

    def _request(self, message: Message) -> SandboxRequest | None:
        match = ABSOLUTE.fullmatch(message.target)
        if match:
            scheme, host, target = match["scheme"].lower(), _host(match), match["target"]
            target = target if target.startswith("/") else f"/{target}"
        elif self._tunnel and message.target.startswith("/"):
            scheme, host, target = "https", self._tunnel, message.target
        else:
            return None
        return SandboxRequest(message.method, scheme, host, target, message.headers, message.body, self._hello)

    def _reply(self, message: Message, reply: Reply) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if reply.delay:
            self._later = reactor.callLater(reply.delay, self._reply_late, message, reply)
        else:
            self._send(message, reply)

    def _reply_late(self, message: Message, reply: Reply) -> None:
        self._later = None
        self._send(message, reply)
        self.dataReceived(b"")  # what came meanwhile

    def _send(self, message: Message, reply: Reply) -> None:
        if reply.reset:
            self.abort()
            return
        if reply.pieces:
            self._closing = True
            producer = _Pieces(self._socket, reply.pieces(), reply.pause)
            self._socket.registerProducer(producer, streaming=True)
            producer.resumeProducing()
            return
        keep_alive = message.keep_alive and reply.cut is None
        self._socket.write(reply_bytes(reply, head_only=message.method == "HEAD", keep_alive=keep_alive))
        if not keep_alive:
            self._close()

    def _refuse(self, reply: Reply) -> None:
        self._socket.write(reply_bytes(reply, keep_alive=False))
        self._close()

    def _close(self) -> None:
        self._closing = True
        self._socket.loseConnection()


@implementer(IPushProducer)
class _Pieces:
    """Writes one piece after the other, no faster than they are taken, and closes the connection behind the last."""

    def __init__(self, socket: Server, pieces: Iterator[bytes], pause: float):
        self._socket = socket
        self._pieces = pieces
        self._pause = pause
        self._later: IDelayedCall | None = None

    def resumeProducing(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if self._later is None:
            self._later = reactor.callLater(self._pause, self._write)

    def pauseProducing(self) -> None:
        if self._later:
            self._later.cancel()
            self._later = None

    def stopProducing(self) -> None:
        self.pauseProducing()

    def _write(self) -> None:
        self._later = None
        piece = next(self._pieces, None)
        if piece is None:
            self._socket.unregisterProducer()
            self._socket.loseConnection()
        else:
            self.resumeProducing()
            self._socket.write(piece)  # which may pause us


def _host(match: re.Match[str]) -> str:
    return (match["six"] or match["name"]).lower().rstrip(".")
