"""The sandbox's proxy: one loopback port that answers for every site it knows, over http and https."""

import asyncio
import ipaddress
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import cast

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.error import CannotListenError
from twisted.internet.interfaces import IListeningPort

from webdata.domain.errors import ConfigError
from webdata.sandbox.certificates import Authority
from webdata.sandbox.challenges import Challenge
from webdata.sandbox.connection import Connection, ConnectionFactory
from webdata.sandbox.exchange import Reply, SandboxRequest, plain, unknown_host
from webdata.sandbox.replay import Replay
from webdata.sandbox.sites import site_for, site_that_takes

LAST_PORT = 65535
BACKLOG = 1024
"""Connections in the accept queue: one that finds it full is retried by its client a second later."""

logger = logging.getLogger(__name__)


class Sandbox:
    """A forward proxy on loopback that answers every request itself and opens no connection.

    With `replay`, a folder of saved pages answers for any host (see `webdata.sandbox.replay`); raises ConfigError
    for a folder that cannot be used. `challenges` protect whole hosts (see `webdata.sandbox.challenges`).
    """

    def __init__(self, replay: Path | None = None, challenges: Mapping[str, Challenge] | None = None) -> None:
        self.authority = Authority()
        self.connections: set[Connection] = set()
        self._replay = Replay(replay) if replay else None
        self._challenges = challenges or {}
        self._listener: IListeningPort | None = None

    @property
    def ca_pem(self) -> bytes:
        """The certificate that signs those of the sites, for clients that verify them."""
        return self.authority.pem

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen, and return the proxy's URL: `http://127.0.0.1:PORT`. Port 0 picks a free one.

        Raises ConfigError for an address that is not on loopback or is in use.
        """
        return self.listen(host, port)

    async def stop(self) -> None:
        """Close the port and abort every connection."""
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        await close(listener, self.connections)

    def listen(self, host: str, port: int) -> str:
        """Do the same as `start`, for a reactor that does not run yet."""
        from twisted.internet import reactor  # noqa: PLC0415 - importing it would install a reactor

        if self._listener is not None:
            raise ConfigError("this sandbox listens already: stop it first")
        if not 0 <= port <= LAST_PORT:
            raise ConfigError(f"the sandbox cannot listen on port {port}: a port is a number from 0 to {LAST_PORT}")
        address = _loopback(host)
        try:
            self._listener = reactor.listenTCP(port, ConnectionFactory(partial(Connection, self)), BACKLOG, address)
        except CannotListenError as error:
            raise ConfigError(f"the sandbox cannot listen on {host}:{port}: {error}") from error
        name = f"[{address}]" if ":" in address else address
        return f"http://{name}:{cast(IPv4Address | IPv6Address, self._listener.getHost()).port}"

    def knows(self, host: str) -> bool:
        """Whether a site answers for a host."""
        return self._replay is not None or site_for(host) is not None

    def answer(self, request: SandboxRequest) -> Reply:
        """The reply of the requested site; 502 for an unknown host."""
        site = self._replay.answer if self._replay else site_that_takes(request) or site_for(request.host)
        if site is None:
            return unknown_host(request.host)
        challenge = self._challenges.get(request.host)
        try:
            return (challenge(site) if challenge else site)(request)
        except Exception:
            logger.exception("The sandbox's site for %s failed on %s", request.host, request.target)
            return plain(500, "The sandbox's own site failed; its log says why.")


async def close(listener: IListeningPort, connections: Iterable[Connection]) -> None:
    """Close a port and abort its connections."""
    port_closed = cast(Deferred[None], listener.stopListening())
    all_closed = gatherResults([port_closed, *(connection.closed for connection in connections)])
    for connection in connections:
        connection.abort()
    # An asyncio task can await futures only, a coroutine of Twisted's Deferreds only.
    await (all_closed.asFuture(asyncio.get_running_loop()) if asyncio.current_task() else all_closed)


def _loopback(host: str) -> str:
    address = "127.0.0.1" if host == "localhost" else host
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise ConfigError(f"the sandbox cannot listen on {host!r}: it listens on loopback only, such as 127.0.0.1 or ::1")
