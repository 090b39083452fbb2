"""Outbound connections to checked targets: directly to an address, or through a parent proxy."""

import asyncio
import ssl
from asyncio import IncompleteReadError, LimitOverrunError
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

import h11

from webdata.domain.errors import ConfigError, UpstreamError
from webdata.fetching.egress.reactor_names import reactor_addresses
from webdata.fetching.egress.rule import Address, Target, known_addresses
from webdata.runtime.wire.listener import Stream
from webdata.runtime.wire.wire import MAX_HEAD, basic_authorization

PORTS = {"http": 80, "https": 443}
SECONDS = 10.0
"""Time limit for one connection attempt, and for the parent proxy's answer to CONNECT."""
ALL_SECONDS = 30.0
"""Time limit for the attempts at all addresses of a target: a name of anybody's may have a hundred silent ones."""
PROXY_FAILED = ("the proxy did not connect to the upstream", "proxy")
"""The reason and kind of an UpstreamError."""


@dataclass(frozen=True)
class ParentProxy:
    """The proxy that connections go through after the check."""

    host: str
    port: int
    authorization: str
    """The value of `Proxy-Authorization`; empty without a user."""
    tls: SSLContext | None = None
    """Set when the connection to the proxy itself uses TLS."""

    @classmethod
    def from_url(cls, url: str, *, verify: bool = True) -> "ParentProxy":
        """Raises ConfigError, whose message does not repeat the URL: it may contain a password."""
        try:
            parts = urlsplit(url)
            usual = PORTS[parts.scheme]
            port = parts.port or usual
        except (ValueError, KeyError):
            port = None
        if port is None or not parts.hostname:
            raise ConfigError("the proxy cannot be used: give a URL such as http://user:password@host:3128")
        user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        authorization = basic_authorization(user) if parts.username else ""
        tls = _tls(verify=verify) if parts.scheme == "https" else None
        return cls(parts.hostname, port, authorization, tls)


def _tls(*, verify: bool) -> SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def connect_to_target(
    target: Target, addresses: Sequence[Address], parent: ParentProxy | None, *, tunnel: bool
) -> Stream:
    """A connection to a target at one of its checked addresses; raises UpstreamError.

    With a parent proxy it is a tunnel, or without `tunnel` a connection to that proxy for a request in absolute form.
    """
    if parent is None:
        return await _connect(addresses, target.port)
    connection = await _connect_to_parent(parent)
    try:
        if tunnel:
            await _open_tunnel(connection, parent, target)
    except BaseException:  # also where the browser has gone meanwhile
        connection.writer.close()
        raise
    return connection


async def _connect(addresses: Sequence[Address], port: int, tls: SSLContext | None = None, host: str = "") -> Stream:
    """A connection to the first address that answers, with TLS for the host; raises UpstreamError."""
    failure = "the upstream could not be reached", "unreachable"
    end = asyncio.get_running_loop().time() + ALL_SECONDS
    for address in addresses:
        try:
            async with asyncio.timeout(SECONDS), asyncio.timeout_at(end):
                streams = await asyncio.open_connection(
                    str(address), port, ssl=tls, server_hostname=host if tls else None, limit=MAX_HEAD
                )
            return Stream(*streams)
        except ConnectionRefusedError:
            failure = "the upstream refused the connection", "refused"
        except OSError:
            failure = "the upstream could not be reached", "unreachable"
    raise UpstreamError(*failure)


async def _connect_to_parent(parent: ParentProxy) -> Stream:
    addresses = known_addresses(parent.host) or await reactor_addresses(parent.host)
    try:
        return await _connect(addresses, parent.port, parent.tls, parent.host)
    except UpstreamError:
        raise UpstreamError(*PROXY_FAILED) from None


class TunnelRequest:
    """Asks a proxy for a tunnel (CONNECT: RFC 9110, 9.3.6), with the target's name, which the proxy resolves."""

    def __init__(self, host: str, port: int, authorization: str):
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = [("Host", target)]
        if authorization:
            headers.append(("Proxy-Authorization", authorization))
        self._http = h11.Connection(h11.CLIENT, MAX_HEAD)
        request = h11.Request(method="CONNECT", headers=headers, target=target)
        self.sent = (self._http.send(request) or b"") + (self._http.send(h11.EndOfMessage()) or b"")
        """The bytes of the request."""

    @property
    def early(self) -> bytes:
        """What was received through the tunnel together with the answer."""
        return self._http.trailing_data[0]

    def status(self, received: bytes) -> int | None:
        """The status of the answer, also of an interim one; None while it is incomplete.

        Raises RemoteProtocolError for what is no HTTP, or does not end.
        """
        self._http.receive_data(received)
        answer = self._http.next_event()
        return answer.status_code if isinstance(answer, h11.Response | h11.InformationalResponse) else None


async def _open_tunnel(connection: Stream, parent: ParentProxy, target: Target) -> None:
    request = TunnelRequest(target.host, target.port, parent.authorization)
    connection.writer.write(request.sent)
    try:
        async with asyncio.timeout(SECONDS):
            status = request.status(await connection.reader.readuntil(b"\r\n\r\n"))
    except (IncompleteReadError, LimitOverrunError, h11.RemoteProtocolError, OSError):
        status = None
    if status != HTTPStatus.OK:
        raise UpstreamError(*PROXY_FAILED)
