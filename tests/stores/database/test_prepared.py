"""Prepared statements on each kind of database."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import bindparam, insert, select, update

from webdata.domain.errors import DatabaseUnavailableError
from webdata.stores.accounts.tables import KEYS, RESERVATIONS
from webdata.stores.database.database import open_database
from webdata.stores.database.prepared import Prepared, among, cursor, each

ROWS = [
    {
        "request_id": f"req_{n}",
        "account_id": "a",
        "key_id": "k'%s?",
        "endpoint": ":ü",
        "process": "p",
        "time": time,
        "amount": n + 1,
    }
    for n, time in enumerate([datetime(2026, 1, 2, 3, 4, 5, 6, UTC), datetime(1999, 12, 31, tzinfo=UTC)])
]


@pytest.fixture
def database(url):
    one = open_database(url)
    yield one
    one.close()


def rows_with(database, ids):
    statement = select(RESERVATIONS).where(among(RESERVATIONS.c.request_id, database.reads.dialect))
    prepared = Prepared(statement.order_by(RESERVATIONS.c.request_id), database.reads.dialect, "ids")
    with database.reads.connect() as connection, cursor(connection) as driver_cursor:
        return [row._asdict() for row in prepared.all(driver_cursor, ids)]


def add_rows(database):
    dialect = database.writes.dialect
    columns = [RESERVATIONS.c[name] for name in ROWS[0]]
    rows = insert(RESERVATIONS).from_select(columns, select(*each(columns, dialect)))
    with database.writes.begin() as connection, cursor(connection) as driver_cursor:
        Prepared(rows, dialect, "rows").run(driver_cursor, [list(row.values()) for row in ROWS])


def test_rows_are_read_as_they_were_added(database):
    """Rows are selected by any number of ids and read in Python's types, with the names of the columns."""
    add_rows(database)
    assert rows_with(database, ["req_0", "req_1", "req_none"]) == ROWS
    assert rows_with(database, ["req_1"]) == ROWS[1:]
    assert rows_with(database, []) == []
    assert rows_with(database, ["'; DROP TABLE reservations; --", "ü", "?"]) == []


def test_one_returns_a_raw_row_or_none(database):
    """`one` returns the row of the driver, or None."""
    prepared = Prepared(select(KEYS).where(KEYS.c.digest == bindparam("sought")), database.reads.dialect, "sought")
    with database.reads.connect() as connection, cursor(connection) as driver_cursor:
        assert prepared.one(driver_cursor, "none") is None
    add_rows(database)
    sought = select(RESERVATIONS.c.request_id, RESERVATIONS.c.key_id).where(
        RESERVATIONS.c.request_id == bindparam("id")
    )
    prepared = Prepared(sought, database.reads.dialect, "id")
    with database.reads.connect() as connection, cursor(connection) as driver_cursor:
        assert prepared.one(driver_cursor, "req_1") == ("req_1", "k'%s?")


def test_driver_errors_become_database_away(database):
    """Errors of the driver are raised as DatabaseUnavailableError."""
    driver = database.reads.dialect.loaded_dbapi
    with (
        database.reads.connect() as connection,
        pytest.raises(DatabaseUnavailableError, match="gone"),
        cursor(connection),
    ):
        raise driver.OperationalError("gone\nwith details")


def test_values_follow_the_order_of_the_parameters(database):
    """Values are in the order of the names, in whatever order the statement uses them."""
    insert_first = Prepared(insert(RESERVATIONS), database.writes.dialect, *ROWS[0])
    change = update(RESERVATIONS).where(RESERVATIONS.c.request_id == bindparam("which"))
    prepared = Prepared(change.values(process=bindparam("whose")), database.writes.dialect, "which", "whose")
    with database.writes.begin() as connection, cursor(connection) as driver_cursor:
        insert_first.run(driver_cursor, *ROWS[0].values())
        prepared.run(driver_cursor, "req_0", "q")
    assert rows_with(database, ["req_0"]) == [{**ROWS[0], "process": "q"}]
