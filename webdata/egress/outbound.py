"""Connections to checked targets: straight to an address, or through another proxy."""

import asyncio
import ssl
from asyncio import IncompleteReadError, LimitOverrunError
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

from webdata.domain.errors import ConfigError
from webdata.egress.relay import HEAD_LIMIT, Way
from webdata.egress.rule import Address, Target

PORTS = {"http": 80, "https": 443}
SECONDS = 10.0
"""How long one address, or the other proxy, may take to answer."""


class NoWayError(Exception):
    """No address of the target (kind `refused` or `unreachable`), or not the proxy on the way to it (`proxy`)."""

    def __init__(self, kind: str):
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Upstream:
    """Another proxy on the way."""

    host: str
    port: int
    authorization: str | None
    """The value of `Proxy-Authorization`."""
    tls: SSLContext | None = None
    """How it is spoken to, when that is over TLS."""

    @classmethod
    def of(cls, url: str, *, verify: bool = True) -> "Upstream":
        """Of its URL; raises ConfigError, which does not repeat it: it may hold a password."""
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ConfigError("the proxy cannot be used: give a URL such as http://user:password@host:3128")
        user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(user.encode()).decode()}" if parts.username else None
        tls = _tls(verify=verify) if parts.scheme == "https" else None
        return cls(parts.hostname, parts.port or PORTS[parts.scheme], authorization, tls)


def _tls(*, verify: bool) -> SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def open_way(target: Target, addresses: Sequence[Address], upstream: Upstream | None, *, tunnel: bool) -> Way:
    """A connection to a target whose addresses were checked; raises NoWayError.

    Through another proxy it is a tunnel, or else a connection to that proxy, for a request in absolute form.
    """
    if upstream:
        way = await _to_proxy(upstream)
        return await _tunnelled(way, upstream, target) if tunnel else way
    kind = "unreachable"
    for address in addresses:
        try:
            return await _opened(str(address), target.port)
        except (OSError, TimeoutError) as error:
            kind = "refused" if isinstance(error, ConnectionRefusedError) else "unreachable"
    raise NoWayError(kind)


async def _opened(host: str, port: int, tls: SSLContext | None = None) -> Way:
    async with asyncio.timeout(SECONDS):
        return Way(*await asyncio.open_connection(host, port, ssl=tls, limit=HEAD_LIMIT))


async def _to_proxy(upstream: Upstream) -> Way:
    try:
        return await _opened(upstream.host, upstream.port, upstream.tls)
    except (OSError, TimeoutError) as error:
        raise NoWayError("proxy") from error


async def _tunnelled(way: Way, upstream: Upstream, target: Target) -> Way:
    """A tunnel by name: proxies with exits of their own look it up where they are."""
    host = f"[{target.host}]" if ":" in target.host else target.host
    lines = [f"CONNECT {host}:{target.port} HTTP/1.1", f"Host: {host}:{target.port}"]
    if upstream.authorization:
        lines.append(f"Proxy-Authorization: {upstream.authorization}")
    way.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    try:
        async with asyncio.timeout(SECONDS):
            head = await way.reader.readuntil(b"\r\n\r\n")
    except (IncompleteReadError, LimitOverrunError, OSError, TimeoutError) as error:
        way.writer.close()
        raise NoWayError("proxy") from error
    if head.split(b" ", 2)[1:2] != [b"200"]:
        way.writer.close()
        raise NoWayError("proxy")
    return way
