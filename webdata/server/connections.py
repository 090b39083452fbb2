"""Open connections: how long their clients may take for what, and how many there may be."""

import asyncio
import logging
from collections.abc import Callable
from enum import Enum, auto
from math import inf
from typing import Protocol

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

MOST = 10_000
"""Open connections, if nothing else is said."""
SWEEP = 1.0
"""Seconds between two looks at all connections; none has a timer of its own."""
PROGRESS = 60.0
"""Seconds in which a client has to read some of what waits for it."""
TOLD_AGAIN = 60.0
"""Seconds between two lines of the log about the same trouble."""


class Phase(Enum):
    """What a connection waits for."""

    HANDSHAKE = auto()
    """TLS."""
    NEW = auto()
    """The first byte of the first request."""
    HEAD = auto()
    """The rest of a request's line and headers."""
    BODY = auto()
    CALL = auto()
    """The answer: ours to give, so it may last as long as it does."""
    IDLE = auto()
    """The first byte of another request."""
    CLOSING = auto()
    """The client, to hear that the connection is closed."""


LIMITS = {
    Phase.HANDSHAKE: 10.0,
    Phase.NEW: 10.0,
    Phase.HEAD: 10.0,
    Phase.BODY: 30.0,
    Phase.CALL: inf,
    Phase.IDLE: 60.0,
    Phase.CLOSING: 5.0,
}
"""Seconds that a phase may last, from its beginning; no byte in between makes it longer, but for those of bodies."""
WAITING = (Phase.HANDSHAKE, Phase.NEW, Phase.HEAD, Phase.BODY, Phase.IDLE)
"""Phases in which nothing is lost but a client's patience when the connection is closed."""

Unsent = tuple[int, int]
"""Where the sending of an answer stands: it changes whenever the client has taken some of it."""


class Connection(Protocol):
    """A connection as it is kept here."""

    phase: Phase
    since: float
    """When the phase began, or the last of an answer went out in it."""
    unsent: Unsent | None
    """Where the sending stood at the last look, and since when."""
    unsent_since: float

    def extra(self) -> float:
        """Seconds beyond the limit of the phase."""

    def now_unsent(self) -> Unsent | None:
        """Where the sending stands; None when everything is sent."""

    def late(self) -> None:
        """The client took too long."""

    def close(self) -> None:
        """Close it once all is sent."""

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """The open connections of a process, on all of its ports.

    One sweep a second closes those that have used up their time. Beyond `most` the one goes that has waited longest
    for its client, if need be the new one itself: who sends slowly can keep nobody out.
    """

    def __init__(self, most: int = MOST, clock: IReactorTime | None = None) -> None:
        self.most = most
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}  # in the order in which they began to wait
        self._none_open = asyncio.Event()
        self._none_open.set()
        self._sweeping = LoopingCall(self.sweep)
        if clock:
            self._sweeping.clock = clock
        self._now: Callable[[], float] = self._sweeping.clock.seconds
        self._told = -inf

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, connection: Connection, phase: Phase) -> None:
        """A connection is there."""
        self._open.add(connection)
        self._none_open.clear()
        if not self._sweeping.running:
            self._sweeping.start(SWEEP, now=False)
        self.enter(connection, phase)
        if len(self._open) > self.most:
            self._make_room()

    def enter(self, connection: Connection, phase: Phase) -> None:
        """A connection begins to wait for something else."""
        connection.phase = phase
        connection.since = self._now()
        self._waiting.pop(connection, None)
        if phase in WAITING:
            self._waiting[connection] = None

    def closed(self, connection: Connection) -> None:
        """A connection is gone."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)
        if not self._open:
            self._none_open.set()
            if self._sweeping.running:
                self._sweeping.stop()

    async def close(self) -> None:
        """Close every connection once what was written to it is sent; returns when none is open."""
        for connection in list(self._open):
            connection.close()
        await self._none_open.wait()

    def sweep(self) -> None:
        """Close the connections whose clients have used up their time."""
        now = self._now()
        for connection in list(self._open):
            unsent = connection.now_unsent()
            if unsent or connection.unsent:
                self._sending(connection, unsent, now)
            elif now - connection.since > LIMITS[connection.phase] + connection.extra():
                connection.late()

    def _sending(self, connection: Connection, unsent: Unsent | None, now: float) -> None:
        if unsent != connection.unsent:
            connection.unsent, connection.unsent_since = unsent, now
            connection.since = now if unsent is None else connection.since
        elif now - connection.unsent_since > PROGRESS:
            connection.abort()

    def _make_room(self) -> None:
        longest = next(iter(self._waiting))
        if longest.now_unsent():
            longest.close()
        else:
            longest.abort()
        if self._now() - self._told > TOLD_AGAIN:
            self._told = self._now()
            logger.warning(
                "%d connections are open, the most there may be (WEBDATA_MAX_CONNECTIONS): "
                "those that wait longest for their clients are closed",
                self.most,
            )
