"""`/dashboard`: credits, calls and times of an account at a glance."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import NamedTuple

from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.charts import NARROW, WIDE, Series, stacked_bars
from webdata.faces.dashboard.first_steps import first_steps
from webdata.faces.dashboard.rendering import render
from webdata.faces.dashboard.visits import Pages, Visit, route
from webdata.runtime.server.replies import Reply
from webdata.stores.accounts.model import Key
from webdata.stores.accounts.sql import KeyStore
from webdata.stores.batches.sql import BatchStore
from webdata.stores.calls.model import SECONDS, CallSum, CallTotal, Dimension, Span
from webdata.stores.calls.sql import CallLog
from webdata.stores.ledger.history import LedgerHistory
from webdata.stores.ledger.model import MovementSum

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RATE_DAYS = 7 * DAY
"""The time whose spending says when the credits will end."""
FAR = 3650 * DAY
"""A date beyond says nothing."""
ANSWERS = ("ok", "empty", "not_found", "degraded")
"""Outcomes of calls that got an answer."""
REFUSED = "refused"
"""The outcome of calls that were not run."""
OUTCOMES = ("ok", "empty", "not_found", "blocked", "upstream", REFUSED)
"""The outcomes that have a colour of their own; the others are added up."""
MOST_SERIES = 6
MOST_ROWS = 20
"""Rows of the table of keys."""
OF_FIGURES: tuple[Dimension, ...] = ("outcome", "seconds", "key")
OTHERS = "others"


class Period(NamedTuple):
    """What the charts show: so many spans."""

    label: str
    span: Span
    number: int

    def begins(self, now: datetime) -> list[datetime]:
        """When each span begins, oldest first; the last one is not over."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        last, step = (hour, HOUR) if self.span == "hour" else (hour.replace(hour=0), DAY)
        return [last - step * back for back in reversed(range(self.number))]


PERIODS = {
    "1": Period("24 hours", "hour", 24),
    "7": Period("7 days", "day", 7),
    "30": Period("30 days", "day", 30),
}
DIMENSIONS: dict[str, Dimension] = {"outcome": "outcome", "engine": "engine", "key": "key"}


@dataclass(frozen=True)
class Figures:
    """The calls of a period in numbers."""

    calls: int
    credits: int
    cached: int
    refused: int
    answered: int
    test: int
    """Calls by test keys."""
    p50: float | None
    p95: float | None

    @property
    def success(self) -> float | None:
        """The share of answers among the calls that were run; None without any."""
        ran = self.calls - self.refused
        return self.answered / ran if ran else None

    @property
    def fetched(self) -> int:
        """Answers that were not cached."""
        return self.answered - self.cached


class Spent(NamedTuple):
    """The credits that were spent in some days, as the page of usage has them."""

    calls: int
    batches: int


class OverviewPages(Pages):
    """The first page of the dashboard."""

    def __init__(
        self,
        calls: CallLog,
        history: LedgerHistory,
        keys: KeyStore,
        batches: BatchStore,
        address: ServiceAddress,
        prefixes: Collection[str] = (),
    ) -> None:
        """`prefixes` are those of the service's doors."""
        self._address = address
        self._prefixes = prefixes
        self._calls = calls
        self._batches = batches
        self._history = history
        self._keys = keys

    @route("GET", "")
    async def _show(self, visit: Visit) -> Reply:
        account, now = visit.viewer.account, datetime.now(UTC)
        days, by = visit.query.get("days", ""), visit.query.get("by", "")
        days, by = days if days in PERIODS else "7", by if by in DIMENSIONS else "outcome"
        period, dimension = PERIODS[days], DIMENSIONS[by]
        begins = period.begins(now)
        totals = {
            one: await self._calls.totals(account.id, period.span, one, begins[0])
            for one in dict.fromkeys((*OF_FIGURES, dimension))
        }
        keys = await self._keys.of(account.id)
        figures = figures_of(totals["outcome"], totals["seconds"], _by_test_keys(totals["key"], keys))
        shown = shown_values(totals[dimension], OUTCOMES if by == "outcome" else ())
        sums = await self._calls.sums(account.id, period.span, dimension, begins[0], shown)
        names = {key.id: key.name for key in keys} if by == "key" else {}
        series = series_of(sums, begins, shown, names, own_colours=by == "outcome")
        bars = [f"{begin:%H:%M}" if period.span == "hour" else f"{begin:%-d %b}" for begin in begins]
        return render(
            "overview",
            visit,
            days=days,
            by=by,
            periods=PERIODS,
            dimensions=list(DIMENSIONS),
            period=period,
            figures=figures,
            steps=None if figures.calls else first_steps(visit, self._address, self._prefixes),
            has_keys=bool(keys),
            credits=await self._credits(account.id, account.created, now),
            spent=spent_of(await self._history.days(account.id, begins[0] if period.span == "day" else now)),
            batches=await self._batches.ended_since(account.id, begins[0]),
            bars=bars,
            series=series,
            charts=[stacked_bars(f"Calls by {by}, {period.label}", bars, series, size) for size in (WIDE, NARROW)],
            totals=totals[dimension],
            whole=sum(one.calls for one in totals[dimension]),
            names=names,
            most_rows=MOST_ROWS,
        )

    async def _credits(self, account_id: str, created: datetime, now: datetime) -> Mapping[str, object]:
        balance = (await self._history.sums(account_id)).balance
        days = await self._history.days(account_id, now - RATE_DAYS)
        spent = sum(spent_of(days))
        return {"balance": balance, "spent": spent, "end": credits_end(balance, spent, now, created)}


