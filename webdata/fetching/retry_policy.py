"""What follows an attempt that was lost: the one place that decides about transport, proxy, pause and the end."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import monotonic
from typing import TypeVar

from webdata.domain.attempts import Attempt, Transport
from webdata.domain.errors import BlockedError, FetchError, NotFoundError, PassedOverError
from webdata.domain.outcome import Outcome, may_pass
from webdata.domain.proxies import Verdict
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import Fetch
from webdata.fetching.proxy_pool import ProxyPool
from webdata.fetching.transport_policy import Scope, TransportPolicy

OTHER_PROXY = {"captcha", "denied", "login", "proxy", "budget"}
"""Kinds of losses that may be those of the proxy."""
OTHER_TRANSPORT = {"captcha", "denied", "javascript"}
"""Kinds of blocks that another transport may pass."""
TRANSPORT_KINDS = {"browser"}
"""Kinds of failures that are those of the transport itself."""
HANDSHAKE = {"reset"}
"""Kinds of failures by which a site refuses a client that it does not take for a browser."""
FIRST_SHARE = 2 / 3
"""The part of the time that is left which a candidate may use that others follow: the rest is theirs in any case."""

Candidate = TypeVar("Candidate")
Found = TypeVar("Found")


@dataclass(frozen=True)
class NextAttempt:
    """The attempt to make: after `delay` seconds, by another proxy than those that were lost with if `other_proxy`."""

    transport: Transport
    other_proxy: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Backoff:
    """Pauses between attempts: at random up to `first` seconds, then up to twice that and so on, up to `most`.

    Full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    """

    first: float = 0.2
    most: float = 2.0

    def seconds(self, attempts: int, random: Random) -> float:
        """The pause after so many attempts, 1 or more."""
        return random.uniform(0, min(self.most, self.first * 2.0 ** min(attempts - 1, 60)))


class RetryPolicy:
    """Decides the next attempt of a fetch, and learns from each that has ended."""

    def __init__(
        self,
        transports: TransportPolicy,
        proxies: ProxyPool,
        max_attempts: int = 4,
        backoff: Backoff | None = None,
        random: Random | None = None,
    ):
        self.max_attempts = max_attempts
        self._transports = transports
        self._proxies = proxies
        self._backoff = backoff or Backoff()
        self._random = random or Random()  # noqa: S311  # no secret

    def first_transport(self, scope: Scope) -> Transport:
        """The transport that a fetch begins with."""
        return self._transports.first(scope)

    def ended(self, fetch: Fetch, error: FetchError | None) -> Attempt:
        """Record an attempt that has just ended, with the error that it was lost with."""
        attempt = fetch.end_attempt(error)
        if error is None or isinstance(error, NotFoundError):
            self._transports.report(fetch.scope, attempt["transport"], won=True, seconds=attempt["seconds"])
        if attempt["proxy"]:
            self._proxies.report(fetch.scope.engine, attempt["proxy"], verdict(attempt), attempt["seconds"])
        return attempt

    def after_loss(
        self, fetch: Fetch, error: FetchError, attempts: Sequence[Attempt] | None = None
    ) -> NextAttempt | None:
        """What follows the last attempt of a fetch, which was lost with this error; None where nothing is worth it.

        `attempts` are those of the fetch, or more that count.
        """
        following = self.after(fetch, attempts or fetch.attempts, error.retry_after)
        self._report_loss(fetch, error, following)
        return following

    def after(self, fetch: Fetch, attempts: Sequence[Attempt], retry_after: float = 0.0) -> NextAttempt | None:
        """The attempt after the last of these; None where none is worth it.

        The upstream asks to be left alone for `retry_after` seconds: where that is no longer than the longest pause of
        ours the fetch waits, once, else it ends.
        """
        if len(attempts) >= self.max_attempts:
            return None
        lost = fetch.proxy
        other_proxy = lost is not None and self._proxies.has_other(fetch.run.region, (*fetch.avoided_proxies, lost))
        following = self._following(fetch.scope, attempts, other_proxy, retry_after)
        if following is None:
            return None
        if fetch.run.seconds_left < following.delay + self._transports.cost(fetch.scope, following.transport):
            return None
        self._transports.begin(fetch.scope, following.transport)
        return following

    def _following(
        self, scope: Scope, attempts: Sequence[Attempt], other_proxy: bool, retry_after: float
    ) -> NextAttempt | None:
        last = attempts[-1]
        if other_proxy and self._may_be_the_proxy(scope, attempts):
            return NextAttempt(last["transport"], other_proxy=True)
        if retry_after > self._backoff.most or (retry_after and is_same_again(attempts)):
            return None
        if retry_after or is_first_consent(attempts):
            return NextAttempt(last["transport"], delay=retry_after)
        if last["outcome"] == Outcome.BLOCKED or is_refused_handshake(attempts):
            higher = self._escalated(scope, last)
            if higher:
                return NextAttempt(higher)
        if not may_pass(last["outcome"], last["kind"]):
            return None
        return NextAttempt(last["transport"], delay=self._backoff.seconds(len(attempts), self._random))

    def _may_be_the_proxy(self, scope: Scope, attempts: Sequence[Attempt]) -> bool:
        """Whether another proxy is worth an attempt; after a block one is left for each transport above."""
        last = attempts[-1]
        if last["outcome"] == Outcome.BLOCKED and last["kind"] in OTHER_TRANSPORT & OTHER_PROXY:
            above = self._transports.above(scope, last["transport"])
            return self.max_attempts - len(attempts) > sum(self._transports.is_closed(scope, one) for one in above)
        return last["kind"] in OTHER_PROXY or last["outcome"] == Outcome.DEGRADED

    def _escalated(self, scope: Scope, last: Attempt) -> Transport | None:
        """The next transport above that of the last attempt; for scripts the browser at once, if there is one."""
        if last["outcome"] == Outcome.BLOCKED and last["kind"] not in OTHER_TRANSPORT:
            return None
        above = self._transports.above(scope, last["transport"])
        order = reversed(above) if last["kind"] == "javascript" else above
        return next((one for one in order if self._transports.is_usable(scope, one)), None)

    def _report_loss(self, fetch: Fetch, error: FetchError, following: NextAttempt | None) -> None:
        """Count a loss against its transport: a block that others may pass, or a failure of its own.

        A request to be left alone (Retry-After) is no transport's fault, nor is a page that can be read as it is.
        """
        if error.readable:
            return
        attempt = fetch.attempts[-1]
        escalates = following is not None and following.transport != attempt["transport"]
        blocked = isinstance(error, BlockedError) and error.kind in OTHER_TRANSPORT and not error.retry_after
        if escalates or (following is None and blocked) or error.kind in TRANSPORT_KINDS:
            self._transports.report(fetch.scope, attempt["transport"], won=False, seconds=attempt["seconds"])


async def first_answer(
    candidates: Sequence[Candidate],
    breaker_of: Callable[[Candidate], CircuitBreaker],
    request: Callable[[Candidate, float], Awaitable[Found]],
    seconds: float,
    losses: tuple[type[FetchError], ...],
) -> Found:
    """What the first of the candidates (engines, providers) answers that does not fail with one of `losses`.

    Each gets FIRST_SHARE of the seconds that are left, the last one all of them, as the second argument of `request`.
    Those whose circuit is open are left out, and those that another call probes; where all are, the one that opens
    first is requested all the same. Raises the first loss of one that was asked.
    """
    end = monotonic() + seconds
    usable = [one for one in candidates if breaker_of(one).is_closed or breaker_of(one).may_probe]
    usable = usable or [min(candidates, key=lambda one: breaker_of(one).seconds_open)]
    lost: list[FetchError] = []
    for candidate in usable:
        share = 1.0 if candidate is usable[-1] else FIRST_SHARE
        breaker = breaker_of(candidate)
        if probes := breaker.may_probe:
            breaker.probe()
        try:
            found = await request(candidate, (end - monotonic()) * share)
        except losses as error:
            lost.append(error)
        else:
            if breaker.state != "open":
                breaker.close()
            return found
        finally:
            if probes:
                breaker.end_probe()
    raise min(lost, key=lambda loss: isinstance(loss, PassedOverError))


def verdict(attempt: Attempt) -> Verdict:
    """What an attempt says of its proxy: it won whatever is no failure of its own, and no block of its address."""
    if attempt["outcome"] == Outcome.BLOCKED and attempt["kind"] in OTHER_PROXY:
        return "blocked"
    return "lost" if attempt["kind"] == "proxy" else "won"


def is_same_again(attempts: Sequence[Attempt]) -> bool:
    """Whether the last two attempts ended alike."""
    ends = [(one["transport"], one["proxy"], one["outcome"], one["kind"]) for one in attempts[-2:]]
    return len(ends) > 1 and ends[0] == ends[1]


def is_first_consent(attempts: Sequence[Attempt]) -> bool:
    """Whether the last attempt met a consent page, and none before it: its form is sent once."""
    return attempts[-1]["kind"] == "consent" and [one["kind"] for one in attempts].count("consent") == 1


def is_refused_handshake(attempts: Sequence[Attempt]) -> bool:
    """Whether connections by the last transport were closed twice without an answer."""
    last = attempts[-1]
    same = [one for one in attempts if (one["transport"], one["kind"]) == (last["transport"], last["kind"])]
    return last["kind"] in HANDSHAKE and len(same) > 1
