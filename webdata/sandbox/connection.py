"""One client's connection to the sandbox's proxy."""

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Protocol as Interface
from typing import cast

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IDelayedCall, IPushProducer
from twisted.internet.protocol import Protocol, ServerFactory
from twisted.internet.tcp import Server
from twisted.python.failure import Failure
from zope.interface import implementer

from webdata.sandbox import client_hello
from webdata.sandbox.certificates import Authority, HostTLS
from webdata.sandbox.exchange import Reply, SandboxRequest, plain, unknown_host
from webdata.sandbox.wire import ESTABLISHED, Message, RequestReader, WireError, reply_bytes

AUTHORITY = r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))(?::\d{1,5})?"
TUNNEL = re.compile(AUTHORITY)
ABSOLUTE = re.compile(rf"(?P<scheme>https?)://{AUTHORITY}(?P<target>(?:[/?].*)?)", re.IGNORECASE)

USAGE = "This is a forward proxy: ask for http://HOST/PATH, or open a tunnel with CONNECT HOST:443."


class Backend(Interface):
    """What answers the requests of a connection."""

    authority: Authority
    connections: "set[Connection]"

    def knows(self, host: str) -> bool: ...

    def answer(self, request: SandboxRequest) -> Reply: ...


class Connection(Protocol):
    """Plain requests for any host, or a tunnel to one host with TLS terminated here; requests are answered in order."""

    def __init__(self, backend: Backend):
        self.closed: Deferred[None] = Deferred()
        """Fires when the connection is lost."""
        self._backend = backend
        self._reader = RequestReader()
        self._tunnel: str | None = None
        self._tls: HostTLS | None = None
        """The server side of the handshake, until that begins."""
        self._client_hello = b""
        self._delayed: IDelayedCall | None = None
        self._closing = False

    def connectionMade(self) -> None:
        self._backend.connections.add(self)

    def connectionLost(self, reason: Failure | None = None) -> None:
        self._closing = True
        self._backend.connections.discard(self)
        if self._delayed:
            self._delayed.cancel()
        self.closed.callback(None)

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
            while not self._closing and self._delayed is None and (message := self._reader.next()):
                self._handle(message)
        except WireError as error:
            self._refuse(plain(error.status, f"{error.reason}. {USAGE}"))

    def _handle(self, message: Message) -> None:
        if message.method == "CONNECT":
            self._connect(message.target)
        else:
            request = self._request(message)
            self._reply(message, self._backend.answer(request) if request else plain(HTTPStatus.BAD_REQUEST, USAGE))

    def _connect(self, target: str) -> None:
        match = TUNNEL.fullmatch(target)
        if self._tunnel or not match:
            raise WireError(HTTPStatus.BAD_REQUEST, "a tunnel that cannot be opened")
        host = _host(match)
        if self._backend.knows(host):
            self._open_tunnel(host)
        else:
            self._refuse(unknown_host(host))

    def _open_tunnel(self, host: str) -> None:
        try:
            self._tls = self._backend.authority.host_tls(host)
        except ValueError as error:
            raise WireError(HTTPStatus.BAD_REQUEST, f"no certificate can be made for {host}") from error
        self._tunnel = host
        early = self._reader.take_unread()
        self._socket.write(ESTABLISHED)
        if early:  # sent before our reply: it belongs to the handshake
            self._start_tls(self._tls, early)

    def _start_tls(self, tls: HostTLS, data: bytes) -> None:
        """Begin the handshake once the ClientHello is complete, which sites read to recognise browsers."""
        self._client_hello += data
        if client_hello.is_complete(self._client_hello):
            self._tls = None
            self._socket.startTLS(tls)
            self._socket.protocol.dataReceived(self._client_hello)

    def _request(self, message: Message) -> SandboxRequest | None:
        match = ABSOLUTE.fullmatch(message.target)
        if match:
            scheme, host, target = match["scheme"].lower(), _host(match), match["target"]
            target = target if target.startswith("/") else f"/{target}"
        elif self._tunnel and message.target.startswith("/"):
            scheme, host, target = "https", self._tunnel, message.target
        else:
            return None
        return SandboxRequest(message.method, scheme, host, target, message.headers, message.body, self._client_hello)

    def _reply(self, message: Message, reply: Reply) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if reply.delay:
            self._delayed = reactor.callLater(reply.delay, self._reply_late, message, reply)
        else:
            self._send(message, reply)

    def _reply_late(self, message: Message, reply: Reply) -> None:
        self._delayed = None
        self._send(message, reply)
        self.dataReceived(b"")  # handles the requests received meanwhile

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


class ConnectionFactory(ServerFactory):
    """Makes the connection of each client that a port accepts."""

    noisy = False

    def __init__(self, connection: Callable[[], Connection]):
        self._connection = connection

    def buildProtocol(self, addr: IAddress | None) -> Connection:
        return self._connection()


@implementer(IPushProducer)
class _Pieces:
    """Writes pieces as fast as the client reads them, and closes the connection behind the last."""

    def __init__(self, socket: Server, pieces: Iterator[bytes], pause: float):
        self._socket = socket
        self._pieces = pieces
        self._pause = pause
        self._next_write: IDelayedCall | None = None

    def resumeProducing(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if self._next_write is None:
            self._next_write = reactor.callLater(self._pause, self._write)

    def pauseProducing(self) -> None:
        if self._next_write:
            self._next_write.cancel()
            self._next_write = None

    def stopProducing(self) -> None:
        self.pauseProducing()

    def _write(self) -> None:
        self._next_write = None
        piece = next(self._pieces, None)
        if piece is None:
            self._socket.unregisterProducer()
            self._socket.loseConnection()
        else:
            self.resumeProducing()
            self._socket.write(piece)  # which may call pauseProducing


def _host(match: re.Match[str]) -> str:
    return (match["six"] or match["name"]).lower().rstrip(".")
