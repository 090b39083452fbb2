"""How the last calls to each engine ended."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection
from statistics import median
from time import monotonic
from typing import Any

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget
from webdata.domain.errors import FetchError, NotFoundError
from webdata.domain.events import EngineDegraded

LAST_CALLS = 20
"""Calls to an engine that are remembered."""
LEAST_LOST_CALLS = 5
"""Lost calls that are worth a warning: one may have failed by chance."""
SECONDS = 3600.0
"""After which a call is forgotten."""


class RecentCalls:
    """The last calls to each engine on the network of live keys: the internet, with `sandbox_always` the sandbox.

    There are no warnings of the `unwarned` engines, whose callers choose the sites. `clock` gives seconds that never go
    back.
    """

    def __init__(
        self, unwarned: Collection[str] = (), *, sandbox_always: bool = False, clock: Callable[[], float] = monotonic
    ) -> None:
        self._unwarned = unwarned
        self._sandbox = sandbox_always
        self._clock = clock
        self._ends: defaultdict[str, deque[tuple[float, str | None]]] = defaultdict(lambda: deque(maxlen=LAST_CALLS))
        self._times: defaultdict[tuple[str, str], deque[tuple[float, bool, float]]] = defaultdict(
            lambda: deque(maxlen=LAST_CALLS)
        )
        """When each call ended, whether it fetched a page, and the engine's seconds; by resource and engine."""

    def ended(self, engine: str, call: Call, budget: EngineBudget, end: Answer | Exception) -> None:
        """Remember how an engine's part of a call ended, unless it was refused or is our fault.

        That a thing does not exist is an answer, too.
        """
        if call.sandbox != self._sandbox:
            return
        now, won = self._clock(), isinstance(end, Answer | NotFoundError)
        if won:
            self._ends[engine].append((now, None))
        elif isinstance(end, FetchError):
            self._ends[engine].append((now, end.kind or end.outcome.value))
        else:
            return
        self._times[call.resource.name, engine].append((now, won, monotonic() - budget.began))

    def snapshot(self) -> list[dict[str, Any]]:
        """A row for each engine that was called: how many of its last calls fetched a page.

        `lost` counts the others by the kind of the loss, the most frequent first.
        """
        return [row for engine in sorted(self._ends) if (row := self._row(engine))["calls"]]

    def rates(self) -> list[dict[str, Any]]:
        """A row for each engine of each resource: its last calls, those that fetched a page, and its usual seconds."""
        now, rows = self._clock(), []
        for (resource, engine), ends in sorted(self._times.items()):
            lately = [(won, seconds) for at, won, seconds in ends if now - at < SECONDS]
            if lately:
                usual, won = median(seconds for _, seconds in lately), sum(won for won, _ in lately)
                rows.append(
                    {"resource": resource, "engine": engine, "calls": len(lately), "won": won, "seconds": usual}
                )
        return rows

    def warnings(self) -> list[str]:
        """A message for each engine that fetches nothing."""
        return [
            f"{one.engine}: none of the last {one.calls} calls fetched a page ({', '.join(one.lost)})"
            for one in self.degraded()
        ]

    def degraded(self) -> list[EngineDegraded]:
        """The engines that fetch nothing."""
        return [
            EngineDegraded(engine=row["engine"], calls=row["calls"], lost=row["lost"])
            for row in self.snapshot()
            if not row["won"] and row["calls"] >= LEAST_LOST_CALLS and row["engine"] not in self._unwarned
        ]

    def won_ago(self) -> dict[str, float]:
        """Seconds since the last page of each engine that has fetched one lately."""
        now = self._clock()
        won = {engine: [at for at, kind in ends if not kind] for engine, ends in self._ends.items()}
        return {engine: now - max(times) for engine, times in won.items() if times}

    def _row(self, engine: str) -> dict[str, Any]:
        kinds = [kind for at, kind in self._ends[engine] if self._clock() - at < SECONDS]
        lost = Counter(kind for kind in kinds if kind)
        return {
            "engine": engine,
            "calls": len(kinds),
            "won": len(kinds) - lost.total(),
            "lost": dict(lost.most_common()),
        }
