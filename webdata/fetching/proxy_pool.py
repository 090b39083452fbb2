"""Which proxy a request goes through: how each has done lately decides how often it is chosen.

Every proxy has a record of its own, whether it accepts connections at all, and one with each engine, whether the site
lets it through. Both are moving success rates with a circuit breaker.
"""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Sequence
from random import Random
from time import monotonic
from typing import Any, Literal, cast, get_args

from scrapy.settings import BaseSettings

from webdata.domain.errors import QueryError
from webdata.domain.proxies import ANY, Pools, Proxy, Verdict
from webdata.fetching.circuit_breaker import LONGEST_SECONDS, CircuitBreaker, State

MEMORY = 0.2
"""How much the last attempt counts in a moving mean."""
GOOD = 0.9
"""The success rate from which on earlier failures are forgotten; a loss that leads below it opens the circuit."""
SHARPNESS = 4
"""The power of the success rate in the weight: one that fails half the time is chosen a sixteenth as often."""
USUAL_SECONDS = 1.0
"""How long an attempt is expected to take where nothing is known."""
LEAST_SECONDS, LEAST_WEIGHT = 0.05, 1e-9
FREE_PROBES = 1
CALLS_PER_PROBE = 60
"""While other circuits are closed, the first open times in a row end with a probe at once, later ones at every so many
calls."""
MOST_SESSIONS = 10_000


class ProxyRecord:
    """How a proxy has done lately, by itself or with one engine."""

    def __init__(self, breaker: CircuitBreaker):
        self.breaker = breaker
        self.rate = 1.0
        self.seconds = USUAL_SECONDS

    def won(self) -> None:
        """Close the circuit, and forget earlier failures once the rate is good again."""
        self.rate += MEMORY * (1 - self.rate)
        self.breaker.close(forget=self.rate >= GOOD)

    def lost(self) -> None:
        """Open the circuit, unless it is open: attempts that began before report nothing new."""
        self.rate -= MEMORY * self.rate
        if self.rate < GOOD:
            self.breaker.open()

    def took(self, seconds: float) -> None:
        """Count the duration of an attempt."""
        self.seconds += MEMORY * (seconds - self.seconds)


