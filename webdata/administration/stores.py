"""What the commands open and find."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from webdata.config.config import Config
from webdata.domain.errors import OutOfCreditsError
from webdata.stores.interfaces import Account, AccountStore
from webdata.stores.sql_stores import SqlStores


@contextmanager
def opened(config: Config) -> Iterator[SqlStores]:
    """The stores; what they refuse becomes a message."""
    try:
        with SqlStores(config.database) as stores:
            yield stores
    except (ValueError, OutOfCreditsError) as error:
        raise click.UsageError(str(error)) from error


async def account_of(accounts: AccountStore, name: str) -> Account:
    """The account of this name or id; raises ValueError that tells those that there are."""
    account = await accounts.find(name)
    if account is None:
        there = ", ".join(one.name for one in await accounts.all())
        raise ValueError(f"there is no account {name!r}: the accounts are {there}; `webdata accounts create` makes one")
    return account
