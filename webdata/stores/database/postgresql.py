"""Connections to PostgreSQL with timeouts, for a server that is frozen or unreachable without an error.

Only the client can measure them: a frozen server runs no timers, and TCP treats it as a slow one.
"""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, TypeVar

from psycopg import Connection, OperationalError
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine, event

T = TypeVar("T")

LOCK_SHARE = 0.9
"""Part of the timeout after which the server ends a wait for a lock, earlier than the client, so that it answers."""
RETRY_SECONDS = 1.0
"""After a timeout, how long new connections fail at once instead of waiting for the same timeout."""


class TimedConnection(Connection[Any]):
    """A connection that is closed when the server takes too long to answer."""

    answer_timeout: float
    """Seconds within which the server has to answer."""
    on_timeout: Callable[[], OperationalError]
    """Records a timeout and returns the error to raise."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Psycopg's hook for every wait for an answer; raises OperationalError after the timeout."""
        try:
            return super().wait(gen, interval, self.answer_timeout if timeout is None else timeout)
        except OperationalError:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.close()
            raise self.on_timeout() from None


class Connector:
    """Makes the connections of an engine, whose server may take `timeout` seconds to answer."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._timed_out_at = -inf

    def connect(self, args: list[Any], params: dict[str, Any]) -> TimedConnection:
        """Connect with the arguments of psycopg's `connect`; raises OperationalError."""
        if monotonic() < self._timed_out_at + RETRY_SECONDS:
            raise self._error()
        try:
            connection = TimedConnection.connect(*args, **params)
        except ConnectionTimeout as error:
            raise self._on_timeout() from error
        connection.answer_timeout, connection.on_timeout = self._timeout, self._on_timeout
        self._limit_locks(connection)
        return connection

    def _limit_locks(self, connection: TimedConnection) -> None:
        """Let the server end a transaction whose client is frozen, as on a suspended machine, and release its locks."""
        limits = {"lock_timeout": LOCK_SHARE * self._timeout, "idle_in_transaction_session_timeout": self._timeout}
        connection.autocommit = True
        for name, seconds in limits.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, f"{seconds * 1000:.0f}ms"))
        connection.autocommit = False

    def _on_timeout(self) -> OperationalError:
        self._timed_out_at = monotonic()
        return self._error()

    def _error(self) -> OperationalError:
        return OperationalError(f"the server has not answered within {self._timeout:g} seconds")


def limit_waits(engine: Engine, timeout: float) -> None:
    """Let the server of an engine take `timeout` seconds for an answer, on connections made from now on."""
    connector = Connector(timeout)
    event.listen(engine, "do_connect", lambda _dialect, _record, args, params: connector.connect(args, params))
    engine.dispose()
