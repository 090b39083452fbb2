"""The listening sockets of the service, of one process or of several that share its ports."""

import logging
import resource
import socket
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.runtime.server.certificates import Certificate
from webdata.runtime.server.tls import prepared

logger = logging.getLogger(__name__)

BACKLOG = 4096
"""Connections that wait to be accepted, at most; the kernel has a bound of its own (net.core.somaxconn)."""
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared, not listened on
"""Addresses that mean all of the machine's, and the one to call instead."""
OTHER_FILES = 4096
"""Open files of a process beside callers' connections: its own, and those to stores, browsers and sites (with the
sandbox three for each of a thousand calls)."""


@dataclass(frozen=True)
class Listening:
    """The listening sockets, and the address of the service.

    Where several processes share the ports, the sockets of their supervisor do not listen: they reserve the ports, for
    sockets that each worker opens `of_its_own`.
    """

    api: socket.socket
    port: int
    """The port of the API: of HTTPS, where there is a certificate."""
    plain: socket.socket | None
    """For plain HTTP beside HTTPS, which is answered where `answers_plain`, else redirected."""
    url: str
    """The address for callers, without a slash at the end."""
    certificate: Certificate | None
    """The certificate at the start; None without TLS."""

    @classmethod
    def of(cls, config: Config) -> Self:
        """Open the sockets of the settings, and make a certificate if there is none.

        Where one of two ports is taken, the log warns, and the other is served; HTTPS is given up only where plain HTTP
        is answered, and nobody chose its port. Raises ConfigError for an address that cannot be listened on and a
        certificate that cannot be used.
        """
        certificate = prepared(config) if config.tls else None
        try:
            api = _listen(config, config.port, "--port")
        except ConfigError as error:
            if not config.answers_plain or "port" in config.model_fields_set:
                raise
            api, certificate, plain = _listen_plain(config), None, None
            logger.warning("HTTPS is not answered: %s", error)
        else:
            plain = _second(config) if certificate and config.http_port is not None else None
        url = _url(plain, "http") if plain and config.answers_plain else _url(api, "https" if certificate else "http")
        return cls(api, api.getsockname()[1], plain, config.public_url or url, certificate)

    @property
    def https_url(self) -> str:
        """Its address by HTTPS, where there is a certificate."""
        return _url(self.api, "https")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.api.close()
        if self.plain:
            self.plain.close()

    def of_its_own(self) -> Self:
        """Listening sockets of this worker on the reserved ports, instead of its copies of the reservations."""
        with self:
            return replace(self, api=_joined(self.api), plain=self.plain and _joined(self.plain))


def room_for(connections: int) -> int:
    """How many connections this process can hold: the number given, or fewer if the system limits its open files.

    Raises the soft limit of open files as far as needed, and logs a warning where the hard limit is too low.
    """
    needed = connections + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most == needed:
        return connections
    room = max(most - OTHER_FILES, most // 2)
    logger.warning(
        "no more than %d connections can be open, not %d (WEBDATA_MAX_CONNECTIONS): the system lets this process open "
        "%d files; raise that to %d (ulimit -Hn, LimitNOFILE of systemd)",
        room,
        connections,
        hard,
        needed,
    )
    return room


def _second(config: Config) -> socket.socket | None:
    """The socket of plain HTTP beside HTTPS; None, and a warning, where its port is taken."""
    try:
        return _listen_plain(config)
    except ConfigError as error:
        logger.warning("plain HTTP is not answered: %s", error)
        return None


def _listen_plain(config: Config) -> socket.socket:
    return _listen(config, config.http_port or 0, "WEBDATA_HTTP_PORT, which may be off")


def _listen(config: Config, port: int, other: str) -> socket.socket:
    """A listening socket, or a reservation of the port to be shared."""
    host = config.host
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = address[0] == "::" and socket.has_dualstack_ipv6()
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG, dualstack_ipv6=both)
        if config.workers > 1:
            listening = _reserved(listening)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise ConfigError(
            f"cannot listen on {host}:{port}: {reason}; choose another with --host and {other}"
        ) from error
    listening.setblocking(False)
    return listening


def _reserved(alone: socket.socket) -> socket.socket:
    """A socket on the port of one that nobody shared: it admits those with SO_REUSEPORT, and gets no connections.

    It needs SO_REUSEADDR to be bound while connections of a previous service are in TIME_WAIT. Without it from then on,
    another service cannot take the port, even while no worker runs.
    """
    with alone:
        address, both = alone.getsockname(), _serves_both(alone)
    reserved = socket.socket(alone.family)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        reserved.setsockopt(socket.SOL_SOCKET, option, 1)
    if reserved.family == socket.AF_INET6:
        reserved.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if both else 1)
    reserved.bind(address)
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    return reserved


def _joined(reserved: socket.socket) -> socket.socket:
    address = reserved.getsockname()[:2]
    both = _serves_both(reserved)
    listening = socket.create_server(
        address, family=reserved.family, backlog=BACKLOG, reuse_port=True, dualstack_ipv6=both
    )
    listening.setblocking(False)
    return listening


def _serves_both(listening: socket.socket) -> bool:
    """Whether a socket takes connections by IPv4 as well as IPv6."""
    if listening.family != socket.AF_INET6:
        return False
    return not listening.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)


def _url(listening: socket.socket, scheme: str) -> str:
    address, port = listening.getsockname()[:2]
    host = ANYWHERE.get(address, address)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
