"""Stores of each kind of database."""

from types import SimpleNamespace

import pytest
from sqlalchemy import select

from tests.memory_stores import MemoryAccounts, MemoryDatabase, MemoryKeys, MemoryLedger
from webdata.stores.accounts.tables import MOVEMENTS
from webdata.stores.ledger.model import Movement
from webdata.stores.sql_stores import SqlStores


def memory_stores(process="here:1:1"):
    database = MemoryDatabase()
    return SimpleNamespace(
        database=database,
        keys=MemoryKeys(database),
        accounts=MemoryAccounts(database),
        ledger=MemoryLedger(database, process),
    )


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def stores(request):
    """Keys, accounts and ledger of each kind."""
    if request.param == "memory":
        yield memory_stores()
        return
    with SqlStores(request.getfixturevalue(request.param)) as stores:
        yield stores


@pytest.fixture
def movements():
    """`movements(stores)`: all movements of the ledger, oldest first."""

    def read(stores):
        if isinstance(stores, SimpleNamespace):
            return list(stores.database.movements)
        with stores._database.reads.connect() as connection:
            rows = connection.execute(select(MOVEMENTS).order_by(MOVEMENTS.c.id)).all()
        return [Movement(**{name: value for name, value in row._asdict().items() if name != "id"}) for row in rows]

    return read


@pytest.fixture
def empty_postgresql(postgresql_server, postgresql_admin):
    """The URL of a PostgreSQL database without tables."""
    postgresql_admin("CREATE DATABASE bare")
    yield f"{postgresql_server}bare"
    postgresql_admin("DROP DATABASE bare WITH (FORCE)")
