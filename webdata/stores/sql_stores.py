"""The SQL stores of one database, together."""

from types import TracebackType
from typing import Self

from webdata.stores.bookkeeper import Bookkeeper
from webdata.stores.database import open_database
from webdata.stores.processes import this_process
from webdata.stores.sql import SqlAccounts, SqlKeys
from webdata.stores.sql_books import SqlBooks
from webdata.stores.sql_ledger import SqlLedger


class SqlStores:
    """Keys, accounts and ledger of the database at `url`, until they are closed.

    With `apart` the ledger is written by a process of its own. Raises ConfigError if it cannot be opened.
    """

    def __init__(self, url: str, *, apart: bool = False) -> None:
        self._database = open_database(url)
        self.keys = SqlKeys(self._database)
        self.accounts = SqlAccounts(self._database)
        self._bookkeeper = Bookkeeper(url) if apart else None
        write = self._bookkeeper.write if self._bookkeeper else SqlBooks(self._database).write
        self.ledger = SqlLedger(self._database, this_process(), write)

    def close(self) -> None:
        """Finish what was begun, and let go of every connection."""
        self.ledger.close()
        if self._bookkeeper:
            self._bookkeeper.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
