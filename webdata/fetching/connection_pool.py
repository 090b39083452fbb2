"""Twisted's pool of connections that wait for a further request, in bounded number."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.web.client import HTTPConnectionPool

MOST_OF_SITE = 64
"""Connections to one host that stay open for further requests."""
MOST_IDLE = 512
"""Those to all hosts: beyond it the one that has waited longest is closed. Callers name hosts in any number."""


class BoundedPool(HTTPConnectionPool):
    """A pool of MOST_IDLE connections at most, which remembers no host without one; Twisted's has no such bounds."""

    maxPersistentPerHost = MOST_OF_SITE  # noqa: N815  # Twisted's own

    def getConnection(self, key: Any, endpoint: IStreamClientEndpoint) -> Deferred[Any]:
        connection: Deferred[Any] = super().getConnection(key, endpoint)
        self._forget(key)
        return connection

    def _putConnection(self, key: Any, connection: Any) -> None:
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        if len(self._timeouts) > MOST_IDLE:
            oldest, timeout = next(iter(self._timeouts.items()))
            timeout.cancel()
            host = next(one for one, connections in self._connections.items() if oldest in connections)
            self._removeConnection(host, oldest)

    def _removeConnection(self, key: Any, connection: Any) -> None:
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        self._forget(key)

    def _forget(self, key: Any) -> None:
        if self._connections.get(key) == []:
            del self._connections[key]
