"""Which proxy a request goes through: how each has done lately decides how often it is chosen.

Every proxy has a health of its own, whether it takes connections at all, and one with each engine, whether it is let
through there. Both are moving success rates. One that fails rests, longer each time; when the rest is over one call
probes it, and its win brings it back.
"""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import Any, Literal, Self, cast, get_args

from scrapy.settings import BaseSettings

from webdata.config.proxies import ANY, Pools, Proxy
from webdata.domain.errors import QueryError

Verdict = Literal["won", "lost", "blocked"]
"""`lost`: the proxy failed. `blocked`: the site turned it away. All else is `won`: the proxy did what it is for."""

State = Literal["awake", "resting", "due", "probed"]

MEMORY = 0.2
"""How much the last call counts in a moving mean."""
GOOD = 0.9
"""The success rate from which on earlier rests are forgotten; a loss that leads below it is followed by a rest."""
SHARPNESS = 4
"""The power of the success rate in the weight: one that fails half the time is chosen a sixteenth as often."""
USUAL_SECONDS = 1.0
"""How long a call is thought to take where none is known."""
LEAST_SECONDS, LEAST_WEIGHT = 0.05, 1e-9
FIRST_REST, LONGEST_REST = 5.0, 600.0
PROBE_SECONDS = 60.0
"""After so long a probe that nobody told the end of is given up."""
FREE_PROBES = 1
CALLS_PER_PROBE = 60
"""While others are awake, the first rests in a row end with a probe at once, later ones at every so many calls."""
MOST_SESSIONS = 10_000


@dataclass
class Health:
    """How something has done lately."""

    rate: float = 1.0
    seconds: float = USUAL_SECONDS
    rests: int = 0
    """In a row, without a good rate between them."""
    rests_until: float | None = None
    """None: awake. A time that is over: to be probed."""
    probed_at: float | None = None

    def won(self) -> None:
        """Wake, and forget the rests once the rate is good again."""
        self.rate += MEMORY * (1 - self.rate)
        self.rests_until = self.probed_at = None
        if self.rate >= GOOD:
            self.rests = 0

    def lost(self, now: float, jitter: float) -> None:
        """Rest, unless it rests already: calls that set out before tell nothing new."""
        self.rate -= MEMORY * self.rate
        self.probed_at = None
        if self.rate < GOOD and (self.rests_until is None or self.rests_until <= now):
            self.rests_until = now + min(FIRST_REST * 2**self.rests, LONGEST_REST) * jitter
            self.rests = min(self.rests + 1, 10)

    def took(self, seconds: float) -> None:
        """Count the seconds of a call."""
        self.seconds += MEMORY * (seconds - self.seconds)

    def probing(self, now: float) -> bool:
        """Whether a call is on its way that tells if it is well again."""
        return self.probed_at is not None and now - self.probed_at < PROBE_SECONDS


