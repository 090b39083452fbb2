"""The sockets that the service listens on: made once, and shared by all of its processes."""

import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from webdata.config import Config
from webdata.errors import ConfigError

BACKLOG = 1024
"""Connections that wait to be accepted; the kernel has a bound of its own (net.core.somaxconn)."""
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # not listened on, but told apart
"""Addresses that stand for all of the machine's, and one of those each, to be called at."""


@dataclass(frozen=True)
class Listening:
    """The sockets, which listen, and where callers find the service."""

    api: socket.socket
    redirect: socket.socket | None
    """Where plain HTTP is told the way to HTTPS."""
    url: str
    """Without a slash at the end."""

    @classmethod
    def of(cls, config: Config) -> Self:
        """Those that the settings want; raises ConfigError for an address that cannot be listened on."""
        api = _listens(config.host, config.port, "--port")
        try:
            redirect = None
            if config.tls and config.http_port is not None:
                redirect = _listens(config.host, config.http_port, "WEBDATA_HTTP_PORT, which may be off")
        except ConfigError:
            api.close()
            raise
        return cls(api, redirect, config.public_url or _url(api, "https" if config.tls else "http"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.api.close()
        if self.redirect:
            self.redirect.close()


def _listens(host: str, port: int, other: str) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listens = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise ConfigError(
            f"cannot listen on {host}:{port}: {reason}; choose another with --host and {other}"
        ) from error
    listens.setblocking(False)
    return listens


def _url(listens: socket.socket, scheme: str) -> str:
    address, port = listens.getsockname()[:2]
    host = ANYWHERE.get(address, address)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
