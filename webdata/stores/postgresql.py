"""Connections to PostgreSQL that do not wait for ever: a server may be frozen, or gone from the network without a word.

The time is watched here alone: a server that stands still watches nothing, and TCP takes it for one that is slow.
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

TOLD = 0.9
"""Part of the patience after which the server gives up what waits for a lock: it is not silent then, and does not wait
for somebody who has gone."""
REST_SECONDS = 1.0
"""After a silence, until a connection is tried again: those who would wait for the same are told at once."""


class PatientConnection(Connection[Any]):
    """A connection that is closed when the server takes too long to answer."""

    patience: float
    """Seconds that it may take."""
    silent: Callable[[], OperationalError]
    """Who is told that it took longer, and says what to raise."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """What psycopg waits for whenever the server was asked something; raises OperationalError in time."""
        try:
            return super().wait(gen, interval, self.patience if timeout is None else timeout)
        except OperationalError:
            if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
                raise
            self.close()
            raise self.silent() from None


class Connecting:
    """Makes the connections of an engine."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._silent_at = -inf

    def connect(self, args: list[Any], params: dict[str, Any]) -> PatientConnection:
        """A connection, as psycopg makes it; raises OperationalError."""
        if monotonic() < self._silent_at + REST_SECONDS:
            raise self._error()
        try:
            connection = PatientConnection.connect(*args, **params)
        except ConnectionTimeout as error:
            raise self._silent() from error
        connection.patience, connection.silent = self._patience, self._silent
        self._limit_locks(connection)
        return connection

    def _limit_locks(self, connection: PatientConnection) -> None:
        """Who stands still in the middle of a transaction, as a suspended machine does, must not hold up the others."""
        limits = {"lock_timeout": TOLD * self._patience, "idle_in_transaction_session_timeout": self._patience}
        connection.autocommit = True
        for name, seconds in limits.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, f"{seconds * 1000:.0f}ms"))
        connection.autocommit = False

    def _silent(self) -> OperationalError:
        self._silent_at = monotonic()
        return self._error()

    def _error(self) -> OperationalError:
        return OperationalError(f"the server has not answered within {self._patience:g} seconds")


def limit_waits(engine: Engine, patience: float) -> None:
    """Let an engine make connections from now on whose server may take so many seconds to answer a statement."""
    connecting = Connecting(patience)

    def connect(_dialect: Any, _record: Any, args: list[Any], params: dict[str, Any]) -> PatientConnection:
        return connecting.connect(args, params)

    event.listen(engine, "do_connect", connect)
    engine.dispose()
