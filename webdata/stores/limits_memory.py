"""Limits counted in this process's memory: for one process alone, and gone with it."""

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from webdata.stores.interfaces import Limit, Plan

IN_FLIGHT_RETRY = 1.0
"""Seconds after which a call that was one too many in flight is worth another try: nobody knows when one ends."""


@dataclass(slots=True)
class Standing:
    """What a key did: when its requests of the window came, oldest first, and its calls in flight."""

    requests: deque[float] = field(default_factory=deque)
    in_flight: set[str] = field(default_factory=set)


class MemoryLimits:
    """A LimitStore in a dictionary, of as many entries as there are keys that called."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._standings: defaultdict[str, Standing] = defaultdict(Standing)

    async def enter(self, key_id: str, plan: Plan, call_id: str) -> Limit:
        now, standing = self._clock(), self._standings[key_id]
        requests = standing.requests
        while requests and requests[0] + plan.seconds <= now:
            requests.popleft()
        remaining = plan.requests - len(requests)
        reset = requests[0] + plan.seconds - now if requests else 0
        if remaining <= 0:
            # After a change to a smaller plan more than one has to leave; a plan of none never lets one in.
            retry = requests[-remaining] + plan.seconds - now if plan.requests else plan.seconds
            return Limit(plan, 0, reset, "requests", retry)
        if len(standing.in_flight) >= plan.in_flight:
            return Limit(plan, remaining, reset, "in_flight", IN_FLIGHT_RETRY)
        requests.append(now)
        standing.in_flight.add(call_id)
        return Limit(plan, remaining - 1, reset or plan.seconds)

    async def leave(self, key_id: str, call_id: str) -> None:
        self._standings[key_id].in_flight.discard(call_id)
