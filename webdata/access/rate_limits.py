"""How fast a key may call: requests in a sliding window, and calls in flight (contract.md 6)."""

from collections.abc import Iterable
from itertools import count
from math import ceil
from secrets import token_hex

from webdata.domain.errors import RateLimitedError
from webdata.stores.interfaces import Limit, LimitStore, Plan


class Limits:
    """Counts with a store that processes share, and by itself while that does not answer.

    What one of the two has counted the other does not know: for as long as a window a key may make twice as many
    requests after the change from one to the other.
    """

    def __init__(self, own: LimitStore, shared: LimitStore | None = None) -> None:
        self._stores = (shared, own) if shared else (own,)
        self._name = token_hex(8)
        self._numbers = count(1)

    def entered(self, key_id: str, plan: Plan) -> "Entered":
        """Count a call, which is in flight until the block ends. The caller looks whether it was `refused`."""
        return Entered(self._stores, key_id, plan, f"{self._name}:{next(self._numbers)}")


class Entered:
    """A call in flight, counted by the first of the stores that answers."""

    def __init__(self, stores: Iterable[LimitStore], key_id: str, plan: Plan, call_id: str) -> None:
        self._stores = stores
        self._key_id = key_id
        self._plan = plan
        self._call_id = call_id

    async def __aenter__(self) -> Limit:
        for store in self._stores:
            if limit := await store.enter(self._key_id, self._plan, self._call_id):
                self._left = None if limit.refused else store
                return limit
        raise AssertionError("a process's own store always counts")

    async def __aexit__(self, *_: object) -> None:
        if self._left:
            await self._left.leave(self._key_id, self._call_id)


def limit_headers(limit: Limit) -> dict[str, str]:
    """How a key stands, for any response: seconds are rounded up, so that who waits them has waited enough.

    `RateLimit` and `RateLimit-Policy` are those of the IETF's draft
    (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
    """
    plan, reset = limit.plan, ceil(limit.reset)
    return {
        "x-ratelimit-requests-limit": str(plan.requests),
        "x-ratelimit-requests-remaining": str(limit.remaining),
        "x-ratelimit-requests-reset": str(reset),
        "ratelimit-policy": f'"requests";q={plan.requests};w={plan.seconds}',
        "ratelimit": f'"requests";r={limit.remaining};t={reset}',
    }


def check_limit(limit: Limit) -> None:
    """Raise RateLimitedError for a call that was refused."""
    plan, seconds = limit.plan, ceil(limit.retry_after)
    if limit.refused == "requests":
        made = f"This key has made the {plan.requests} requests in {plan.seconds} seconds that its plan allows"
        raise RateLimitedError(f"{made}: come back in {seconds} seconds.", seconds)
    if limit.refused == "in_flight":
        most = f"This key has as many calls in flight as its plan allows, which is {plan.in_flight}"
        raise RateLimitedError(f"{most}: let one end first.", seconds)
