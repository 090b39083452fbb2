"""A circuit breaker: what fails is left alone for a while, longer each time, and is then probed by a single call.

M. Nygard, Release It!, 2007. One class serves transports, proxies, engines and the providers of one engine.
"""

from collections.abc import Callable
from random import Random
from time import monotonic
from typing import Literal

State = Literal["closed", "open", "half_open"]

FIRST_SECONDS, LONGEST_SECONDS = 5.0, 600.0
JITTER = 0.25
"""Share by which an open time is longer or shorter, so that circuits do not close all at once."""
MOST_LOSSES = 3
"""Losses in a row up to which it stays closed."""
PROBE_SECONDS = 60.0
"""Seconds after which a probe without a result is given up, so that another call may probe."""


class CircuitBreaker:
    """Closed: calls pass. Open: they do not. Half-open, once its time is over: one call may probe it.

    `clock` gives seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic, random: Random | None = None):
        self._clock = clock
        self._random = random or Random()  # noqa: S311  # no secret
        self._open_until: float | None = None
        self.openings = 0
        """In a row, since it was last closed for good."""
        self._losses = 0
        """In a row, since it was last closed or opened."""
        self._probe_ends = 0.0

    @property
    def state(self) -> State:
        if self._open_until is None:
            return "closed"
        return "open" if self._clock() < self._open_until else "half_open"

    @property
    def is_closed(self) -> bool:
        return self._open_until is None

    @property
    def seconds_open(self) -> float:
        """Seconds until it is half-open; 0 when it is not open."""
        return max(0.0, (self._open_until or 0.0) - self._clock())

    @property
    def may_probe(self) -> bool:
        """Whether it is half-open and no call probes it yet."""
        return self.state == "half_open" and not self.is_probed

    @property
    def is_probed(self) -> bool:
        """Whether the result of a probe is awaited."""
        return self._clock() < self._probe_ends

    def probe(self) -> None:
        """A call probes it: others wait for the result."""
        self._probe_ends = self._clock() + PROBE_SECONDS

    def end_probe(self) -> None:
        """The probe has ended, whatever its result: another call may probe it."""
        self._probe_ends = 0.0

    def lose(self) -> None:
        """Count a failure that may be of what was asked for; MOST_LOSSES in a row open it, and one of a probe does."""
        self._losses += 1
        if self._losses >= MOST_LOSSES or self.state == "half_open":
            self.open()

    def open(self) -> None:
        """Open it after a failure, for twice as long as the last time; one that is open stays as it is."""
        if self.state == "open":
            return
        self._losses = 0
        seconds = min(FIRST_SECONDS * 2.0**self.openings, LONGEST_SECONDS)
        self.openings = min(self.openings + 1, 60)
        self.open_for(seconds * self._random.uniform(1 - JITTER, 1 + JITTER))

    def open_for(self, seconds: float) -> None:
        """Open it for at least so many seconds from now, as an upstream asks for; 0 changes nothing."""
        self.end_probe()
        if seconds > 0:
            self._open_until = max(self._open_until or 0.0, self._clock() + seconds)

    def close(self, *, forget: bool = True) -> None:
        """Close it after a success; without `forget` the next failure opens it for longer than the last one did."""
        self._open_until = None
        self._losses = 0
        self.end_probe()
        if forget:
            self.openings = 0
