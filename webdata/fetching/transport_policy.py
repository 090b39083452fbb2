"""Which transport an engine's fetches begin with, and what is tried after a step that was lost.

Pure but for what it remembers: how often each transport has won pages lately, and what it took. A transport that a
call had to leave rests, as behind a circuit breaker (M. Nygard, Release It!, 2007), longer each time; when its rest is
over a single call tries it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any, Literal, TypedDict

from webdata.domain.outcome import Outcome

Transport = Literal["http", "impersonate", "browser"]

TRANSPORTS: tuple[Transport, ...] = ("http", "impersonate", "browser")
"""How a page may be fetched, the cheapest way first."""

USUAL_SECONDS: dict[Transport, float] = {"http": 0.5, "impersonate": 0.7, "browser": 2.0}
USUAL_RATE = 0.8
"""What is expected of a transport before anything is known of it."""
WEIGHT = 0.2
"""Of the latest step in the moving rate and the moving cost."""
LOSS = 10.0
"""Seconds; what it costs when the last transport wins no page either."""

FIRST_REST, LONGEST_REST = 5.0, 600.0
JITTER = 0.25
"""Share by which a rest is longer or shorter, so that not all begin anew at once."""
PROBE = 30.0
"""Seconds after which a call that tried a rested transport, and never told how it went, is no longer waited for."""
PATIENCE = 3
"""Losses in a row after which the last transport rests too: nothing takes its place."""
MOST = 4096
"""Records that are kept of engines, and as many of single sites; the one that was used least lately is forgotten."""

OTHER_PROXY = {"captcha", "denied", "login", "proxy", "budget"}
"""Kinds of losses that may be those of the proxy."""
OTHER_TRANSPORT = {"captcha", "denied", "javascript"}
"""Kinds of blocks that another transport may pass."""
OF_TRANSPORT = {"browser"}
"""Kinds of failures that are those of the transport itself."""
NO_SECOND = {"failed", "redirects", "too_large"}
"""Kinds of failures that would be the same again, beside statuses that blame the request."""
HANDSHAKE = {"reset"}
"""Kinds of failures by which a site refuses a client that it does not take for a browser."""


class Step(TypedDict):
    """One attempt to win a page. `proxy` is its label, `seconds` what the attempt took."""

    transport: Transport
    proxy: str | None
    outcome: str
    kind: str | None
    seconds: float


@dataclass(frozen=True)
class Next:
    """The step to take: after `delay` seconds, by another proxy than those that were lost with where `other_proxy`."""

    transport: Transport
    other_proxy: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Place:
    """Where steps are taken: what one engine asks from one region ("" for none), by the transports that it may use.

    An engine that asks more than one site learns of each by itself.
    """

    engine: str
    region: str = ""
    transports: tuple[Transport, ...] = TRANSPORTS
    site: str = ""
    """The site's host; "" for engines that are for one site."""


@dataclass
class Record:
    """What is known of one transport at one place; times are those of the ladder's clock."""

    rate: float = USUAL_RATE
    seconds: float = 0.0
    steps: int = 0
    won: int = 0
    losses: int = 0
    """In a row; those of steps that ran at the same time are one."""
    lost_at: float = 0.0
    rests_until: float = 0.0
    probed_until: float = 0.0

    def state(self, now: float) -> str:
        """`awake`, `resting`, `due` when the rest is over, `trying` while a call tells how it does then."""
        if not self.rests_until:
            return "awake"
        if now < self.rests_until:
            return "resting"
        return "trying" if now < self.probed_until else "due"


Records = OrderedDict[tuple[str, str, str, Transport], Record]
"""By engine, region, site and transport."""


@dataclass(frozen=True)
class Backoff:
    """Waits between attempts: at random up to `first` seconds, then up to twice that and so on, up to `most`.

    Full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    """

    first: float = 0.2
    most: float = 2.0

    def seconds(self, attempts: int, random: Random) -> float:
        """The wait after so many attempts, 1 or more."""
        return random.uniform(0, min(self.most, self.first * 2.0 ** min(attempts - 1, 60)))


