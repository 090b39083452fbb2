"""One client's connection to the sandbox's proxy."""

import asyncio
import re
import socket
import ssl
import struct
from contextlib import suppress
from dataclasses import replace

from h11 import RemoteProtocolError

from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, plain, unknown_host
from webdata.runtime.wire.listener import CHUNK, Listener, Stream
from webdata.runtime.wire.wire import ESTABLISHED, Message, Requests, reply_bytes
from webdata.sandbox import client_hello
from webdata.sandbox.certificates import Authority

AUTHORITY = r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))(?::\d{1,5})?"
TUNNEL = re.compile(AUTHORITY)
ABSOLUTE = re.compile(rf"(?P<scheme>https?)://{AUTHORITY}(?P<target>(?:[/?].*)?)", re.IGNORECASE)
RESET = struct.pack("ii", 1, 0)
"""The socket option SO_LINGER with which closing a connection resets it."""

USAGE = "This is a forward proxy: ask for http://HOST/PATH, or open a tunnel with CONNECT HOST:443."


class Backend:
    """A proxy that answers the requests of its connections."""

    authority: Authority
    keep_alive = True
    """Whether a connection stays open for further requests."""

    def __init__(self) -> None:
        self.listener = Listener(lambda stream: SandboxConnection(self, stream).serve())

    def knows(self, host: str) -> bool:
        """Whether a site answers for a host."""
        raise NotImplementedError

    def refusal(self, message: Message) -> SiteReply | None:
        """The proxy's own reply to a request for a page or a tunnel; None when a site answers."""
        return None

    def answer(self, request: SandboxRequest) -> SiteReply:
        """The reply of the requested site."""
        raise NotImplementedError


class TLSStream(Stream):
    """The server's side of TLS on a connection of which some bytes have been received already."""

    def __init__(self, connection: Stream, context: ssl.SSLContext, received: bytes):
        super().__init__(connection.reader, connection.writer)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._incoming.write(received)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def read(self) -> bytes:
        """The same; raises SSLError for what is no TLS."""
        while True:
            with suppress(ssl.SSLWantReadError):
                try:
                    return self._tls.read(CHUNK)
                finally:
                    self.writer.write(self._outgoing.read())  # the handshake, or an alert
            received = await super().read()
            if not received:
                return b""
            self._incoming.write(received)

    async def write(self, data: bytes) -> None:
        unsent = memoryview(data)
        while unsent:
            unsent = unsent[self._tls.write(unsent) :]
        await super().write(self._outgoing.read())

    def end(self) -> None:
        with suppress(ssl.SSLError):  # the client has not ended its own side
            self._tls.unwrap()
        self.writer.write(self._outgoing.read())


class SandboxConnection:
    """Plain requests for any host, or a tunnel to one host with TLS terminated here; requests are answered in order."""

    def __init__(self, backend: Backend, stream: Stream):
        self._backend = backend
        self._stream = stream
        self._requests = Requests(stream.read)
        self._tunnel = ""
        """The host of the tunnel."""
        self._client_hello = b""

    async def serve(self) -> None:
        """Answer requests until either side closes the connection."""
        try:
            while (message := await self._requests.next()) and await self._handle(message):
                pass
        except RemoteProtocolError as error:
            reply = plain(error.error_status_hint, f"{error}. {USAGE}")
            await self._stream.write(reply_bytes(reply, keep_alive=False))
        self._stream.end()

    async def _handle(self, message: Message) -> bool:
        """Answer a request, and return whether the connection stays open for another."""
        refusal = None if self._tunnel else self._backend.refusal(message)
        if refusal:
            return await self._send(replace(message, keep_alive=False), refusal)
        if message.method == "CONNECT":
            return await self._connect(message)
        request = self._request(message)
        return await self._send(message, self._backend.answer(request) if request else plain(400, USAGE))

    async def _connect(self, message: Message) -> bool:
        match = TUNNEL.fullmatch(message.target)
        if self._tunnel or not match:
            raise RemoteProtocolError("a tunnel that cannot be opened")
        host = _host(match)
        if not self._backend.knows(host):
            return await self._send(replace(message, keep_alive=False), unknown_host(host))
        try:
            tls = self._backend.authority.host_tls(host)
        except ValueError as error:
            raise RemoteProtocolError(f"no certificate can be made for {host}") from error
        await self._stream.write(ESTABLISHED)
        hello = self._requests.unread  # sent before our reply: it belongs to the handshake
        while not client_hello.is_complete(hello):
            received = await self._stream.read()
            if not received:
                return False
            hello += received
        self._tunnel, self._client_hello = host, hello
        self._stream = TLSStream(self._stream, tls, hello)
        self._requests = Requests(self._stream.read)
        return True

    def _request(self, message: Message) -> SandboxRequest | None:
        match = ABSOLUTE.fullmatch(message.target)
        if match:
            scheme, host, target = match["scheme"].lower(), _host(match), match["target"]
            target = target if target.startswith("/") else f"/{target}"
        elif self._tunnel and message.target.startswith("/"):
            scheme, host, target = "https", self._tunnel, message.target
        else:
            return None
        headers = {name: value for name, value in message.headers.items() if name != "proxy-authorization"}
        return SandboxRequest(message.method, scheme, host, target, headers, message.body, self._client_hello)

    async def _send(self, message: Message, reply: SiteReply) -> bool:
        if reply.delay:
            await self._wait(reply.delay)
        if reply.reset:
            self._reset()
            return False
        if reply.pieces:
            for piece in reply.pieces():
                await asyncio.sleep(reply.pause)
                await self._stream.write(piece)
            return False
        keep_alive = message.keep_alive and self._backend.keep_alive and reply.cut is None
        await self._stream.write(reply_bytes(reply, head_only=message.method == "HEAD", keep_alive=keep_alive))
        return keep_alive

    async def _wait(self, seconds: float) -> None:
        """Wait; raises ConnectionError when the client leaves meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                received = await self._stream.read()
                if not received:
                    raise ConnectionResetError
                self._requests.unread += received
                await asyncio.sleep(seconds)

    def _reset(self) -> None:
        """Break the connection now (TCP reset)."""
        self._stream.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._stream.writer.transport.abort()


def _host(match: re.Match[str]) -> str:
    return (match["six"] or match["name"]).lower().rstrip(".")
