"""The forward proxy on loopback that browsers use: it connects to checked addresses only."""

import asyncio
import hmac
import secrets
from asyncio import StreamReader, StreamWriter
from base64 import b64encode
from collections import OrderedDict
from contextlib import closing, suppress
from http import HTTPStatus
from urllib.parse import urlsplit

from twisted.internet.error import DNSLookupError

from webdata.domain.errors import TargetError, UpstreamError, UpstreamTimeoutError, WebdataError
from webdata.egress.guard import Guard
from webdata.egress.names import FAILED, SILENT
from webdata.egress.outbound import PORTS, OutboundError, ParentProxy, connect_to_target
from webdata.egress.relay import CHUNK, TOO_MANY_HEADERS, Connection, Limits, relay, relay_response
from webdata.sandbox.exchange import TEXT, Reply
from webdata.sandbox.wire import ESTABLISHED, Message, RequestReader, WireError, reply_bytes

HOST = "127.0.0.1"
HEAD_SECONDS = 10.0
MAX_FAULTS = 256
"""Hosts and ports whose last failure is stored."""
NOT_ALLOWED = "target"
FAULTS = {
    "dns": "the upstream's name could not be resolved",
    "dns_failed": FAILED[0],
    "dns_timeout": SILENT[0],
    "refused": "the upstream refused the connection",
    "unreachable": "the upstream could not be reached",
    "too_many_headers": "the upstream sent more headers than are read",
    "proxy": "the proxy did not connect to the upstream",
}
"""Why an allowed target was not reached, or its response not read, by kind."""
HOP_BY_HOP = {"connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
"""Headers of a single connection (RFC 9110, 7.6.1) and those that are written anew; `proxy-…` are dropped as well."""

BROWSER_ARGUMENTS = (
    "--proxy-bypass-list=<-loopback>",  # loopback goes through the proxy too, which refuses it
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no look-ups of its own, not even to prefetch
    "--dns-prefetch-disable",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""Chromium's command-line arguments without which it would connect outside the proxy."""


class GuardProxy:
    """A forward proxy for the browsers of this process.

    It serves CONNECT and `http://…` in absolute form, to clients that send `username` and `password`. With `parent`,
    the URL of another proxy (`http://user:password@host:port`, or `https://…`, whose certificate is verified unless
    `verify` is false), it connects through that one, after the check.

    A failure of its own must not look like a response of the site: it does not open the tunnel, or closes the
    connection of any other request without a response, and `fault` returns the reason.
    """

    def __init__(self, guard: Guard, parent: str | None = None, limits: Limits | None = None, *, verify: bool = True):
        self.username = "webdata"
        self.password = secrets.token_urlsafe(32)
        self._guard = guard
        self._parent = ParentProxy.from_url(parent, verify=verify) if parent else None
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._faults: OrderedDict[tuple[str, int], str] = OrderedDict()

    def fault(self, url: str) -> WebdataError | None:
        """Why the last connection to the host and port of a URL failed; None when it succeeded.

        A TargetError, or an UpstreamError whose kind is a key of FAULTS.
        """
        kind = self._faults.get(_host_port(url))
        if kind is None:
            return None
        if kind == NOT_ALLOWED:
            return self._guard.rule.refusal()
        error = UpstreamTimeoutError if kind in SILENT else UpstreamError
        return error(FAULTS[kind], kind)

    async def start(self) -> str:
        """Listen on a free port of loopback, and return the proxy's URL, without its password."""
        self._server = await asyncio.start_server(self._accept, HOST, 0, limit=CHUNK)
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server:
            self._server.close()
            self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        full = len(self._open) >= self._limits.connections
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        with closing(writer), suppress(asyncio.CancelledError, OSError):  # the client left, or a time limit passed
            if not full:
                await self._serve(Connection(reader, writer))

    async def _serve(self, client: Connection) -> None:
        """Serve one request, or one tunnel."""
        requests = RequestReader()
        try:
            message = await _read_request(requests, client.reader)
            if message and self._is_authorized(message):
                await self._handle(message, requests.take_unread(), client)
            elif message:
                client.writer.write(_refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED))
        except WireError as error:
            client.writer.write(_refusal(error.status))

    def _is_authorized(self, message: Message) -> bool:
        expected = b"Basic " + b64encode(f"{self.username}:{self.password}".encode())
        return hmac.compare_digest(message.headers.get("proxy-authorization", "").encode(), expected)

    async def _handle(self, message: Message, early: bytes, client: Connection) -> None:
        if message.method != "CONNECT":
            await self._forward(message, client)
            return
        url = _tunnel_url(message.target)
        if server := await self._connect(url, tunnel=True):
            with closing(server.writer):
                client.writer.write(ESTABLISHED)
                server.writer.write(early)
                await relay(client, server, self._limits.idle)
        else:
            refused = self._faults.get(_host_port(url)) == NOT_ALLOWED
            client.writer.write(_refusal(HTTPStatus.FORBIDDEN if refused else HTTPStatus.BAD_GATEWAY))

    async def _forward(self, message: Message, client: Connection) -> None:
        if message.target.lower().startswith("https:"):
            raise WireError(HTTPStatus.BAD_REQUEST, "https needs a tunnel")
        server = await self._connect(message.target, tunnel=False)
        if server is None:
            return
        with closing(server.writer):
            url = self._guard.rule.check_url(message.target).url
            server.writer.write(_forwarded_request(message, url, self._parent))
            try:
                await relay_response(server, client, self._limits.idle)
            except WireError as error:
                if error.status == TOO_MANY_HEADERS:
                    self._record_fault(message.target, "too_many_headers")
                elif self._parent:
                    self._record_fault(message.target, "proxy")

    async def _connect(self, url: str, *, tunnel: bool) -> Connection | None:
        """A connection to the host and port of a URL; None when it failed, which is recorded."""
        try:
            target = self._guard.rule.check_url(url)
            server = await connect_to_target(target, await self._guard.addresses(target), self._parent, tunnel=tunnel)
        except TargetError:
            self._record_fault(url, NOT_ALLOWED)
        except DNSLookupError:
            self._record_fault(url, "dns")
        except UpstreamError as error:
            self._record_fault(url, error.kind or "dns_failed")
        except OutboundError as error:
            self._record_fault(url, error.kind)
        else:
            self._faults.pop(_host_port(url), None)
            return server
        return None

    def _record_fault(self, url: str, kind: str) -> None:
        self._faults[_host_port(url)] = kind
        if len(self._faults) > MAX_FAULTS:
            self._faults.popitem(last=False)


async def _read_request(requests: RequestReader, reader: StreamReader) -> Message | None:
    """The first request of a connection; None when the client closes first. Raises WireError."""
    async with asyncio.timeout(HEAD_SECONDS):
        while data := await reader.read(CHUNK):
            requests.feed(data)
            if message := requests.next():
                return message
    return None


def _tunnel_url(authority: str) -> str:
    """An https URL with the host and port of a CONNECT; the rule is the same for http."""
    if set(authority) & set("/?#@\\") or not authority.rpartition(":")[2].isdecimal():
        raise WireError(HTTPStatus.BAD_REQUEST, "a tunnel that cannot be opened")
    return f"https://{authority}/"


def _forwarded_request(message: Message, url: str, parent: ParentProxy | None) -> bytes:
    """The request without the headers for this proxy, with the path as its target.

    For a parent proxy the target is the whole URL, and the credentials of that proxy are added.
    """
    parts = urlsplit(url)
    target = url if parent else parts._replace(scheme="", netloc="").geturl() or "/"
    listed = {name.strip().lower() for name in message.headers.get("connection", "").split(",")}
    lines = [f"{message.method} {target} HTTP/1.1", f"host: {parts.netloc}", "connection: close"]
    lines += [
        f"{name}: {value}"
        for name, value in message.headers.items()
        if name not in HOP_BY_HOP | listed and not name.startswith("proxy-")
    ]
    if parent and parent.authorization:
        lines.append(f"proxy-authorization: {parent.authorization}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + message.body


def _host_port(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def _refusal(status: HTTPStatus) -> bytes:
    """A response of the proxy itself, which discloses nothing but the status."""
    challenge = ("Proxy-Authenticate", 'Basic realm="webdata"')
    headers = (challenge, *TEXT) if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else TEXT
    return reply_bytes(Reply(status, headers, f"{status.phrase}\n".encode()), keep_alive=False)
