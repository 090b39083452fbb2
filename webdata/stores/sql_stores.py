"""The SQL stores of one database, together."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from sqlalchemy import bindparam, text

from webdata.runtime.process.names import this_process
from webdata.stores.accounts.members import MemberStore
from webdata.stores.accounts.sql import AccountStore, KeyStore
from webdata.stores.accounts.tables import Moment
from webdata.stores.answers.sql import AnswerStore
from webdata.stores.batches.chunks import ChunkStore
from webdata.stores.batches.moves import MoveStore
from webdata.stores.batches.schedules import ScheduleStore
from webdata.stores.batches.sql import BatchStore
from webdata.stores.calls.sql import CallLog
from webdata.stores.database.database import attach_database, open_database
from webdata.stores.ledger.history import LedgerHistory
from webdata.stores.ledger.ledger_process import LedgerProcess
from webdata.stores.ledger.ledger_state import Operation
from webdata.stores.ledger.ledger_writer import LedgerWriter, Results
from webdata.stores.ledger.sql import Ledger
from webdata.stores.ledger.upstream_requests import UpstreamRequests
from webdata.stores.watch.sql import WatchStore
from webdata.stores.webhooks.deliveries import DeliveryStore
from webdata.stores.webhooks.events import EventStore
from webdata.stores.webhooks.sql import WebhookStore

CHECK_WRITES = text(
    "INSERT INTO leaders (name, process, until) VALUES ('check', :process, :until) ON CONFLICT (name) DO UPDATE "
    "SET process = excluded.process, until = excluded.until"
).bindparams(bindparam("until", type_=Moment))


class SqlStores:
    """Keys, accounts, ledger, webhooks, members and the log of calls of the database at `url`.

    With `ledger_process` a child process writes the ledger. Raises ConfigError if the database cannot be opened.
    """

    def __init__(self, url: str, *, ledger_process: bool = False) -> None:
        self._database = open_database(url)
        self.keys = KeyStore(self._database)
        self.accounts = AccountStore(self._database)
        self.webhooks = WebhookStore(self._database)
        self.events = EventStore(self._database)
        self.deliveries = DeliveryStore(self._database)
        self.batches = BatchStore(self._database)
        self.chunks = ChunkStore(self._database)
        self.moves = MoveStore(self._database)
        self.schedules = ScheduleStore(self._database)
        self.members = MemberStore(self._database)
        self.calls = CallLog(self._database)
        self.history = LedgerHistory(self._database)
        self.upstream_requests = UpstreamRequests(self._database)
        self.watch = WatchStore(self._database)
        self.answers = AnswerStore(self._database)
        self._ledger_process = LedgerProcess(url) if ledger_process else None
        self._writer = LedgerWriter(self._database)
        write = self._ledger_process.write if self._ledger_process else self._write_in_thread
        self.ledger = Ledger(self._database, this_process(), write)

    def warnings(self) -> Iterator[str]:
        """Warnings for the operator."""
        if self.ledger.failure:
            yield "the ledger could not be written when it was last tried, so paid calls are refused: see the log"

    async def check(self) -> None:
        """Raise DatabaseUnavailableError where keys cannot be looked up, or nothing written, as on a standby server."""
        await self.keys.find("")
        if not self._database.embedded:
            row = {"process": this_process(), "until": datetime.now(UTC)}
            await self._database.write(lambda connection: connection.execute(CHECK_WRITES, row), durable=False)

    def close(self) -> None:
        """Close every connection; `ledger.flush` before, or queued records are lost."""
        self.ledger.close()
        self.chunks.close()
        if self._ledger_process:
            self._ledger_process.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def _write_in_thread(self, operations: Sequence[Operation]) -> Results:
        return await asyncio.to_thread(self._writer.write, operations)


def attach_deliveries(url: str) -> DeliveryStore:
    """The deliveries of the database at `url`, which another process has opened before."""
    return DeliveryStore(attach_database(url))
