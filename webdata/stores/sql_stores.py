"""The SQL stores of one database, together."""

import asyncio
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from webdata.stores.database import attach_database, open_database
from webdata.stores.ledger_process import LedgerProcess
from webdata.stores.ledger_state import Operation
from webdata.stores.ledger_writer import LedgerWriter, Results
from webdata.stores.processes import this_process
from webdata.stores.sql import SqlAccounts, SqlKeys
from webdata.stores.sql_batches import SqlBatches
from webdata.stores.sql_calls import SqlCallLog
from webdata.stores.sql_chunks import SqlChunks
from webdata.stores.sql_deliveries import SqlDeliveries
from webdata.stores.sql_events import SqlEvents
from webdata.stores.sql_history import SqlLedgerHistory
from webdata.stores.sql_ledger import SqlLedger
from webdata.stores.sql_members import SqlMembers
from webdata.stores.sql_moves import SqlMoves
from webdata.stores.sql_schedules import SqlSchedules
from webdata.stores.sql_webhooks import SqlWebhooks


class SqlStores:
    """Keys, accounts, ledger, webhooks, members and the log of calls of the database at `url`.

    With `ledger_process` a child process writes the ledger. Raises ConfigError if the database cannot be opened.
    """

    def __init__(self, url: str, *, ledger_process: bool = False) -> None:
        self._database = open_database(url)
        self.keys = SqlKeys(self._database)
        self.accounts = SqlAccounts(self._database)
        self.webhooks = SqlWebhooks(self._database)
        self.events = SqlEvents(self._database)
        self.deliveries = SqlDeliveries(self._database)
        self.batches = SqlBatches(self._database)
        self.chunks = SqlChunks(self._database)
        self.moves = SqlMoves(self._database)
        self.schedules = SqlSchedules(self._database)
        self.members = SqlMembers(self._database)
        self.calls = SqlCallLog(self._database)
        self.history = SqlLedgerHistory(self._database)
        self._ledger_process = LedgerProcess(url) if ledger_process else None
        self._writer = LedgerWriter(self._database)
        write = self._ledger_process.write if self._ledger_process else self._write_in_thread
        self.ledger = SqlLedger(self._database, this_process(), write)

    def warnings(self) -> Iterator[str]:
        """Warnings for the operator."""
        if self.ledger.failure:
            yield "the ledger could not be written when it was last tried, so paid calls are refused: see the log"

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


def attach_deliveries(url: str) -> SqlDeliveries:
    """The deliveries of the database at `url`, which another process has opened before."""
    return SqlDeliveries(attach_database(url))