def spent_of(days: Mapping[str, Sequence[MovementSum]]) -> Spent:
    """What the movements of some days spent."""
    amounts = Counter[str]()
    for day in days.values():
        for one in day:
            amounts[one.kind] += one.amount
    return Spent(amounts["commit"], amounts["charge"])


def _by_test_keys(totals: Iterable[CallTotal], keys: Iterable[Key]) -> int:
    test = {key.id for key in keys if key.test}
    return sum(one.calls for one in totals if one.value in test)


def credits_end(balance: int, spent: int, now: datetime, created: datetime) -> datetime | None:
    """When the balance ends at the rate of the last days, one at least; None where it does not in ten years."""
    seconds = max(DAY, min(RATE_DAYS, now - created)).total_seconds()
    left = balance * seconds / spent if spent else inf
    return now + timedelta(seconds=left) if left < FAR.total_seconds() else None


def figures_of(outcomes: Iterable[CallTotal], seconds: Iterable[CallTotal], test: int = 0) -> Figures:
    """The figures of a period from its totals by outcome and by seconds, `test` of them by test keys."""
    outcomes = list(outcomes)
    calls = Counter({one.value: one.calls for one in outcomes})
    credits, cached = sum(one.credits for one in outcomes), sum(one.cached for one in outcomes)
    times = {float(one.value): one.calls for one in seconds}
    answered = sum(calls[outcome] for outcome in ANSWERS)
    p50, p95 = (quantile(times, share) for share in (0.5, 0.95))
    return Figures(calls.total(), credits, cached, calls[REFUSED], answered, test, p50, p95)


def quantile(times: Mapping[float, int], share: float) -> float | None:
    """The time that so great a share of calls did not exceed, in seconds; None without calls.

    `times` counts calls by upper bounds: within one, times are taken to be spread evenly.
    """
    wanted = sum(times.values()) * share
    if not wanted:
        return None
    below, lower = 0, 0.0
    for bound in (*SECONDS, inf):
        count = times.get(bound, 0)
        if below + count >= wanted:
            return lower if bound == inf else lower + (bound - lower) * (wanted - below) / count
        below, lower = below + count, bound
    return lower


def shown_values(totals: Iterable[CallTotal], wanted: Sequence[str]) -> list[str]:
    """The values that have a colour of their own: the wanted ones, or those with most calls."""
    found = [one.value for one in totals]
    return [value for value in wanted if value in found] if wanted else found[:MOST_SERIES]


def series_of(
    sums: Iterable[CallSum],
    begins: Sequence[datetime],
    shown: Sequence[str],
    names: Mapping[str, str],
    *,
    own_colours: bool,
) -> list[Series]:
    """The series of a chart: each value that is shown, in a colour of its own name or its place, then the others."""
    counts = {(one.value, one.begins): one.calls for one in sums}
    others = [""] if any(value == "" for value, _ in counts) else []
    return [
        Series(
            names.get(value, value) or OTHERS,
            value or OTHERS if own_colours or not value else f"series-{place}",
            [counts.get((value, begin), 0) for begin in begins],
        )
        for place, value in enumerate([*shown, *others])
    ]
