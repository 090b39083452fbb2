"""The SQL stores of one database, together."""

from types import TracebackType
from typing import Self

from webdata.stores.database import open_database
from webdata.stores.ledger_writer import LedgerWriter
from webdata.stores.processes import this_process
from webdata.stores.sql import SqlAccounts, SqlKeys
from webdata.stores.sql_ledger import SqlLedger


class SqlStores:
    """Keys, accounts and ledger of the database at `url`. Raises ConfigError if the database cannot be opened."""

    def __init__(self, url: str) -> None:
        self._database = open_database(url)
        self.keys = SqlKeys(self._database)
        self.accounts = SqlAccounts(self._database)
        self.ledger = SqlLedger(self._database, this_process(), LedgerWriter(self._database).write)

    def close(self) -> None:
        """Write what is queued, then close every connection."""
        self.ledger.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
