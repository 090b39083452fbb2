"""The copy of a database, and the audit of its ledger."""

import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import JSON, Boolean, Float, Integer, LargeBinary, String, insert, make_url, select, text
from sqlalchemy.exc import DBAPIError

from webdata.domain.errors import ConfigError
from webdata.stores.accounts.tables import ACCOUNTS, EVENTS, METADATA, MOVEMENTS, PLANS, RESERVATIONS, Moment
from webdata.stores.database.database import open_database
from webdata.stores.database.database_copy import copy, open_source, open_target, other_users
from webdata.stores.ledger.ledger_audit import audit
from webdata.stores.sql_stores import SqlStores

LEDGER = {PLANS, ACCOUNTS, MOVEMENTS, RESERVATIONS}
NOW = datetime(2026, 11, 22, 21, 30, 0, 123456, tzinfo=UTC)
ROWS = 450
"""More than are copied at a time, and no multiple of it."""


@pytest.fixture
def other_sqlite(tmp_path):
    return f"sqlite:///{tmp_path}/copy/webdata.sqlite3"


@pytest.fixture(params=["sqlite", "postgresql"])
def urls(request, starts):
    """The URL of a database of each kind, and of an empty one of the other kind."""
    other = {"sqlite": "empty_postgresql", "postgresql": "other_sqlite"}[request.param]
    return request.getfixturevalue(request.param), request.getfixturevalue(other)


def value_of(column, number):
    """A value for a column in one of many rows."""
    if column.foreign_keys:
        [key] = column.foreign_keys
        return {"accounts": "acc_default", "plans": "default"}.get(key.column.table.name, value_of(key.column, number))
    if column.nullable and number % 2:
        return None
    values = {
        Moment: NOW + timedelta(seconds=number),
        Boolean: number % 3 == 0,
        Integer: number + 1,
        Float: number / 3,
        JSON: {"q": f"caffè {number}", "num": number},
        LargeBinary: bytes([number % 256, 0, 255]),
        String: f"{number} ’Œ\n☕{column.name}"[: getattr(column.type, "length", None)],
    }
    return next(value for kind, value in values.items() if isinstance(column.type, kind))


def fill(database):
    """Put rows into every table but those of the ledger, whatever tables there are."""
    with database.writes.begin() as connection:
        for table in METADATA.sorted_tables:
            if table not in LEDGER:
                rows = [{column.name: value_of(column, number) for column in table.c} for number in range(ROWS)]
                connection.execute(insert(table), rows)


async def use(ledger):
    """Movements of every kind, and a credit that stays reserved."""
    await ledger.credit("acc_default", 50, "paid ☕")
    for number in range(4):
        await ledger.reserve("acc_default", f"req_{number}", "web_search", "key")
    await ledger.commit("req_0", "ok")
    await ledger.release("req_1", "upstream")
    await ledger.commit("req_2", "empty")
    await ledger.flush()


def rows_of(url, table):
    with closing(open_database(url)) as database, database.reads.connect() as connection:
        return sorted(map(repr, connection.execute(select(table))))


def copied(source, target):
    """Copy by URLs; returns the audit and the contents."""
    contents = []
    with closing(open_source(source)) as origin, closing(open_target(target)) as destination:
        return copy(origin, destination, contents.append), contents


@pytest.mark.slow
@pytest.mark.task
async def test_every_table_is_copied(urls):
    """Every row of every table is in the copy, whose service goes on with the next number of each sequence."""
    source, target = urls
    with SqlStores(source) as stores:
        await use(stores.ledger)
        fill(stores._database)
    found, contents = copied(source, target)
    assert (found.accounts, found.movements, found.faults) == (1, 9, ())
    assert found.credits == {"balance": 1047, "reserved": 1, "spent": 2}
    assert {one.table: one.rows for one in contents} == {
        table.name: len(rows_of(source, table)) for table in METADATA.sorted_tables
    }
    for table in METADATA.sorted_tables:
        assert rows_of(target, table) == rows_of(source, table)
    with SqlStores(target) as stores:
        assert await stores.ledger.commit("req_3", "ok") == 1047
        assert await stores.ledger.credit("acc_default", 3, "") == 1050


