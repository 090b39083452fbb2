"""The forward proxy on loopback that browsers use: it connects to checked addresses only."""

import asyncio
import secrets
from collections import OrderedDict
from contextlib import closing
from copy import copy
from http import HTTPStatus
from urllib.parse import urlsplit

from h11 import RemoteProtocolError
from twisted.internet.error import DNSLookupError

from webdata.domain.errors import TargetError, UpstreamError, WebdataError
from webdata.fetching.egress.guard import Guard
from webdata.fetching.egress.outbound import PORTS, PROXY_FAILED, ParentProxy, connect_to_target
from webdata.fetching.egress.relay import relay, relay_response
from webdata.fetching.egress.rule import Target
from webdata.runtime.wire.exchange import TEXT, SiteReply
from webdata.runtime.wire.listener import HOST, Listener, Stream
from webdata.runtime.wire.wire import ESTABLISHED, Message, Requests, reply_bytes, request_bytes

HEAD_SECONDS = 10.0
MAX_CONNECTIONS = 256
"""Connections of clients that are open at once."""
MAX_FAULTS = 256
"""Hosts and ports whose last failure is stored."""
UNKNOWN_NAME = ("the upstream's name could not be resolved", "dns")
TOO_MANY_HEADERS = ("the upstream sent more headers than are read", "too_many_headers")
"""The reason and kind of an UpstreamError."""
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

    def __init__(self, guard: Guard, parent: str | None = None, *, verify: bool = True):
        self.username = "webdata"
        self.password = secrets.token_urlsafe(32)
        self._guard = guard
        self._parent = ParentProxy.from_url(parent, verify=verify) if parent else None
        self._listener = Listener(self._serve, MAX_CONNECTIONS)
        self._reserved: Target | None = None
        self._faults: OrderedDict[tuple[str, int], WebdataError] = OrderedDict()

    def fault(self, url: str) -> WebdataError | None:
        """Why the last connection to the host and port of a URL failed; None when it succeeded.

        A TargetError, or an UpstreamError with a kind.
        """
        return copy(self._faults.get(_host_port(url)))

    def reserve(self, origin: str | None) -> None:
        """Refuse connections to the host of an origin that are not of this origin: by another port, or scheme.

        With None all are possible again.
        """
        self._reserved = self._guard.rule.check_url(f"{origin}/") if origin else None

    async def start(self) -> str:
        """Listen on a free port of loopback, and return the proxy's URL, without its password."""
        return f"http://{HOST}:{await self._listener.start()}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        await self._listener.stop()

    async def _serve(self, client: Stream) -> None:
        """Serve one request, or one tunnel."""
        requests = Requests(client.read)
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                message = await requests.next()
            if message and message.has_credentials(f"{self.username}:{self.password}"):
                await self._handle(message, requests.unread, client)
            elif message:
                client.writer.write(_refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED))
        except RemoteProtocolError as error:
            client.writer.write(_refusal(HTTPStatus(error.error_status_hint)))

    async def _handle(self, message: Message, early: bytes, client: Stream) -> None:
        if message.method != "CONNECT":
            await self._forward(message, client)
            return
        url = _tunnel_url(message.target)
        if server := await self._connect(url, tunnel=True):
            with closing(server.writer):
                client.writer.write(ESTABLISHED)
                server.writer.write(early)
                await relay(client, server)
        else:
            refused = isinstance(self.fault(url), TargetError)
            client.writer.write(_refusal(HTTPStatus.FORBIDDEN if refused else HTTPStatus.BAD_GATEWAY))

    async def _forward(self, message: Message, client: Stream) -> None:
        if message.target.lower().startswith("https:"):
            raise RemoteProtocolError("https needs a tunnel")
        server = await self._connect(message.target, tunnel=False)
        if server is None:
            return
        with closing(server.writer):
            url = self._guard.rule.check_url(message.target).url
            server.writer.write(_forwarded_request(message, url, self._parent))
            try:
                await relay_response(server, client)
            except RemoteProtocolError as error:
                if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                    self._record_fault(message.target, UpstreamError(*TOO_MANY_HEADERS))
                elif self._parent:
                    self._record_fault(message.target, UpstreamError(*PROXY_FAILED))

    async def _connect(self, url: str, *, tunnel: bool) -> Stream | None:
        """A connection to the host and port of a URL; None when it failed, which is recorded."""
        try:
            target = self._guard.rule.check_url(url)
            if self._is_of_other_origin(target, tunnel=tunnel):
                return None
            server = await connect_to_target(target, await self._guard.addresses(target), self._parent, tunnel=tunnel)
        except DNSLookupError:
            self._record_fault(url, UpstreamError(*UNKNOWN_NAME))
        except (TargetError, UpstreamError) as error:
            self._record_fault(url, error)
        else:
            self._faults.pop(_host_port(url), None)
            return server
        return None

    def _is_of_other_origin(self, target: Target, *, tunnel: bool) -> bool:
        reserved = self._reserved
        if reserved is None or reserved.host != target.host:
            return False
        return (target.port, tunnel) != (reserved.port, reserved.scheme == "https")

    def _record_fault(self, url: str, fault: WebdataError) -> None:
        self._faults[_host_port(url)] = copy(fault)  # without its traceback
        if len(self._faults) > MAX_FAULTS:
            self._faults.popitem(last=False)


def _tunnel_url(authority: str) -> str:
    """An https URL with the host and port of a CONNECT; the rule is the same for http."""
    if set(authority) & set("/?#@\\") or not authority.rpartition(":")[2].isdecimal():
        raise RemoteProtocolError("a tunnel that cannot be opened")
    return f"https://{authority}/"


def _forwarded_request(message: Message, url: str, parent: ParentProxy | None) -> bytes:
    """The request for a normalized URL without the headers for this proxy, with the path as its target.

    For a parent proxy the target is the whole URL, and the credentials of that proxy are added.
    """
    _, _, host, path = url.split("/", 3)
    listed = {name.strip().lower() for name in message.headers.get("connection", "").split(",")}
    headers = [("host", host), ("connection", "close")]
    headers += [
        (name, value)
        for name, value in message.headers.items()
        if name not in HOP_BY_HOP | listed and not name.startswith("proxy-")
    ]
    if parent and parent.authorization:
        headers.append(("proxy-authorization", parent.authorization))
    return request_bytes(message.method, url if parent else f"/{path}", headers, message.body)


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
    return reply_bytes(SiteReply(status, headers, f"{status.phrase}\n".encode()), keep_alive=False)
