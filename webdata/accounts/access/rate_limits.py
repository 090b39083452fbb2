"""How fast a key may call: requests in a sliding window, and calls in flight (`docs/api.md`)."""

from contextlib import AbstractAsyncContextManager
from itertools import count
from math import ceil
from secrets import token_hex

from webdata.domain.errors import RateLimitedError
from webdata.stores.accounts.model import Plan
from webdata.stores.ephemeral.interfaces import Limit, LimitStore


class RateLimits:
    """Counts calls in a store that processes share, and in the process's own store while that does not answer.

    The two counts are independent: for one window after a change from one to the other a key may make twice as many
    requests.
    """

    def __init__(self, own: LimitStore, shared: LimitStore | None = None) -> None:
        self._stores = (shared, own) if shared else (own,)
        self._name = token_hex(8)
        self._numbers = count(1)

    def counted(self, key_id: str, plan: Plan) -> AbstractAsyncContextManager[Limit]:
        """Count a call, which is in flight until the block ends. `check_limit` raises where it was refused."""
        return _Counted(self._stores, key_id, plan, f"{self._name}:{next(self._numbers)}")


class _Counted(AbstractAsyncContextManager[Limit]):
    """A call in flight, counted by the first of the stores that answers. A class: it costs a tenth of a generator."""

    def __init__(self, stores: tuple[LimitStore, ...], key_id: str, plan: Plan, call_id: str) -> None:
        self._stores = stores
        self._key_id = key_id
        self._plan = plan
        self._call_id = call_id

    async def __aenter__(self) -> Limit:
        for store in self._stores:
            if limit := await store.enter(self._key_id, self._plan, self._call_id):
                self._counted_by = None if limit.refused else store
                return limit
        raise AssertionError("a process's own store always counts")

    async def __aexit__(self, *_: object) -> None:
        if self._counted_by:
            await self._counted_by.leave(self._key_id, self._call_id)


def limit_headers(limit: Limit) -> dict[str, str]:
    """The rate limit's headers of any response; seconds are rounded up, so that waiting that long is enough.

    `RateLimit` and `RateLimit-Policy` are those of an IETF draft
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
