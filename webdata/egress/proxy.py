"""The browser's way out: a forward proxy on loopback that connects to checked addresses only."""

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

from webdata.domain.errors import TargetError, UpstreamError, WebdataError
from webdata.egress.guard import Guard
from webdata.egress.relay import Limits, Way, relay, relay_answer
from webdata.egress.outbound import PORTS, NoWayError, Upstream, open_way
from webdata.sandbox.exchange import TEXT, Reply
from webdata.sandbox.wire import ESTABLISHED, Message, RequestReader, WireError, reply_bytes

HOST = "127.0.0.1"
CHUNK = 64 * 1024
HEAD_SECONDS = 10.0
MOST = 256
"""Places whose last connection failed that are remembered."""
NOT_ALLOWED = "target"
FAULTS = {
    "dns": "the upstream's name could not be resolved",
    "refused": "the upstream refused the connection",
    "unreachable": "the upstream could not be reached",
    "proxy": "the proxy did not open a way to the upstream",
}
"""Why there is no way to an allowed target."""
HOP_BY_HOP = {"connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
"""Headers that are of one connection (RFC 9110, 7.6.1), and those that are written anew; `proxy-…` are besides."""

BROWSER_ARGUMENTS = (
    "--proxy-bypass-list=<-loopback>",  # loopback goes through the proxy too, which refuses it
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # looks up nothing by itself, not even to prefetch
    "--dns-prefetch-disable",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""What Chromium has to be started with so that nothing goes past the proxy."""


Place = tuple[str, int]
"""A host and a port."""


class GuardProxy:
    """A forward proxy for the browsers of this process.

    It takes CONNECT, and `http://…` in absolute form, of whoever knows `username` and `password`. With `upstream`,
    the URL of another proxy (`http://user:password@host:port`, or `https://…`, whose certificate is checked unless
    `verify` says no), it goes through that one, after the check.

    What it refuses or cannot reach is no answer of a site's, so that nobody takes it for one: a tunnel is not opened,
    another request's connection is closed without a word, and `fault` tells why.
    """

    def __init__(self, guard: Guard, upstream: str | None = None, limits: Limits | None = None, *, verify: bool = True):
        self.username = "webdata"
        self.password = secrets.token_urlsafe(32)
        self._guard = guard
        self._upstream = Upstream.of(upstream, verify=verify) if upstream else None
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._faults: OrderedDict[Place, str] = OrderedDict()

    def fault(self, url: str) -> WebdataError | None:
        """Why the last connection to the place of a URL failed; None where it did not.

        A TargetError, or an UpstreamError whose kind is one of FAULTS.
        """
        kind = self._faults.get(_place(url))
        if kind is None:
            return None
        return self._guard.rule.refusal() if kind == NOT_ALLOWED else UpstreamError(FAULTS[kind], kind)

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
        with closing(writer), suppress(asyncio.CancelledError, OSError):  # a client that leaves, a time that is over
            if not full:
                await self._serve(Way(reader, writer))

    async def _serve(self, here: Way) -> None:
        """One request, or one tunnel."""
        requests = RequestReader()
        try:
            message = await _next(requests, here.reader)
            if message and self._knows(message):
                await self._take(message, requests.rest(), here)
            elif message:
                here.writer.write(_refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED))
        except WireError as error:
            here.writer.write(_refusal(error.status))

    def _knows(self, message: Message) -> bool:
        word = b64encode(f"{self.username}:{self.password}".encode()).decode()
        return hmac.compare_digest(message.headers.get("proxy-authorization", "").encode(), f"Basic {word}".encode())

    async def _take(self, message: Message, early: bytes, here: Way) -> None:
        if message.method != "CONNECT":
            await self._forward(message, here)
        elif there := await self._way(_tunnelled(message.target), tunnel=True):
            with closing(there.writer):
                here.writer.write(ESTABLISHED)
                there.writer.write(early)
                await relay(here, there, self._limits.idle)
        else:
            refused = self._faults.get(_place(_tunnelled(message.target))) == NOT_ALLOWED
            here.writer.write(_refusal(HTTPStatus.FORBIDDEN if refused else HTTPStatus.BAD_GATEWAY))

    async def _forward(self, message: Message, here: Way) -> None:
        if message.target.lower().startswith("https:"):
            raise WireError(HTTPStatus.BAD_REQUEST, "https goes through a tunnel")
        there = await self._way(message.target, tunnel=False)
        if there is None:
            return
        with closing(there.writer):
            there.writer.write(_forwarded(message, self._guard.rule.check_url(message.target).url, self._upstream))
            try:
                await relay_answer(there, here, self._limits.idle)
            except WireError:
                if self._upstream:
                    self._note(message.target, "proxy")

    async def _way(self, url: str, *, tunnel: bool) -> Way | None:
        """A connection to the place of a URL; None where there is none, and it is noted why."""
        try:
            target = self._guard.rule.check_url(url)
            way = await open_way(target, await self._guard.addresses(target), self._upstream, tunnel=tunnel)
        except TargetError:
            self._note(url, NOT_ALLOWED)
        except DNSLookupError:
            self._note(url, "dns")
        except NoWayError as error:
            self._note(url, error.kind)
        else:
            self._faults.pop(_place(url), None)
            return way
        return None

    def _note(self, url: str, kind: str) -> None:
        self._faults[_place(url)] = kind
        if len(self._faults) > MOST:
            self._faults.popitem(last=False)


async def _next(requests: RequestReader, reader: StreamReader) -> Message | None:
    """The first request of a connection; None where none comes. Raises WireError."""
    async with asyncio.timeout(HEAD_SECONDS):
        while data := await reader.read(CHUNK):
            requests.feed(data)
            if message := requests.next():
                return message
    return None


def _tunnelled(authority: str) -> str:
    """The URL that stands for the target of a CONNECT; the port makes it http or https, which are held to one rule."""
    if set(authority) & set("/?#@\\") or not authority.rpartition(":")[2].isdecimal():
        raise WireError(HTTPStatus.BAD_REQUEST, "a tunnel that cannot be opened")
    return f"https://{authority}/"


def _forwarded(message: Message, url: str, upstream: Upstream | None) -> bytes:
    """The request as the site gets it: for its own path, without what was meant for the proxy.

    Another proxy gets it for the whole URL, with what is meant for that one.
    """
    parts = urlsplit(url)
    path = url if upstream else parts._replace(scheme="", netloc="").geturl() or "/"
    named = {name.strip().lower() for name in message.headers.get("connection", "").split(",")}
    lines = [f"{message.method} {path} HTTP/1.1", f"host: {parts.netloc}", "connection: close"]
    lines += [
        f"{name}: {value}"
        for name, value in message.headers.items()
        if name not in HOP_BY_HOP | named and not name.startswith("proxy-")
    ]
    if upstream and upstream.authorization:
        lines.append(f"proxy-authorization: {upstream.authorization}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + message.body


def _place(url: str) -> Place:
    """Where a URL leads to, whatever its path is."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def _refusal(status: HTTPStatus) -> bytes:
    """An answer of the proxy's own, which tells no more than it must."""
    asked = (("Proxy-Authenticate", 'Basic realm="webdata"'),)
    headers = (*asked, *TEXT) if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else TEXT
    return reply_bytes(Reply(status, headers, f"{status.phrase}\n".encode()), keep_alive=False)
