"""The sandbox's proxy: one loopback port that answers for every site it knows, over http and https."""

import ipaddress
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from webdata.domain.errors import ConfigError
from webdata.runtime.wire.exchange import SandboxRequest, SiteReply, plain, unknown_host
from webdata.runtime.wire.listener import HOST
from webdata.sandbox.archive_replay import ArchiveReplay
from webdata.sandbox.certificates import Authority
from webdata.sandbox.challenges import Challenge
from webdata.sandbox.connection import Backend
from webdata.sandbox.replay import Replay
from webdata.sandbox.sites import site_for, site_that_takes

LAST_PORT = 65535

logger = logging.getLogger(__name__)


class Sandbox(Backend):
    """A forward proxy on loopback that answers every request itself and opens no connection.

    With `replay`, a folder of saved pages or an archive answers for any host (see `webdata.sandbox.replay` and
    `archive_replay`); raises ConfigError for one that cannot be used.
    `challenges` protect whole hosts (see `webdata.sandbox.challenges`).
    """

    def __init__(self, replay: Path | None = None, challenges: Mapping[str, Challenge] | None = None) -> None:
        super().__init__()
        self.authority = Authority()
        self._replay = opened_replay(replay) if replay else None
        self._challenges = challenges or {}

    @property
    def ca_pem(self) -> bytes:
        """The certificate that signs those of the sites, for clients that verify them."""
        return self.authority.pem

    async def start(self, host: str = HOST, port: int = 0) -> str:
        """Listen, and return the proxy's URL: `http://127.0.0.1:PORT`. Port 0 picks a free one.

        Raises ConfigError for an address that is not on loopback or is in use.
        """
        if self.listener.listens:
            raise ConfigError("this sandbox listens already: stop it first")
        if not 0 <= port <= LAST_PORT:
            raise ConfigError(f"the sandbox cannot listen on port {port}: a port is a number from 0 to {LAST_PORT}")
        address = _loopback(host)
        try:
            port = await self.listener.start(address, port)
        except OSError as error:
            raise ConfigError(f"the sandbox cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}") from error
        return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"

    async def stop(self) -> None:
        """Close the port and abort every connection."""
        await self.listener.stop()

    def knows(self, host: str) -> bool:
        """Whether a site answers for a host."""
        return self._replay is not None or site_for(host) is not None

    def answer(self, request: SandboxRequest) -> SiteReply:
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


def opened_replay(path: Path) -> Replay | ArchiveReplay:
    """What answers from a folder, or from an archive."""
    return ArchiveReplay(path) if path.is_file() else Replay(path)


def _loopback(host: str) -> str:
    address = "127.0.0.1" if host == "localhost" else host
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise ConfigError(f"the sandbox cannot listen on {host!r}: it listens on loopback only, such as 127.0.0.1 or ::1")