class Proxies:
    """The proxies of a process and their health.

    `clock` gives seconds that never go back, `dice` decides where chance does.
    """

    def __init__(self, pools: Pools, clock: Callable[[], float] = monotonic, dice: Random | None = None):
        self._pools = pools
        self._clock = clock
        self._dice = dice or Random()  # noqa: S311  # a choice, not a secret
        self._health: defaultdict[tuple[str, str | None], Health] = defaultdict(Health)
        self._reports: defaultdict[tuple[str, str], Counter[Verdict]] = defaultdict(Counter)
        self._since_probe: Counter[tuple[str, str]] = Counter()
        self._pinned: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Those that the crawlers with these settings use."""
        return cls(used_pools(settings))

    def region_mode(self, region: str) -> Literal["proxy", "parameters"]:
        """How a site is told this region: the call goes out from there, or by parameters alone."""
        return "proxy" if self.has_pool(region) else "parameters"

    def has_pool(self, region: str) -> bool:
        """Whether calls for a region go out from there."""
        return bool(self._pools.get(region))

    def has_other(self, region: str | None, avoid: Collection[str]) -> bool:
        """Whether there is a proxy to choose besides those to avoid."""
        return any(proxy.label not in avoid for proxy in self._pool(region))

    def choose(
        self,
        engine: str,
        region: str | None,
        session: str | None = None,
        avoid: Collection[str] = (),
        last: str | None = None,
    ) -> Proxy | None:
        """The proxy for a call to an engine; None where there is none, neither for the region nor for any.

        `last` is the label that the query's fetch before this one went through, `session` the name of what is to
        keep to one proxy: while that one is well it is chosen again. One to `avoid` is chosen only if all are.
        """
        pool = self._pool(region)
        candidates = ([proxy for proxy in pool if proxy.label not in avoid] if avoid else pool) or pool
        if not candidates:
            return None
        place = (engine, region or ANY)
        pin = (*place, session or "")
        last = last or self._pinned.get(pin)
        proxy = self._kept(engine, candidates, last) or self._chosen(engine, candidates, place)
        if session:
            self._pin(pin, proxy.label)
        return proxy

    def report(self, engine: str, label: str, verdict: Verdict, seconds: float) -> None:
        """Tell how a call through a proxy ended, after so many seconds."""
        now, jitter = self._clock(), self._dice.uniform(0.5, 1)
        own, here = self._health[label, None], self._health[label, engine]
        self._reports[label, engine][verdict] += 1
        here.probed_at = None
        if verdict == "lost":
            own.lost(now, jitter)
            return
        own.won()
        if verdict == "blocked":
            here.lost(now, jitter)
        else:
            here.won()
            here.took(seconds)

    def snapshot(self, engine: str | None = None) -> list[dict[str, Any]]:
        """Every proxy by itself, with the engines whose sites turn it away; or those that an engine has used, there.

        No addresses. `state` is `awake`, `resting` (for `rests_for` seconds more), `due` (its rest is over: a call to
        come probes it) or `probed` (one does).
        """
        proxies = {proxy.label: proxy for pool in self._pools.values() for proxy in pool}
        if engine is None:
            return [{**self._shown(one, None), "turned_away": self._turned_away(one.label)} for one in proxies.values()]
        return [self._shown(one, engine) for one in proxies.values() if (one.label, engine) in self._reports]

    def _pool(self, region: str | None) -> Sequence[Proxy]:
        return self._pools.get(region or ANY) or self._pools.get(ANY, ())

    def _kept(self, engine: str, candidates: Sequence[Proxy], label: str | None) -> Proxy | None:
        return next((proxy for proxy in candidates if proxy.label == label and self._awake(engine, proxy)), None)

    def _chosen(self, engine: str, candidates: Sequence[Proxy], pool: tuple[str, str]) -> Proxy:
        awake = [proxy for proxy in candidates if self._awake(engine, proxy)]
        probe = self._to_probe(engine, candidates) if len(awake) < len(candidates) else None
        if awake and not (probe and self._may_be_probed(engine, probe, pool)):
            return self._dice.choices(awake, [self._weight(engine, proxy) for proxy in awake])[0]
        chosen = probe or min(candidates, key=lambda proxy: self._rested_at(engine, proxy))
        for health in self._resting(engine, chosen):
            health.probed_at = self._clock()
        return chosen

    def _may_be_probed(self, engine: str, proxy: Proxy, pool: tuple[str, str]) -> bool:
        """Whether a call may be risked though others are awake."""
        if max(health.rests for health in self._resting(engine, proxy)) <= FREE_PROBES:
            return True
        self._since_probe[pool] = (self._since_probe[pool] + 1) % CALLS_PER_PROBE
        return not self._since_probe[pool]

    def _to_probe(self, engine: str, candidates: Sequence[Proxy]) -> Proxy | None:
        """The one whose rest is over the longest, unless it is probed already."""
        now = self._clock()
        over = [
            proxy
            for proxy in candidates
            if (resting := self._resting(engine, proxy))
            and self._rested_at(engine, proxy) <= now
            and not any(health.probing(now) for health in resting)
        ]
        return min(over, key=lambda proxy: self._rested_at(engine, proxy), default=None)

    def _states(self, engine: str | None, proxy: Proxy) -> list[Health]:
        return [self._health[proxy.label, key] for key in dict.fromkeys((None, engine))]

    def _resting(self, engine: str | None, proxy: Proxy) -> list[Health]:
        return [health for health in self._states(engine, proxy) if health.rests_until is not None]

    def _awake(self, engine: str, proxy: Proxy) -> bool:
        health, label = self._health, proxy.label
        return health[label, None].rests_until is None and health[label, engine].rests_until is None

    def _rested_at(self, engine: str | None, proxy: Proxy) -> float:
        """When its rest is over; one that is being probed comes after all that are not."""
        resting, now = self._resting(engine, proxy), self._clock()
        until = max(health.rests_until or now for health in resting)
        return until + LONGEST_REST * any(health.probing(now) for health in resting)

    def _weight(self, engine: str, proxy: Proxy) -> float:
        here = self._health[proxy.label, engine]
        rate = self._health[proxy.label, None].rate * here.rate
        return float(rate**SHARPNESS / max(here.seconds, LEAST_SECONDS)) or LEAST_WEIGHT

    def _pin(self, pin: tuple[str, str, str], label: str) -> None:
        self._pinned[pin] = label
        self._pinned.move_to_end(pin)
        if len(self._pinned) > MOST_SESSIONS:
            self._pinned.popitem(last=False)

    def _shown(self, proxy: Proxy, engine: str | None) -> dict[str, Any]:
        states = self._states(engine, proxy)
        rests = [health.rests_until - self._clock() for health in states if health.rests_until is not None]
        verdicts = self._verdicts(proxy.label, engine)
        return {
            "proxy": proxy.label,
            "region": proxy.region,
            "state": _state(states, self._clock()),
            "rests_for": round(max(0.0, *rests, 0.0), 1),
            "success_rate": round(min(health.rate for health in states), 3),
            **{verdict: verdicts[verdict] for verdict in get_args(Verdict)},
        }

    def _turned_away(self, label: str) -> dict[str, float]:
        """The engines whose sites turn a proxy away, each with its moving success rate there."""
        healths = {engine: self._health[label, engine] for of, engine in list(self._reports) if of == label}
        return {name: round(health.rate, 3) for name, health in healths.items() if health.rests_until is not None}

    def _verdicts(self, label: str, engine: str | None) -> Counter[Verdict]:
        if engine is not None:
            return self._reports[label, engine]
        return sum((count for key, count in self._reports.items() if key[0] == label), Counter[Verdict]())


def _state(states: Collection[Health], now: float) -> State:
    rests = [health.rests_until for health in states if health.rests_until is not None]
    if not rests:
        return "awake"
    if any(health.probing(now) for health in states):
        return "probed"
    return "resting" if max(rests) > now else "due"


def used_pools(settings: BaseSettings) -> Pools:
    """The pools of the crawlers with these settings: none in the sandbox, unless its own proxies are meant."""
    return {} if _plain_sandbox(settings) else cast(Pools, settings.get("PROXIES") or {})


def check_region(region: str, settings: BaseSettings) -> None:
    """Raise QueryError for a region without a pool, where `REGION_MODE` is `refuse`; the plain sandbox has them all."""
    there_are = sorted(used_pools(settings).keys() - {ANY})
    if settings.get("REGION_MODE") != "refuse" or _plain_sandbox(settings) or region in there_are:
        return
    right = f"give one of {', '.join(there_are)}, or none" if there_are else "give none"
    message = f"X-Proxy-Location cannot be {str(region)!r}, where there is no proxy: {right}"
    raise QueryError([{"loc": ["header", "X-Proxy-Location"], "msg": message, "type": "no_proxy"}])


def _plain_sandbox(settings: BaseSettings) -> bool:
    return settings.getbool("SANDBOX") and not settings.getbool("SANDBOX_PROXIES")
