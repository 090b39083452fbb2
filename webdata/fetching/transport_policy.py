"""Which transport a fetch begins with, and which may follow.

Pure but for what it remembers: how often each transport has fetched pages lately, and how long it took. A transport
that a fetch had to give up has its circuit opened.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any

from webdata.domain.attempts import TRANSPORTS, Transport
from webdata.fetching.circuit_breaker import CircuitBreaker

USUAL_SECONDS: dict[Transport, float] = {"http": 0.5, "impersonate": 0.7, "browser": 2.0}
USUAL_RATE = 0.8
"""What is expected of a transport before anything is known of it."""
WEIGHT = 0.2
"""The weight of the latest attempt in the moving rate and the moving duration."""
FAILURE_SECONDS = 10.0
"""The cost of a fetch whose last transport fails too."""
PATIENCE = 3
"""Losses in a row that open the circuit of the last transport: there is none to replace it."""
MOST_RECORDS = 4096
"""Records of engines, and as many of single sites; the one that was used least recently is dropped."""


@dataclass(frozen=True)
class Scope:
    """What shares its experience: the fetches of one engine from one region ("" for none).

    An engine that fetches from any site learns of each site by itself.
    """

    engine: str
    region: str = ""
    transports: tuple[Transport, ...] = TRANSPORTS
    """The transports that the engine may use."""
    site: str = ""
    """The site's host; "" for engines of one site."""


@dataclass(slots=True)
class Record:
    """What is known of one transport in one scope; times are those of the policy's clock."""

    breaker: CircuitBreaker
    rate: float = USUAL_RATE
    seconds: float = 0.0
    attempts: int = 0
    won: int = 0
    losses: int = 0
    """In a row; those of attempts that ran at the same time count once."""
    lost_at: float = 0.0


Records = OrderedDict[tuple[str, str, str, Transport], Record]
"""By engine, region, site and transport."""


class TransportPolicy:
    """The transports that are available, and how they have done."""

    def __init__(
        self,
        transports: Sequence[Transport] = TRANSPORTS,
        *,
        clock: Callable[[], float] = monotonic,
        random: Random | None = None,
    ):
        self.transports = tuple(one for one in TRANSPORTS if one in transports)
        self._clock = clock
        self._random = random or Random()  # noqa: S311  # no secret
        self._records: Records = OrderedDict()
        self._sites: Records = OrderedDict()

    def first(self, scope: Scope) -> Transport:
        """The transport that a fetch begins with: the one of least expected cost.

        A cheaper one whose circuit is half-open is probed by one call at a time. Only the first transport, or one that
        has fetched a page before, is chosen to begin with. Where all circuits are open, it is the one that opens first.
        """
        available = self._available(scope)
        closed = [one for one in available if self._record(scope, one).breaker.is_closed]
        proven = [one for one in closed if one == available[0] or self._record(scope, one).won]
        best = self._cheapest(scope, closed, proven or closed) if closed else None
        for transport in available:
            if transport == best:
                return transport
            if self._record(scope, transport).breaker.may_probe:
                self.begin(scope, transport)
                return transport
        return min(available, key=lambda one: self._record(scope, one).breaker.seconds_open)

    def begin(self, scope: Scope, transport: Transport) -> None:
        """An attempt by this transport begins; where its circuit is half-open, the attempt probes it."""
        breaker = self._record(scope, transport).breaker
        if breaker.may_probe:
            breaker.probe()

    def above(self, scope: Scope, transport: Transport) -> list[Transport]:
        """The transports that a fetch may escalate to from this one, the cheapest first."""
        return [one for one in self._available(scope) if TRANSPORTS.index(one) > TRANSPORTS.index(transport)]

    def is_usable(self, scope: Scope, transport: Transport) -> bool:
        """Whether an attempt may use a transport now: its circuit is closed, or may be probed."""
        breaker = self._record(scope, transport).breaker
        return breaker.is_closed or breaker.may_probe

    def is_closed(self, scope: Scope, transport: Transport) -> bool:
        """Whether the transport's circuit is closed."""
        return self._record(scope, transport).breaker.is_closed

    def report(self, scope: Scope, transport: Transport, *, won: bool, seconds: float) -> None:
        """A transport has fetched a page, or was given up, `seconds` after its attempt had begun."""
        record = self._record(scope, transport)
        record.rate += WEIGHT * (won - record.rate)
        record.seconds = record.seconds + WEIGHT * (seconds - record.seconds) if record.attempts else seconds
        record.attempts += 1
        if won:
            record.won += 1
            record.losses = 0
            record.breaker.close()
        elif self._clock() - seconds >= record.lost_at and record.breaker.state != "open":
            record.losses += 1
            record.lost_at = self._clock()
            record.breaker.end_probe()
            patience = PATIENCE if transport == self._available(scope)[-1] else 1
            if record.losses >= patience:
                record.breaker.open()

    def cost(self, scope: Scope, transport: Transport) -> float:
        """The seconds that an attempt usually takes."""
        record = self._record(scope, transport)
        return record.seconds if record.attempts else USUAL_SECONDS[transport]

    def snapshot(self) -> list[dict[str, Any]]:
        """What is remembered, for health and metrics: a row for each engine, region and transport.

        Single sites are left out: there are as many as callers request. `rate` is the moving share of pages fetched,
        `seconds` the usual duration of an attempt, `circuit` the state of its breaker, `open_for` seconds more.
        """
        return [
            {
                "engine": engine,
                "region": region,
                "transport": transport,
                "rate": round(record.rate, 3),
                "seconds": round(record.seconds, 3),
                "attempts": record.attempts,
                "won": record.won,
                "circuit": record.breaker.state,
                "open_for": round(record.breaker.seconds_open, 1),
            }
            for (engine, region, _, transport), record in self._records.items()
            if record.attempts
        ]

    def _cheapest(self, scope: Scope, closed: Sequence[Transport], choices: Sequence[Transport]) -> Transport:
        """The choice of least expected cost: its own, and by its rate of failure that of what follows it."""
        expected: dict[Transport, float] = {}
        after = FAILURE_SECONDS
        for transport in reversed(closed):
            after = self.cost(scope, transport) + (1 - self._record(scope, transport).rate) * after
            expected[transport] = after
        return min(choices, key=expected.__getitem__)

    def _available(self, scope: Scope) -> tuple[Transport, ...]:
        return tuple(one for one in self.transports if one in scope.transports) or scope.transports[:1]

    def _record(self, scope: Scope, transport: Transport) -> Record:
        records = self._sites if scope.site else self._records
        key = (scope.engine, scope.region, scope.site, transport)
        record = records.get(key)
        if record is None:
            record = records[key] = Record(CircuitBreaker(self._clock, self._random))
            if len(records) > MOST_RECORDS:
                records.popitem(last=False)
        else:
            records.move_to_end(key)
        return record
