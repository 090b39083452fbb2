"""How fast a key may call: requests in a sliding window, and calls in flight (contract.md 6)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from math import ceil
from secrets import token_hex

from webdata.errors import RateLimitedError
from webdata.stores.interfaces import Limit, LimitStore, Plan


class Limits:
    """Counts with a store that processes share, and by itself while that does not answer.

    What one of the two has counted the other does not know: for as long as a window a key may make twice as many
    requests after the change from one to the other.
    """

    def __init__(self, own: LimitStore, shared: LimitStore | None = None) -> None:
        self._own = own
        self._name = token_hex(8)
        self._numbers = count(1)
        self._shared = shared

    @asynccontextmanager
    async def entered(self, key_id: str, plan: Plan) -> AsyncIterator[Limit]:
        """Count a call, which is in flight until the block ends. The caller looks whether it was `refused`."""
        call_id = f"{self._name}:{next(self._numbers)}"
        store, limit = await self._enter(key_id, plan, call_id)
        try:
            yield limit
        finally:
            if not limit.refused:
                await store.leave(key_id, call_id)

    async def _enter(self, key_id: str, plan: Plan, call_id: str) -> tuple[LimitStore, Limit]:
        if self._shared and (limit := await self._shared.enter(key_id, plan, call_id)):
            return self._shared, limit
        limit = await self._own.enter(key_id, plan, call_id)
        assert limit, "a process's own store always counts"
        return self._own, limit


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
