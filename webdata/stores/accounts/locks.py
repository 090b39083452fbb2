"""What a change locks before it writes, so that no other one makes what it has read untrue meanwhile.

SQLite runs one transaction at a time, so these locks are PostgreSQL's. Every transaction takes them in one order,
against deadlocks: account, results, balance, key, chunks, counts, batch, webhooks; several of one kind by their ids.
"""

from collections.abc import Collection

from sqlalchemy import Connection, select

from webdata.domain.errors import ConflictError
from webdata.stores.accounts.tables import ACCOUNTS, KEYS


def lock_account(connection: Connection, account_id: str) -> None:
    """Let nobody delete this account, nor add what is counted to it, before this transaction ends.

    Raises ConflictError for one that was deleted. One that does not exist is left to the foreign keys.
    """
    query = select(ACCOUNTS.c.closed).where(ACCOUNTS.c.id == account_id).with_for_update(key_share=True)
    if connection.execute(query).scalar():
        raise ConflictError(f"the account {account_id} was deleted: its ledger is kept, and nothing is added to it")


def hold_accounts(connection: Connection, account_ids: Collection[str]) -> None:
    """Have these accounts not deleted before this transaction ends; changes of their other columns go on.

    Foreign keys lock them all the same, but later: also where a row that this transaction has written is updated again.
    """
    query = select(ACCOUNTS.c.id).where(ACCOUNTS.c.id.in_(account_ids)).order_by(ACCOUNTS.c.id)
    connection.execute(query.with_for_update(read=True, key_share=True))


def is_key_revoked(connection: Connection, key_id: str) -> bool:
    """Whether a key is revoked; one that is not is not revoked before this transaction ends."""
    query = select(KEYS.c.revoked).where(KEYS.c.id == key_id).with_for_update(read=True)
    return connection.execute(query).scalar() is not None
