"""Whether an upstream API may be asked: the requests of its day, counted before they are sent."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from webdata.domain.errors import PassedOverError
from webdata.domain.upstreams import Upstream
from webdata.stores.ledger.upstream_requests import UpstreamRequests


class UpstreamBudgets:
    """The budgets of the operator's upstreams. `clock` gives the time in UTC."""

    def __init__(
        self,
        upstreams: Iterable[Upstream],
        requests: UpstreamRequests,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._upstreams = {one.name: one for one in upstreams}
        self._requests = requests
        self._clock = clock
        self._spent: dict[str, int] = {}
        """The ordinal of the day on which an upstream was last found to be spent, by its name."""

    async def reserve(self, engine: str) -> None:
        """Count a request that is about to be sent; raises PassedOverError until the next day begins.

        Those of engines that are no upstreams are not counted.
        """
        upstream = self._upstreams.get(engine)
        if upstream is None:
            return
        now = self._clock()
        if await self._requests.reserve(engine, upstream.requests_a_day, now) is None:
            self._spent[engine] = now.toordinal()
            error = PassedOverError(f"the {upstream.requests_a_day} requests of its day are used up", "spent")
            error.retry_after = _seconds_of_day_left(now)
            raise error

    def warnings(self) -> list[str]:
        """A message for each upstream that was found to be spent today."""
        today = self._clock().toordinal()
        names = sorted(name for name, day in self._spent.items() if day == today)
        return [f"{name}: its requests of today are used up, others answer until 00:00 UTC" for name in names]

    async def rows(self) -> list[dict[str, Any]]:
        """What each upstream was sent today, and may be sent, in the operator's order."""
        sent = await self._requests.of_day(self._clock()) if self._upstreams else {}
        return [_row(upstream, sent.get(name, 0)) for name, upstream in self._upstreams.items()]


def _row(upstream: Upstream, sent: int) -> dict[str, Any]:
    return {
        "engine": upstream.name,
        "kind": upstream.kind,
        "price": upstream.price,
        "requests": sent,
        "requests_a_day": upstream.requests_a_day,
    }


def _seconds_of_day_left(now: datetime) -> float:
    tomorrow = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return max((tomorrow - now).total_seconds(), 1.0)
