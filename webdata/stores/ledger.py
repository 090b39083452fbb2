"""The part that all ledgers share: methods that make operations."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from webdata.stores.ledger_state import Credit, End, Free, Operation, Reservation, Reserve


class BaseLedger(ABC):
    """A Ledger without storage. `process` is the name of the process whose calls it records."""

    def __init__(self, process: str) -> None:
        self._process = process

    @abstractmethod
    async def _write(self, operation: Operation) -> int:
        """Write an operation durably; returns the new balance, or raises as `LedgerState.apply`."""

    @abstractmethod
    def _post(self, operation: Operation) -> None:
        """Queue an operation, and log an error if it cannot be written."""

    @abstractmethod
    async def _reservations(self) -> Iterable[Reservation]:
        """The reservations of all processes."""

    async def credit(self, account_id: str, amount: int, note: str = "") -> int:
        return await self._write(Credit(datetime.now(UTC), account_id, amount, note))

    async def reserve(self, account_id: str, request_id: str, endpoint: str, key_id: str) -> int:
        now = datetime.now(UTC)
        return await self._write(Reserve(Reservation(request_id, account_id, key_id, endpoint, self._process, now)))

    async def commit(self, request_id: str, outcome: str, *, cached: bool = False) -> int:
        return await self._write(End(datetime.now(UTC), request_id, "commit", outcome, cached))

    async def release(self, request_id: str, outcome: str) -> int:
        return await self._write(End(datetime.now(UTC), request_id, "release", outcome))

    def note(
        self, account_id: str, request_id: str, endpoint: str, key_id: str, outcome: str, *, cached: bool = False
    ) -> None:
        self._post(Free(datetime.now(UTC), account_id, request_id, key_id, endpoint, outcome, cached))

    async def settle(self, dead: Callable[[str], bool], before: datetime) -> int:
        reservations = list(await self._reservations())
        died = {process for process in {one.process for one in reservations} if dead(process)}
        lost = [one for one in reservations if one.process in died or one.time < before]
        return sum(await asyncio.gather(*(self._release_lost(one.request_id) for one in lost)))

    async def _release_lost(self, request_id: str) -> bool:
        try:
            await self.release(request_id, "lost")
        except LookupError:  # the call ended meanwhile, or another process settles too
            return False
        return True
