"""The credit of a call: reserved before the fetch, committed or released after it, never left reserved."""

import asyncio
import logging
from collections import Counter
from types import TracebackType
from typing import Self

from webdata.domain.errors import DatabaseUnavailableError, OutOfCreditsError, outcome_of
from webdata.domain.outcome import Outcome
from webdata.stores.accounts.model import Caller
from webdata.stores.ledger.sql import Ledger

logger = logging.getLogger(__name__)

CHARGED = (Outcome.OK, Outcome.EMPTY)
"""Outcomes that cost a credit."""
RETRY_SECONDS = 5.0
"""Between two attempts to release a credit while the database is away."""


class Credits:
    """The payments of a process."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.moved: Counter[str] = Counter({"reserved": 0, "committed": 0, "released": 0})
        """Credits since the start."""
        self._refunds: set[asyncio.Task[None]] = set()
        self._open = 0
        self._none_open = asyncio.Event()
        self._none_open.set()

    def payment(self, caller: Caller, request_id: str, endpoint: str) -> "Payment":
        """The payment of one call."""
        return Payment(self, caller, request_id, endpoint)

    def opened(self) -> None:
        """Count a payment that begins."""
        self._open += 1
        self._none_open.clear()

    def closed(self) -> None:
        """A payment is settled."""
        self._open -= 1
        if not self._open:
            self._none_open.set()

    def schedule_refund(self, request_id: str, how: str) -> None:
        """Release a credit as soon as the database answers."""
        task = asyncio.ensure_future(self._refund(request_id, how))
        self._refunds.add(task)
        task.add_done_callback(self._refunds.discard)

    async def _refund(self, request_id: str, how: str) -> None:
        while True:
            try:
                await self.ledger.release(request_id, how)
            except LookupError:  # it was never reserved, or is committed, or was settled
                return
            except Exception:  # noqa: BLE001  # whatever it is, the refund is still due
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.moved["released"] += 1
                return

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for open payments. Refunds that are then still due are made at the next start."""
        try:
            async with asyncio.timeout(seconds):
                await self._none_open.wait()
        except TimeoutError:
            logger.warning("%d calls have not ended: their credits are released at the next start", self._open)
        for task in self._refunds:
            task.cancel()
        if self._refunds:
            await asyncio.wait(self._refunds)


class Payment:
    """The payment of one call: `async with payment` reserves a credit, and releases it unless `settle` is
    called with an outcome that costs one. `reprice` reserves what an engine costs before it is asked.

    Calls with a test key cost nothing. Entering raises OutOfCreditsError and DatabaseUnavailableError.
    """

    def __init__(self, credits: Credits, caller: Caller, request_id: str, endpoint: str) -> None:
        self.cost = 0
        self.balance = caller.balance
        self._credits = credits
        self._ledger = credits.ledger
        self._request_id = request_id
        self._for = (caller.account.id, request_id, endpoint, caller.key.id)
        self._free = caller.key.test
        self._reserved = False
        self._price = 1
        """Credits that are reserved."""
        self._outcome: Outcome | None = None

    async def __aenter__(self) -> Self:
        if not self._free:
            self._credits.opened()
            try:
                await self._reserve()
            except BaseException:
                self._credits.closed()
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._free:
            return
        try:
            if error is not None:
                await self._release(outcome_of(error))
            elif self._outcome in CHARGED:
                await self._commit(self._outcome)
            else:
                await self._release(self._outcome or "lost")
        finally:
            self._credits.closed()

    def settle(self, outcome: Outcome) -> None:
        """Set the outcome of the fetch, which decides whether the credit is spent."""
        self._outcome = outcome

    async def reprice(self, price: int) -> None:
        """Have what the call costs by the engine that is asked next reserved.

        Raises OutOfCreditsError where the account has less.
        """
        if self._free or price == self._price:
            return
        self.balance = await self._ledger.reprice(self._request_id, price)
        self._credits.moved["reserved"] += max(price - self._price, 0)
        self._credits.moved["released"] += max(self._price - price, 0)
        self._price = price

    def note_hit(self, how: str) -> None:
        """Record a cache hit in the ledger, unless the call's own fetch failed before, which is recorded already."""
        if not self._free and not self._reserved:
            self._ledger.note(*self._for, how, cached=True)

    async def _reserve(self) -> None:
        try:
            self.balance = await self._ledger.reserve(*self._for)
        except OutOfCreditsError:
            self.balance = 0
            raise
        except (LookupError, ValueError):  # nothing was reserved for this call
            raise
        except BaseException:
            self._credits.schedule_refund(self._request_id, "refused")
            raise
        self._reserved = True
        self._credits.moved["reserved"] += 1

    async def _commit(self, how: str) -> None:
        try:
            self.balance = await self._ledger.commit(self._request_id, how)
        except LookupError:  # released meanwhile: the answer is free
            logger.warning("%s was settled before it ended: it has cost nothing", self._request_id)
            return
        except Exception:
            self._credits.schedule_refund(self._request_id, "lost")
            raise
        self.cost = self._price
        self._credits.moved["committed"] += self._price

    async def _release(self, how: str) -> None:
        try:
            self.balance = await self._ledger.release(self._request_id, how)
        except LookupError:  # settled meanwhile
            return
        except Exception as error:  # the caller gets the fetch's own error
            if not isinstance(error, DatabaseUnavailableError):
                logger.exception("the credit of %s could not be released yet", self._request_id)
            self._credits.schedule_refund(self._request_id, how)
            return
        self._credits.moved["released"] += self._price