class ProxyPool:
    """The proxies of a process and how they have done.

    `clock` gives seconds that never go back, `random` decides where chance does.
    """

    def __init__(self, pools: Pools, clock: Callable[[], float] = monotonic, random: Random | None = None):
        self._pools = pools
        self._random = random or Random()  # noqa: S311  # a choice, not a secret
        self._records: defaultdict[tuple[str, str | None], ProxyRecord] = defaultdict(
            lambda: ProxyRecord(CircuitBreaker(clock, self._random))
        )
        self._reports: defaultdict[tuple[str, str], Counter[Verdict]] = defaultdict(Counter)
        self._since_probe: Counter[tuple[str, str]] = Counter()
        self._pinned: OrderedDict[tuple[str, str, str], str] = OrderedDict()

    def region_mode(self, region: str) -> Literal["proxy", "parameters"]:
        """How a site is given this region: by a proxy there, or by parameters alone."""
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
        """The proxy for a request of an engine; None where there is none, neither for the region nor for any.

        `last` is the label of the proxy that the query's fetch before this one went through, `session` the name of what
        is to stay with one proxy: while that one works it is chosen again. One to `avoid` is chosen only if all are.
        """
        pool = self._pool(region)
        candidates = ([proxy for proxy in pool if proxy.label not in avoid] if avoid else pool) or pool
        if not candidates:
            return None
        pin = (engine, region or ANY, session or "")
        last = last or self._pinned.get(pin)
        proxy = next((one for one in candidates if one.label == last and self._is_closed(engine, one)), None)
        proxy = proxy or self._chosen(engine, candidates, pin[:2])
        if session:
            self._pin(pin, proxy.label)
        return proxy

    def report(self, engine: str, label: str, verdict: Verdict, seconds: float) -> None:
        """How an attempt through a proxy ended, after so many seconds."""
        own, here = self._records[label, None], self._records[label, engine]
        self._reports[label, engine][verdict] += 1
        here.breaker.end_probe()
        if verdict == "lost":
            own.lost()
            return
        own.won()
        if verdict == "blocked":
            here.lost()
        else:
            here.won()
            here.took(seconds)

    def snapshot(self, engine: str | None = None) -> list[dict[str, Any]]:
        """Every proxy by itself, with the engines whose sites block it; or those that an engine has used, there.

        No addresses. `circuit` is the state of its breaker, which is open for `open_for` seconds more.
        """
        proxies = {proxy.label: proxy for pool in self._pools.values() for proxy in pool}
        if engine is None:
            return [{**self._row(one, None), "blocked_by": self._blocked_by(one.label)} for one in proxies.values()]
        return [self._row(one, engine) for one in proxies.values() if (one.label, engine) in self._reports]

    def _pool(self, region: str | None) -> Sequence[Proxy]:
        return self._pools.get(region or ANY) or self._pools.get(ANY, ())

    def _chosen(self, engine: str, candidates: Sequence[Proxy], pool: tuple[str, str]) -> Proxy:
        closed = [proxy for proxy in candidates if self._is_closed(engine, proxy)]
        probe = self._to_probe(engine, candidates) if len(closed) < len(candidates) else None
        if closed and not (probe and self._may_be_probed(engine, probe, pool)):
            return self._random.choices(closed, [self._weight(engine, proxy) for proxy in closed])[0]
        chosen = probe or min(candidates, key=lambda proxy: self._opens_in(engine, proxy))
        for record in self._not_closed(engine, chosen):
            record.breaker.probe()
        return chosen

    def _may_be_probed(self, engine: str, proxy: Proxy, pool: tuple[str, str]) -> bool:
        """Whether a call may be risked though other circuits are closed."""
        if max(record.breaker.openings for record in self._not_closed(engine, proxy)) <= FREE_PROBES:
            return True
        self._since_probe[pool] = (self._since_probe[pool] + 1) % CALLS_PER_PROBE
        return not self._since_probe[pool]

    def _to_probe(self, engine: str, candidates: Sequence[Proxy]) -> Proxy | None:
        """One whose circuits are all closed or to be probed."""
        for proxy in candidates:
            records = self._not_closed(engine, proxy)
            if records and all(record.breaker.may_probe for record in records):
                return proxy
        return None

    def _of(self, engine: str | None, proxy: Proxy) -> list[ProxyRecord]:
        return [self._records[proxy.label, key] for key in dict.fromkeys((None, engine))]

    def _not_closed(self, engine: str | None, proxy: Proxy) -> list[ProxyRecord]:
        return [record for record in self._of(engine, proxy) if not record.breaker.is_closed]

    def _is_closed(self, engine: str, proxy: Proxy) -> bool:
        records, label = self._records, proxy.label
        return records[label, None].breaker.is_closed and records[label, engine].breaker.is_closed

    def _opens_in(self, engine: str, proxy: Proxy) -> float:
        """Seconds until it may be probed; one that is being probed comes after all that are not."""
        breakers = [record.breaker for record in self._not_closed(engine, proxy)]
        return max(one.seconds_open for one in breakers) + LONGEST_SECONDS * any(one.is_probed for one in breakers)

    def _weight(self, engine: str, proxy: Proxy) -> float:
        here = self._records[proxy.label, engine]
        rate = self._records[proxy.label, None].rate * here.rate
        return float(rate**SHARPNESS / max(here.seconds, LEAST_SECONDS)) or LEAST_WEIGHT

    def _pin(self, pin: tuple[str, str, str], label: str) -> None:
        self._pinned[pin] = label
        self._pinned.move_to_end(pin)
        if len(self._pinned) > MOST_SESSIONS:
            self._pinned.popitem(last=False)

    def _row(self, proxy: Proxy, engine: str | None) -> dict[str, Any]:
        records = self._of(engine, proxy)
        verdicts = self._verdicts(proxy.label, engine)
        return {
            "proxy": proxy.label,
            "region": proxy.region,
            "circuit": _worst([record.breaker.state for record in records]),
            "open_for": round(max(record.breaker.seconds_open for record in records), 1),
            "success_rate": round(min(record.rate for record in records), 3),
            **{verdict: verdicts[verdict] for verdict in get_args(Verdict)},
        }

    def _blocked_by(self, label: str) -> dict[str, float]:
        """The engines whose sites block a proxy, each with its moving success rate there."""
        records = {engine: self._records[label, engine] for of, engine in list(self._reports) if of == label}
        return {name: round(record.rate, 3) for name, record in records.items() if not record.breaker.is_closed}

    def _verdicts(self, label: str, engine: str | None) -> Counter[Verdict]:
        if engine is not None:
            return self._reports[label, engine]
        return sum((count for key, count in self._reports.items() if key[0] == label), Counter[Verdict]())


def _worst(states: Collection[State]) -> State:
    return "open" if "open" in states else "half_open" if "half_open" in states else "closed"


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
