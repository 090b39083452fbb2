"""Statements that the driver runs."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import bindparam, insert, select

from webdata.errors import DatabaseAwayError
from webdata.stores.database import open_database
from webdata.stores.prepared import Prepared, among, cursor
from webdata.stores.tables import KEYS, RESERVATIONS

ROWS = [
    {"request_id": f"req_{n}", "account_id": "a", "key_id": "k'%s?", "endpoint": ":ü", "process": "p", "time": time}
    for n, time in enumerate([datetime(2026, 1, 2, 3, 4, 5, 6, UTC), datetime(1999, 12, 31, tzinfo=UTC)])
]


@pytest.fixture
def database(url):
    one = open_database(url)
    yield one
    one.close()


def found(database, sought):
    statement = select(RESERVATIONS).where(among(RESERVATIONS.c.request_id, "ids", database.reads.dialect))
    prepared = Prepared(statement.order_by(RESERVATIONS.c.request_id), database.reads.dialect)
    with database.reads.connect() as connection, cursor(connection) as on:
        return [row._asdict() for row in prepared.all(on, {"ids": sought})]


def test_rows_come_back_as_they_were(database):
    """Rows that were added are found by any number of ids, in Python's types, with the columns' names."""
    add = Prepared(insert(RESERVATIONS), database.writes.dialect, list(ROWS[0]))
    with database.writes.begin() as connection, cursor(connection) as on:
        add.run_all(on, ROWS)
    assert found(database, ["req_0", "req_1", "req_none"]) == ROWS
    assert found(database, ["req_1"]) == ROWS[1:]
    assert found(database, []) == []
    assert found(database, ["'; DROP TABLE reservations; --", "ü", "?"]) == []


def test_the_first_row(database):
    """The first row is given as the driver has it, or None."""
    prepared = Prepared(select(KEYS).where(KEYS.c.digest == bindparam("sought")), database.reads.dialect)
    with database.reads.connect() as connection, cursor(connection) as on:
        assert prepared.first(on, {"sought": "none"}) is None


def test_a_database_that_does_not_answer(database):
    """The driver's own errors are told as those of a database that is away."""
    driver = database.reads.dialect.loaded_dbapi
    with database.reads.connect() as connection, pytest.raises(DatabaseAwayError, match="gone"), cursor(connection):
        raise driver.OperationalError("gone\nwith details")
