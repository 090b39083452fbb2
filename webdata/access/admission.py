"""The order of a call between its key and its answer: who calls, how fast, and what it costs (contract.md 2 and 6).

A key opens, the call is counted in its window and in flight, the cache is asked, a credit is set aside, the page is
fetched, the credit is spent or given back. What is spent is durable before the answer leaves.
"""

from collections import Counter
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from webdata.access.api_keys import Access
from webdata.access.cache import Cache, CacheControl, Hit
from webdata.access.credits import Payments
from webdata.access.rate_limits import Limits, check_limit, limit_headers
from webdata.api.params import Header
from webdata.crawling.warm_crawlers import Answer, Call, Calls
from webdata.stores.interfaces import Caller, Ledger, Limit


@dataclass
class Standing:
    """How a caller stands, as far as it is known yet; every response tells it once the key has opened."""

    limit: Limit | None = None
    cost: int = 0
    """Credits that this call has cost."""
    balance: int = 0
    """Credits that are left."""

    def headers(self) -> dict[str, str]:
        """What a response tells of it."""
        if self.limit is None:
            return {}
        credits_left = {"x-credits-cost": str(self.cost), "x-credits-remaining": str(self.balance)}
        return credits_left | limit_headers(self.limit)


class Admitted(AbstractAsyncContextManager[Caller]):
    """A caller who is let in."""

    def __init__(self, caller: Awaitable[Caller], limits: Limits, standing: Standing) -> None:
        self._caller = caller
        self._limits = limits
        self._standing = standing

    async def __aenter__(self) -> Caller:
        caller = await self._caller
        self._entered = self._limits.entered(caller.key.id, caller.account.plan)
        limit = await self._entered.__aenter__()
        self._standing.limit, self._standing.balance = limit, caller.balance
        check_limit(limit)
        return caller

    async def __aexit__(self, *_: object) -> None:
        await self._entered.__aexit__()


class Admission:
    """Lets calls in and has them answered, by the cache or by whoever answers calls."""

    def __init__(self, access: Access, limits: Limits, cache: Cache, ledger: Ledger, calls: Calls) -> None:
        self.ledger = ledger
        self._access = access
        self._limits = limits
        self._cache = cache
        self._calls = calls
        self._payments = Payments(ledger)
        self._asked: Counter[str] = Counter({"HIT": 0, "STALE": 0, "MISS": 0})

    def snapshot(self) -> dict[str, Any]:
        """How often the cache had an answer, and how many credits moved, since the start."""
        return {"cache": dict(self._asked), "credits": dict(self._payments.moved)}

    def admitted(
        self, header: Header, standing: Standing, endpoint: str | None = None
    ) -> AbstractAsyncContextManager[Caller]:
        """Who calls, counted until the block ends; `standing` learns how they stand.

        Raises UnauthorizedError, RateLimitedError, DatabaseAwayError.
        """
        return Admitted(self._access.authenticate(header, endpoint), self._limits, standing)

    async def answer(
        self, caller: Caller, call: Call, request_id: str, control: CacheControl, standing: Standing
    ) -> Answer | Hit:
        """The answer to an admitted call; `standing` learns what it has cost.

        Test keys pay for nothing. Raises OutOfCreditsError, DatabaseAwayError, and what the fetch raises.
        """
        fetch = self._calls.answer
        if caller.key.test:
            return self._counted(await self._cache.answer(call, fetch, control))
        payment = self._payments.begun(caller, request_id, call.resource.name)
        try:
            found = await self._cache.answer(call, lambda call: payment.paid(partial(fetch, call)), control)
            if isinstance(found, Hit):
                payment.free(found.kept.outcome)
        finally:
            standing.cost, standing.balance = payment.cost, payment.balance
        return self._counted(found)

    def _counted(self, found: Answer | Hit) -> Answer | Hit:
        self._asked[found.state if isinstance(found, Hit) else "MISS"] += 1
        return found

    async def close(self, seconds: float) -> None:
        """Let what is paid for come to its end for up to so many seconds, and tell of the last uses of keys."""
        await self._payments.close(seconds)
        await self._access.close()
