"""What every ledger does alike: its methods as operations on the books."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from webdata.stores.books import Credit, End, Free, Operation, Reservation, Reserve


class BookLedger(ABC):
    """A Ledger, but for how operations are done. `process` is who it writes for."""

    def __init__(self, process: str) -> None:
        self._process = process

    @abstractmethod
    async def _do(self, operation: Operation) -> int:
        """Do it durably; gives the balance of its account after it, or raises what the books do."""

    @abstractmethod
    def _post(self, operation: Operation) -> None:
        """Do it soon."""

    @abstractmethod
    async def _reservations(self) -> Iterable[Reservation]:
        """What is set aside, by anybody."""

    async def credit(self, account_id: str, amount: int, note: str = "") -> int:
        return await self._do(Credit(datetime.now(UTC), account_id, amount, note))

    async def reserve(self, account_id: str, request_id: str, endpoint: str, key_id: str) -> int:
        now = datetime.now(UTC)
        return await self._do(Reserve(Reservation(request_id, account_id, key_id, endpoint, self._process, now)))

    async def commit(self, request_id: str, outcome: str, *, cached: bool = False) -> int:
        return await self._do(End(datetime.now(UTC), request_id, "commit", outcome, cached))

    async def release(self, request_id: str, outcome: str) -> int:
        return await self._do(End(datetime.now(UTC), request_id, "release", outcome))

    def note(
        self, account_id: str, request_id: str, endpoint: str, key_id: str, outcome: str, *, cached: bool = False
    ) -> None:
        self._post(Free(datetime.now(UTC), account_id, request_id, key_id, endpoint, outcome, cached))

    async def settle(self, dead: Callable[[str], bool], before: datetime) -> int:
        reservations = list(await self._reservations())
        gone = {process for process in {one.process for one in reservations} if dead(process)}
        lost = [one for one in reservations if one.process in gone or one.time < before]
        return sum(await asyncio.gather(*(self._give_back(one.request_id) for one in lost)))

    async def _give_back(self, request_id: str) -> bool:
        try:
            await self.release(request_id, "lost")
        except LookupError:  # its call ended meanwhile, or somebody else settles too
            return False
        return True