class Ladder:
    """The transports that there are, and how they have done."""

    def __init__(
        self,
        transports: Sequence[Transport] = TRANSPORTS,
        max_steps: int = 4,
        backoff: Backoff | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        random: Random | None = None,
    ):
        self.transports = tuple(one for one in TRANSPORTS if one in transports)
        self.max_steps = max_steps
        self._backoff = backoff or Backoff()
        self._clock = clock
        self._random = random or Random()  # noqa: S311  # no secret
        self._records: Records = OrderedDict()
        self._sites: Records = OrderedDict()

    def start(self, place: Place) -> Transport:
        """The transport that a fetch begins with: where it costs least, by what was won and lost lately.

        A cheaper one whose rest is over is tried by one call at a time. One that never won a page is no place to
        begin, but for the first; where all rest, it is the one whose rest ends first.
        """
        there = self._there(place)
        awake = [one for one in there if not self._record(place, one).rests_until]
        proven = [one for one in awake if one == there[0] or self._record(place, one).won]
        best = self._cheapest(place, awake, proven or awake) if awake else None
        for transport in there:
            if transport == best or self._is_probed(place, transport):
                return transport
        return min(there, key=lambda one: self._record(place, one).rests_until)

    def after(
        self,
        place: Place,
        steps: Sequence[Step],
        left: float,
        *,
        other_proxy: bool = False,
        retry_after: float = 0.0,
    ) -> Next | None:
        """The step after the last of these, which was lost; None where none is worth it.

        `left` are the seconds until the query's deadline, `other_proxy` tells whether there is one that was not lost
        with, `retry_after` how many seconds the upstream asks to be left alone for: where that is no longer than the
        longest pause of ours the call waits, once, else it ends.
        """
        if len(steps) >= self.max_steps:
            return None
        following = self._following(place, steps, other_proxy, retry_after)
        if following is None or left < following.delay + self.cost(place, following.transport):
            return None
        return following

    def _following(self, place: Place, steps: Sequence[Step], other_proxy: bool, retry_after: float) -> Next | None:
        last = steps[-1]
        if other_proxy and self._may_be_the_proxy(place, steps):
            return Next(last["transport"], other_proxy=True)
        if retry_after > self._backoff.most or (retry_after and is_same_again(steps)):
            return None
        if retry_after or is_first_consent(steps):
            return Next(last["transport"], delay=retry_after)
        climb = self._climb(place, steps) if last["outcome"] == Outcome.BLOCKED or is_refused_handshake(steps) else None
        if climb or not may_pass(last["outcome"], last["kind"]):
            return climb
        return Next(last["transport"], delay=self._backoff.seconds(len(steps), self._random))

    def _may_be_the_proxy(self, place: Place, steps: Sequence[Step]) -> bool:
        """Whether another proxy is worth a step; after a block only while one is left for each transport above."""
        last = steps[-1]
        if last["outcome"] == Outcome.BLOCKED and last["kind"] in OTHER_TRANSPORT & OTHER_PROXY:
            awake = [one for one in self._above(place, last["transport"]) if not self._record(place, one).rests_until]
            return self.max_steps - len(steps) > len(awake)
        return last["kind"] in OTHER_PROXY or last["outcome"] == Outcome.DEGRADED

    def _climb(self, place: Place, steps: Sequence[Step]) -> Next | None:
        """The next transport above the last one; for scripts the browser at once, if there is one."""
        last = steps[-1]
        if last["outcome"] == Outcome.BLOCKED and last["kind"] not in OTHER_TRANSPORT:
            return None
        above = self._above(place, last["transport"])
        order = reversed(above) if last["kind"] == "javascript" else above
        return next((Next(one) for one in order if self._is_awake(place, one)), None)

    def _above(self, place: Place, transport: Transport) -> list[Transport]:
        """The transports above one, the cheapest first."""
        return [one for one in self._there(place) if TRANSPORTS.index(one) > TRANSPORTS.index(transport)]

    def report(self, place: Place, transport: Transport, *, won: bool, seconds: float) -> None:
        """How a transport did: it won a page, or a call had to leave it, `seconds` after it had begun with it."""
        record = self._record(place, transport)
        record.rate += WEIGHT * (won - record.rate)
        record.seconds = record.seconds + WEIGHT * (seconds - record.seconds) if record.steps else seconds
        record.steps += 1
        if won:
            record.won += 1
            record.losses, record.rests_until, record.probed_until = 0, 0.0, 0.0
        elif self._clock() - seconds >= max(record.lost_at, record.rests_until):
            record.losses += 1
            record.lost_at = self._clock()
            record.probed_until = 0.0
            self._rest(record, PATIENCE if transport == self._there(place)[-1] else 1)

    def _rest(self, record: Record, patience: int) -> None:
        if record.losses < patience:
            return
        seconds = min(FIRST_REST * 2.0 ** min(record.losses - patience, 60), LONGEST_REST)
        record.rests_until = self._clock() + seconds * self._random.uniform(1 - JITTER, 1 + JITTER)

    def cost(self, place: Place, transport: Transport) -> float:
        """The seconds that a step usually takes."""
        record = self._record(place, transport)
        return record.seconds if record.steps else USUAL_SECONDS[transport]

    def snapshot(self) -> list[dict[str, Any]]:
        """What is remembered, for people and metrics: a row for each engine, region and transport.

        What is remembered of single sites is left out: there are as many as callers ask for.

        `rate` is the moving share of pages won, `seconds` what a step usually takes. `state` is `awake`, `resting` (for
        `rests` seconds more), `due` when its rest is over, or `trying` while one call tells how it does now.
        """
        now = self._clock()
        return [
            {
                "engine": engine,
                "region": region,
                "transport": transport,
                "rate": round(record.rate, 3),
                "seconds": round(record.seconds, 3),
                "steps": record.steps,
                "won": record.won,
                "state": record.state(now),
                "rests": round(max(0.0, record.rests_until - now), 1),
            }
            for (engine, region, _, transport), record in self._records.items()
            if record.steps
        ]

    def _cheapest(self, place: Place, awake: Sequence[Transport], places: Sequence[Transport]) -> Transport:
        """Of `places` to begin the one of least expected cost: its own, and by chance that of what comes after it."""
        expected: dict[Transport, float] = {}
        after = LOSS
        for transport in reversed(awake):
            after = self.cost(place, transport) + (1 - self._record(place, transport).rate) * after
            expected[transport] = after
        return min(places, key=expected.__getitem__)

    def _there(self, place: Place) -> tuple[Transport, ...]:
        return tuple(one for one in self.transports if one in place.transports) or place.transports[:1]

    def _is_awake(self, place: Place, transport: Transport) -> bool:
        """Whether a transport may be used now; one whose rest is over is given to this call alone."""
        return not self._record(place, transport).rests_until or self._is_probed(place, transport)

    def _is_probed(self, place: Place, transport: Transport) -> bool:
        """Whether a transport's rest is over and nobody tries it yet: then this call does."""
        record, now = self._record(place, transport), self._clock()
        if not record.rests_until or now < max(record.rests_until, record.probed_until):
            return False
        record.probed_until = now + PROBE
        return True

    def _record(self, place: Place, transport: Transport) -> Record:
        records = self._sites if place.site else self._records
        key = (place.engine, place.region, place.site, transport)
        record = records.get(key)
        if record is None:
            record = records[key] = Record()
            if len(records) > MOST:
                records.popitem(last=False)
        else:
            records.move_to_end(key)
        return record