def change(url, statement):
    with closing(open_database(url)) as database, database.writes.begin() as connection:
        connection.execute(text(statement))


def test_the_copy_of_the_ledger_is_append_only(urls):
    """The ledger of the copy refuses changes, as that of the source does."""
    source, target = urls
    with closing(open_database(source)):
        copied(source, target)
    with pytest.raises(DBAPIError, match="append-only"):
        change(target, "UPDATE movements SET amount = 5")


def test_a_wrong_ledger_is_not_copied(urls):
    """Where a balance is not the sum of its movements, nothing is copied, and the message has the account."""
    source, target = urls
    change(source, "UPDATE accounts SET balance = 999")
    with pytest.raises(ValueError, match=r"ledger of the source is wrong.*acc_default: its credits are 999, by its"):
        copied(source, target)
    change(source, "UPDATE accounts SET balance = 1000")
    copied(source, target)


def test_reservations_are_audited(url):
    """A reserved credit without its reservation is a fault, and so is a reservation without its movement."""
    change(url, "INSERT INTO reservations VALUES ('req_1', 'acc_default', 'key', 'web', 'here', '2026-11-22', 1)")
    with closing(open_database(url)) as database, database.reads.connect() as connection:
        assert audit(connection).faults == ("acc_default: its reserved credits are 1, by its movements 0",)


@pytest.mark.parametrize("text_of_event", ["a zero byte \x00", "x" * 300])
def test_a_row_that_suits_sqlite_alone(sqlite, empty_postgresql, text_of_event):
    """A row that PostgreSQL refuses is an error with its table, and leaves the target empty."""
    with closing(open_database(sqlite)) as database, database.writes.begin() as connection:
        event = {"id": "evt_1", "type": "key.created", "created": NOW, "body": "{}", "once": text_of_event}
        connection.execute(insert(EVENTS), [event])
    with pytest.raises(ValueError, match="a row of events does not suit the target"):
        copied(sqlite, empty_postgresql)
    open_target(empty_postgresql).close()


def test_a_target_with_tables_is_refused(url):
    """A database that has tables already is no target."""
    open_database(url).close()
    with pytest.raises(ConfigError, match=r"not empty: it has tables \(accounts, alembic_version, answers, …\)"):
        open_target(url)


def test_a_source_must_be_there(tmp_path, empty_postgresql):
    """A source that is not there is refused, and no file is made for it."""
    with pytest.raises(ConfigError, match="unable to open database file"):
        open_source(f"sqlite:///{tmp_path}/none.sqlite3")
    assert not (tmp_path / "none.sqlite3").exists()
    with pytest.raises(ConfigError, match="has no tables of webdata"):
        open_source(empty_postgresql)


def test_a_source_of_another_release_is_refused(sqlite):
    """A source with another schema is refused with the command that migrates it."""
    change(sqlite, "UPDATE alembic_version SET version_num = '0002'")
    with pytest.raises(ConfigError, match=r"has the schema 0002, this release .*: run `webdata accounts list`"):
        open_source(sqlite)


def test_other_users_of_a_file_are_seen(sqlite, starts):
    """Another process that has the file of a source open is seen until it ends."""
    open_database(sqlite).close()
    script = f"file = open({make_url(sqlite).database!r}); print(flush=True); input()"
    with closing(open_source(sqlite)) as source:
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            assert other_users(source) == [other.pid]
            other.stdin.close()
        assert other_users(source) == []


def test_other_users_of_a_server_are_seen(postgresql):
    """Other connections to the database of a source are seen until they end."""
    with closing(open_source(postgresql)) as source:
        with closing(open_database(postgresql)) as other, other.reads.connect():
            assert len(other_users(source)) == 1
        deadline = time.monotonic() + 20  # the server ends a connection after its client has closed it
        while other_users(source) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert other_users(source) == []
