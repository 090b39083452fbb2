"""Open connections: the time limit of each phase, and how many there may be."""

import asyncio
import logging
from collections.abc import Callable
from enum import Enum, auto
from math import inf
from typing import Protocol

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall

logger = logging.getLogger(__name__)

MOST_CONNECTIONS = 10_000
"""Open connections by default."""
SWEEP = 1.0
"""Seconds between two checks of all connections; none has a timer of its own."""
PROGRESS = 60.0
"""Seconds within which a client has to read some of the response."""
WARNED_EVERY = 60.0
"""Seconds between two warnings that there are too many connections."""


class Phase(Enum):
    """What a connection waits for."""

    HANDSHAKE = auto()
    """The TLS handshake is not done."""
    NEW = auto()
    """The first byte of the first request."""
    HEAD = auto()
    """The end of a request's headers."""
    BODY = auto()
    STREAM = auto()
    """More of a body that is passed on as it comes."""
    CALL = auto()
    """The response, which may take any time."""
    IDLE = auto()
    """The first byte of another request."""
    CLOSING = auto()
    """The client to close its side."""


LIMITS = {
    Phase.HANDSHAKE: 10.0,
    Phase.NEW: 10.0,
    Phase.HEAD: 10.0,
    Phase.BODY: 30.0,
    Phase.STREAM: 30.0,
    Phase.CALL: inf,
    Phase.IDLE: 60.0,
    Phase.CLOSING: 5.0,
}
"""Seconds that a phase may last. Bytes that arrive extend BODY and STREAM (`Connection.extra`)."""
WAITING = (Phase.HANDSHAKE, Phase.NEW, Phase.HEAD, Phase.BODY, Phase.IDLE, Phase.CLOSING)
"""Phases in which the client is next to act: no response is lost when the connection is closed once all is sent."""
STILL_SENDING = 0.1
"""Connections beyond `most`, as a share of it, that may stay open to send what was written to them."""

Unsent = tuple[int, int]
"""The state of the send buffer, which differs after each read by the client."""


class Connection(Protocol):
    """What Connections needs of a connection."""

    phase: Phase
    since: float
    """When the phase began, or when all of a response was sent in it."""
    unsent: Unsent | None
    """The send buffer at the last check; None if it was empty."""
    unsent_since: float
    """When a check first saw that state of the buffer."""

    def extra(self) -> float:
        """Seconds by which the limit of the phase is extended."""

    def now_unsent(self) -> Unsent | None:
        """The send buffer; None when it is empty."""

    def late(self) -> None:
        """Close it because the phase has lasted too long."""

    def close(self) -> None:
        """Close it once all is sent."""

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """The open connections of a process, on all of its ports.

    A sweep each second closes those whose phase has lasted too long. When more than `most` are open, the one that has
    waited longest for its client is closed, be it the new one: slow clients cannot keep out others, neither those that
    send slowly nor those that read slowly or do not hang up.
    """

    def __init__(self, most: int = MOST_CONNECTIONS, clock: IReactorTime | None = None) -> None:
        self.most = most
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}  # in the order in which they began to wait
        self._none_open = asyncio.Event()
        self._none_open.set()
        self._sweeping = LoopingCall(self.sweep)
        if clock:
            self._sweeping.clock = clock
        self._now: Callable[[], float] = self._sweeping.clock.seconds
        self._warned = -inf

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, connection: Connection, phase: Phase) -> None:
        """Add a connection."""
        self._open.add(connection)
        self._none_open.clear()
        if not self._sweeping.running:
            self._sweeping.start(SWEEP, now=False)
        self.enter(connection, phase)
        if len(self._open) > self.most:
            self._make_room()

    def enter(self, connection: Connection, phase: Phase) -> None:
        """Begin a phase of a connection."""
        connection.phase = phase
        connection.since = self._now()
        self._waiting.pop(connection, None)
        if phase in WAITING:
            self._waiting[connection] = None

    def closed(self, connection: Connection) -> None:
        """Remove a connection."""
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
        """Close the connections whose clients took too long."""
        now = self._now()
        for connection in list(self._open):
            unsent = connection.now_unsent()
            if unsent or connection.unsent:
                self._check_progress(connection, unsent, now)
            elif now - connection.since > LIMITS[connection.phase] + connection.extra():
                connection.late()

    def _check_progress(self, connection: Connection, unsent: Unsent | None, now: float) -> None:
        if unsent != connection.unsent:
            connection.unsent, connection.unsent_since = unsent, now
            connection.since = now if unsent is None else connection.since
        elif now - connection.unsent_since > PROGRESS:
            connection.abort()

    def _make_room(self) -> None:
        longest = next(iter(self._waiting))
        if longest.now_unsent() and len(self._open) <= self.most * (1 + STILL_SENDING):
            longest.close()
        else:
            longest.abort()
        if self._now() - self._warned > WARNED_EVERY:
            self._warned = self._now()
            logger.warning(
                "%d connections are open, the most there may be (WEBDATA_MAX_CONNECTIONS): "
                "those that wait longest for their clients are closed",
                self.most,
            )