def may_pass(outcome: str, kind: str | None) -> bool:
    """Whether a step that ended like this may end otherwise when it is repeated.

    A status that blames the request (4xx) stays, but for 408, with which a server tells that it did not wait.
    """
    if outcome == Outcome.DEGRADED:
        return True
    blames = kind is not None and kind.startswith("http_4") and kind != "http_408"
    return outcome == Outcome.UPSTREAM and kind not in NO_SECOND and not blames


def is_same_again(steps: Sequence[Step]) -> bool:
    """Whether the last step ended as the one before it, in the same way."""
    ends = [(one["transport"], one["proxy"], one["outcome"], one["kind"]) for one in steps[-2:]]
    return len(ends) > 1 and ends[0] == ends[1]


def is_first_consent(steps: Sequence[Step]) -> bool:
    """Whether the last step met a consent page, and none before it: it is answered once."""
    return steps[-1]["kind"] == "consent" and [one["kind"] for one in steps].count("consent") == 1


def is_refused_handshake(steps: Sequence[Step]) -> bool:
    """Whether the last transport's connections were closed twice without an answer."""
    last = steps[-1]
    same = [one for one in steps if (one["transport"], one["kind"]) == (last["transport"], last["kind"])]
    return last["kind"] in HANDSHAKE and len(same) > 1
