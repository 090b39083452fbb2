"""Rate limits counted in the memory of this process, for this process alone."""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from webdata.stores.accounts.model import Plan
from webdata.stores.ephemeral.interfaces import Limit

IN_FLIGHT_RETRY = 1.0
"""The `retry_after`, in seconds, of a call that was one too many in flight: when one of those ends is unknown."""


LEAST_SWEPT = 10_000
"""Windows before the first search for those that are over; the next one is at twice as many as it leaves."""


@dataclass(slots=True)
class Window:
    """The times of a key's requests in the sliding window, oldest first, and its calls in flight."""

    requests: deque[float] = field(default_factory=deque)
    in_flight: set[str] = field(default_factory=set)
    until: float = 0
    """When the last request leaves it."""


class MemoryLimits:
    """A LimitStore in a dictionary, with an entry for each key that has called lately."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._windows: defaultdict[str, Window] = defaultdict(Window)
        self._most = LEAST_SWEPT

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit:
        now = self._clock()
        if len(self._windows) >= self._most:
            self._sweep(now)
        window = self._windows[key_id]
        requests = window.requests
        while requests and requests[0] + plan.seconds <= now:
            requests.popleft()
        remaining = plan.requests - len(requests)
        reset = requests[0] + plan.seconds - now if requests else 0
        if remaining <= 0:
            # After a change to a smaller plan several requests have to leave; a plan of zero requests admits none.
            retry = requests[-remaining] + plan.seconds - now if plan.requests else plan.seconds
            return Limit(plan, 0, reset, "requests", retry)
        if len(window.in_flight) >= plan.in_flight:
            return Limit(plan, remaining, reset, "in_flight", IN_FLIGHT_RETRY)
        requests.append(now)
        window.until = now + plan.seconds
        window.in_flight.add(call_id)
        return Limit(plan, remaining - 1, reset or plan.seconds)

    async def leave(self, key_id: str, call_id: str) -> None:
        self._windows[key_id].in_flight.discard(call_id)

    def _sweep(self, now: float) -> None:
        """Forget the windows that are over."""
        for key_id in [one for one, window in self._windows.items() if window.until <= now and not window.in_flight]:
            del self._windows[key_id]
        self._most = max(LEAST_SWEPT, 2 * len(self._windows))
