"""What becomes of the credit of a call: set aside before the fetch, spent or given back after it, never left.

Nothing that is asked of the ledger is cancelled, whatever becomes of the caller.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from webdata.crawling.warm_crawlers import Answer
from webdata.domain.errors import DatabaseAwayError, OutOfCreditsError
from webdata.domain.outcome import Outcome
from webdata.observability.metrics import outcome
from webdata.stores.interfaces import Caller, Ledger

logger = logging.getLogger(__name__)

Fetch = Callable[[], Awaitable[Answer]]

CHARGED = (Outcome.OK, Outcome.EMPTY)
"""Outcomes that cost a credit (contract.md 3)."""
RETRY_SECONDS = 5.0
"""Between two attempts to give a credit back while the database is away."""


class Payments:
    """All payments of a process."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.moved: Counter[str] = Counter({"reserved": 0, "committed": 0, "released": 0})
        """Credits since the start."""
        self._running: set[asyncio.Task[Answer]] = set()
        self._owed: set[asyncio.Task[None]] = set()

    def begun(self, caller: Caller, request_id: str, endpoint: str) -> "Payment":
        """That of one call."""
        return Payment(self, caller, request_id, endpoint)

    async def kept(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """What the work gives; it goes on to its end though nobody may wait for it, and `close` waits for it."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    def owe(self, request_id: str, how: str) -> None:
        """Give a credit back as soon as the database answers."""
        task = asyncio.ensure_future(self._pay_back(request_id, how))
        self._owed.add(task)
        task.add_done_callback(self._owed.discard)

    async def _pay_back(self, request_id: str, how: str) -> None:
        while True:
            try:
                await self.ledger.release(request_id, how)
            except LookupError:  # it was never set aside, or is spent, or was settled
                return
            except Exception:  # noqa: BLE001  # whatever it is, the credit is still owed
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.moved["released"] += 1
                return

    async def close(self, seconds: float) -> None:
        """Wait for what runs, up to so many seconds. What is owed then is settled at the next start."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        for task in self._owed:
            task.cancel()
        if self._owed:
            await asyncio.wait(self._owed)


class Payment:
    """The payment of one call with a live key."""

    def __init__(self, payments: Payments, caller: Caller, request_id: str, endpoint: str) -> None:
        self.cost = 0
        self.balance = caller.balance
        self._payments = payments
        self._ledger = payments.ledger
        self._request_id = request_id
        self._of = (caller.account.id, request_id, endpoint, caller.key.id)
        self._reserved = False

    async def paid(self, fetch: Fetch) -> Answer:
        """What `fetch` gives, once a credit is set aside for it, which is spent if the outcome is worth it.

        Raises OutOfCreditsError and DatabaseAwayError, and what `fetch` raises: those cost nothing.
        """
        return await self._payments.kept(self._paid(fetch))

    async def _paid(self, fetch: Fetch) -> Answer:
        await self._reserve()
        try:
            answer = await fetch()
        except Exception as error:
            await self._release(outcome(error))
            raise
        if answer.outcome in CHARGED:
            await self._commit(answer.outcome)
        else:
            await self._release(answer.outcome)
        return answer

    def free(self, how: str) -> None:
        """Note that the call was answered from the cache; one whose own fetch had failed before is noted already."""
        if not self._reserved:
            self._ledger.note(*self._of, how, cached=True)

    async def _reserve(self) -> None:
        try:
            self.balance = await self._ledger.reserve(*self._of)
        except OutOfCreditsError:
            self.balance = 0
            raise
        except (LookupError, ValueError):  # nothing was set aside for this call
            raise
        except Exception:
            self._payments.owe(self._request_id, "refused")
            raise
        self._reserved = True
        self._payments.moved["reserved"] += 1

    async def _commit(self, how: str) -> None:
        try:
            self.balance = await self._ledger.commit(self._request_id, how)
        except LookupError:  # settled meanwhile: it was given back, and the answer is a present
            logger.warning("%s was settled before it ended: it has cost nothing", self._request_id)
            return
        except Exception:
            self._payments.owe(self._request_id, "lost")
            raise
        self.cost = 1
        self._payments.moved["committed"] += 1

    async def _release(self, how: str) -> None:
        try:
            self.balance = await self._ledger.release(self._request_id, how)
        except LookupError:  # settled meanwhile
            return
        except Exception as error:  # what the fetch has to tell is worth more
            if not isinstance(error, DatabaseAwayError):
                logger.exception("the credit of %s could not be given back yet", self._request_id)
            self._payments.owe(self._request_id, how)
            return
        self._payments.moved["released"] += 1
