"""The stores of the commands, and their errors as messages."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any

import click

from webdata.config.config import Config
from webdata.domain.errors import ConflictError, OutOfCreditsError
from webdata.stores.accounts.model import Account
from webdata.stores.accounts.sql import AccountStore
from webdata.stores.sql_stores import SqlStores


@contextmanager
def open_stores(config: Config) -> Iterator[SqlStores]:
    """The stores of the configured database; their refusals are raised as usage errors."""
    try:
        with SqlStores(config.database) as stores:
            yield stores
    except (ValueError, ConflictError, OutOfCreditsError) as error:
        raise click.UsageError(str(error)) from error


def over_stores(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A command that is given the stores before its options."""

    @click.pass_obj
    def run(config: Config, /, **options: Any) -> None:
        with open_stores(config) as stores:
            asyncio.run(command(stores, **options))

    return update_wrapper(run, command)


async def find_account(accounts: AccountStore, name: str) -> Account:
    """The account of this name or id; raises ValueError that names the existing accounts."""
    account = await accounts.find(name)
    if account is None:
        names = ", ".join(one.name for one in await accounts.all())
        raise ValueError(f"there is no account {name!r}: the accounts are {names}; `webdata accounts create` makes one")
    return account
