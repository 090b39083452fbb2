"""What the stores of a database share: methods that are one transaction, written as functions of its connection."""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from webdata.stores.database.database import Database

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Store")
Work = Callable[Concatenate[S, Connection, P], T]
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


class Store:
    """Tables of one subject."""

    def __init__(self, database: Database) -> None:
        self._database = database


def reading(work: Work[S, P, T]) -> Method[S, P, T]:
    """A method that reads, by `Database.read`."""
    return _method(Database.read, work)


def reading_apart(work: Work[S, P, T]) -> Method[S, P, T]:
    """A method that reads many rows, by `Database.read_apart`."""
    return _method(Database.read_apart, work)


def writing(*, durable: bool = True) -> Callable[[Work[S, P, T]], Method[S, P, T]]:
    """A method that writes, by `Database.write`."""
    return lambda work: _method(partial(Database.write, durable=durable), work)


def _method(run: Callable[..., Coroutine[Any, Any, T]], work: Work[S, P, T]) -> Method[S, P, T]:
    @wraps(work)
    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await run(self._database, lambda connection: work(self, connection, *args, **kwargs))

    return method
