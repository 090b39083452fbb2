"""The browser's way out: a forward proxy on loopback that connects to checked addresses only."""

import asyncio
import hmac
import secrets
from asyncio import StreamReader, StreamWriter
from base64 import b64encode
from contextlib import closing, suppress
from http import HTTPStatus
from urllib.parse import urlsplit

from twisted.internet.error import DNSLookupError

from webdata.egress.guard import Guard
from webdata.egress.relay import Limits, Way, relay, relay_answer
from webdata.egress.upstream import NoWayError, Upstream, open_way
from webdata.errors import TargetError
from webdata.sandbox.exchange import TEXT, Reply
from webdata.sandbox.wire import ESTABLISHED, Message, RequestReader, WireError, reply_bytes

HOST = "127.0.0.1"
CHUNK = 64 * 1024
HEAD_SECONDS = 10.0
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


class GuardProxy:
    """A forward proxy for the browsers of this process.

    It takes CONNECT, and `http://…` in absolute form, of whoever knows `username` and `password`. With `upstream`,
    the URL of another proxy (`http://user:password@host:port`, or `https://…`, whose certificate is checked unless
    `verify` says no), it goes through that one, after the check.
    """

    def __init__(self, guard: Guard, upstream: str | None = None, limits: Limits | None = None, *, verify: bool = True):
        self.username = "webdata"
        self.password = secrets.token_urlsafe(32)
        self._guard = guard
        self._upstream = Upstream.of(upstream, verify=verify) if upstream else None
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

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
            if full:
                writer.write(_refusal(HTTPStatus.SERVICE_UNAVAILABLE))
            else:
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
        except TargetError:
            here.writer.write(_refusal(HTTPStatus.FORBIDDEN))
        except (DNSLookupError, NoWayError):
            here.writer.write(_refusal(HTTPStatus.BAD_GATEWAY))

    def _knows(self, message: Message) -> bool:
        word = b64encode(f"{self.username}:{self.password}".encode()).decode()
        return hmac.compare_digest(message.headers.get("proxy-authorization", "").encode(), f"Basic {word}".encode())

    async def _take(self, message: Message, early: bytes, here: Way) -> None:
        tunnel = message.method == "CONNECT"
        url = _tunnelled(message.target) if tunnel else message.target
        target = self._guard.rule.check_url(url)
        if not tunnel and target.scheme != "http":
            raise WireError(HTTPStatus.BAD_REQUEST, "https goes through a tunnel")
        there = await open_way(target, await self._guard.addresses(target), self._upstream)
        with closing(there.writer):
            if tunnel:
                here.writer.write(ESTABLISHED)
                there.writer.write(early)
                await relay(here, there, self._limits.idle)
            else:
                there.writer.write(_forwarded(message, target.url))
                await relay_answer(there, here, self._limits.idle)


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


def _forwarded(message: Message, url: str) -> bytes:
    """The request as the site gets it: for its own path, without what was meant for the proxy."""
    parts = urlsplit(url)
    path = parts._replace(scheme="", netloc="").geturl() or "/"
    named = {name.strip().lower() for name in message.headers.get("connection", "").split(",")}
    lines = [f"{message.method} {path} HTTP/1.1", f"host: {parts.netloc}", "connection: close"]
    lines += [
        f"{name}: {value}"
        for name, value in message.headers.items()
        if name not in HOP_BY_HOP | named and not name.startswith("proxy-")
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + message.body


def _refusal(status: HTTPStatus) -> bytes:
    """An answer of the proxy's own, which tells no more than it must."""
    asked = (("Proxy-Authenticate", 'Basic realm="webdata"'),)
    headers = (*asked, *TEXT) if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED else TEXT
    return reply_bytes(Reply(status, headers, f"{status.phrase}\n".encode()), keep_alive=False)
