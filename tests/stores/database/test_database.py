"""The opening and migration of databases."""

import asyncio
import logging
import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import sleep

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, insert, inspect, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError

from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.stores.accounts.sql import SqlLinks
from webdata.stores.accounts.tables import KEYS, METADATA
from webdata.stores.database import migrations
from webdata.stores.database.database import attach_database, open_database
from webdata.stores.database.prepared import Prepared, cursor
from webdata.stores.ledger.ledger_writer import LedgerWriter
from webdata.stores.ledger.sql import Ledger
from webdata.stores.sql_stores import SqlStores


@pytest.fixture
def empty_sqlite(tmp_path):
    """The URL of an SQLite database that is not there yet."""
    return f"sqlite:///{tmp_path}/empty.sqlite3"


@pytest.fixture(params=["empty_sqlite", "empty_postgresql"])
def empty(request):
    """The URL of a database without tables."""
    return request.getfixturevalue(request.param)


def with_driver(url):
    return make_url(url).set(drivername="postgresql+psycopg") if url.startswith("postgresql") else make_url(url)


def test_missing_folders_are_created(tmp_path):
    """Missing parent folders are created; the database uses WAL and full synchronisation."""
    database = open_database(f"sqlite:///{tmp_path}/not/there/yet/webdata.sqlite3")
    with database.reads.connect() as connection:
        pragmas = [connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous")]
    database.close()
    assert pragmas == ["wal", 2]
    assert (tmp_path / "not/there/yet/webdata.sqlite3").is_file()


def test_a_new_database_is_its_owners_alone(tmp_path):
    """The database, the files beside it and its new folders are readable by their owner only, whatever the umask."""
    before = os.umask(0)
    try:
        with closing(open_database(f"sqlite:///{tmp_path}/not/there/webdata.sqlite3")) as database:
            with database.writes.begin() as connection:
                connection.execute(text("CREATE TABLE more (number INTEGER)"))
            made = [tmp_path / "not", *(tmp_path / "not").rglob("*")]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}
    finally:
        os.umask(before)
    files = ["webdata.sqlite3", "webdata.sqlite3-wal", "webdata.sqlite3-shm"]
    assert modes == {"not": 0o700, "there": 0o700, **dict.fromkeys(files, 0o600)}


@pytest.mark.parametrize(("of_folder", "of_file", "warned"), [(0o755, 0o644, 1), (0o700, 0o644, 0), (0o755, 0o600, 0)])
def test_a_database_that_everybody_can_read(tmp_path, caplog, of_folder, of_file, warned):
    """A database that was there keeps its mode, with a warning where every user of the machine can read it."""
    file = tmp_path / "own" / "webdata.sqlite3"
    file.parent.mkdir()
    file.touch()
    file.chmod(of_file)
    file.parent.chmod(of_folder)
    open_database(f"sqlite:///{file}").close()
    assert caplog.text.count(f"every user of this machine can read the database {file}") == warned
    assert (stat.S_IMODE(file.parent.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (of_folder, of_file)


def test_a_new_database_may_be_opened_concurrently(empty):
    """When several processes open the same new database, it is initialised once."""

    def open_and_close(_):
        open_database(empty).close()

    with ThreadPoolExecutor(6) as pool:
        assert len(list(pool.map(open_and_close, range(12)))) == 12
    database = open_database(empty)
    with database.reads.connect() as connection:
        assert connection.execute(text("SELECT count(*), sum(amount) FROM movements")).one() == (1, 1000)
    database.close()


def tables_differ(url):
    """How the tables of a database differ from those of the stores."""
    engine = create_engine(with_driver(url))
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), METADATA)
    engine.dispose()
    return found


def test_a_new_database_has_the_tables_of_the_stores(url):
    """A new database gets the tables as the stores declare them, and needs no migration."""
    open_database(url).close()
    assert tables_differ(url) == []
    engine = create_engine(with_driver(url))
    assert migrations.revision(engine) == migrations.HEAD
    engine.dispose()


@pytest.mark.task
async def test_a_database_of_the_revision_before_is_migrated(url):
    """It has the tables of the stores then; its keys and plans archive nothing."""
    with SqlStores(url) as stores, stores._database.writes.begin() as connection:
        for change in (
            "DROP TABLE answers",
            "DROP TABLE archive_shares",
            "ALTER TABLE keys DROP COLUMN archive_days",
            "ALTER TABLE plans DROP COLUMN archive_days",
            "ALTER TABLE plans DROP COLUMN archive_bytes",
            "UPDATE alembic_version SET version_num = '1'",
        ):
            connection.execute(text(change))
    with SqlStores(url) as stores:
        (plan,) = await stores.accounts.plans()
        assert (plan.archive_days, plan.archive_bytes) == (0, 1024**3)
    assert tables_differ(url) == []


def test_head_is_the_newest_migration():
    """The revision that every start checks is the last one."""
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert script.get_current_head() == migrations.HEAD


@pytest.mark.parametrize("revision", ["0007", "9999", None])
def test_the_database_of_another_version_is_refused(sqlite, revision):
    """A database that another version has made is refused with a hint, and not changed."""
    open_database(sqlite).close()
    change = f"UPDATE alembic_version SET version_num = '{revision}'" if revision else "DROP TABLE alembic_version"
    with sqlite3.connect(make_url(sqlite).database) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(ConfigError, match="another version of webdata made it"):
        open_database(sqlite)


@pytest.mark.parametrize("change", ["UPDATE movements SET amount = 5", "DELETE FROM movements"])
def test_the_ledger_is_append_only(url, change):
    """The database itself refuses to change or delete movements."""
    database = open_database(url)
    with pytest.raises(DBAPIError, match="append-only"), database.writes.begin() as connection:
        connection.execute(text(change))
    database.close()


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("UPDATE accounts SET balance = -1", "accounts_balance"),
        ("INSERT INTO movements VALUES (2, '2026-07-01', 'credit', 'acc_default', 'a', 'b', -1)", "amount"),
    ],
)
def test_negative_amounts_are_refused(url, change, constraint):
    """The database itself refuses negative balances and amounts."""
    change = change.replace("movements VALUES", "movements (id, time, kind, account_id, source, target, amount) VALUES")
    change = change.replace("target, amount) VALUES", "target, amount, cached, note) VALUES").replace(
        "-1)", "-1, false, '')"
    )
    database = open_database(url)
    with pytest.raises(DBAPIError, match=constraint), database.writes.begin() as connection:
        connection.execute(text(change))
    database.close()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("webdata.sqlite3", "give a URL like sqlite:///"),
        ("nosuchbase://localhost/webdata", "give a URL like sqlite:///"),
        ("", "give a URL like sqlite:///"),
        ("sqlite://", "cannot be in memory"),
        ("sqlite:///:memory:", "cannot be in memory"),
        ("postgresql://u:sesame@127.0.0.1:1/x", "the database cannot be used"),
    ],
)
def test_an_invalid_url_is_refused(url, reason):
    """An invalid URL is an error of one line, with an example and without the password."""
    with pytest.raises(ConfigError, match=reason) as caught:
        open_database(url)
    assert "\n" not in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_a_file_that_is_no_database_is_not_changed(tmp_path):
    """A file of another kind is refused and not changed."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database " * 100)
    with pytest.raises(ConfigError, match="file is not a database"):
        open_database(f"sqlite:///{file}")

    assert file.read_text().startswith("not a database")


@pytest.mark.skipif(os.name != "posix", reason="a path below a file is a different error elsewhere")
def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    """A folder that cannot be created is an error with an example URL."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="give a URL like sqlite:///"):
        open_database(f"sqlite:///{tmp_path}/file/webdata.sqlite3")


def test_links_have_a_separate_database(tmp_path):
    """The database of links has no other table, and its links persist."""
    url = f"sqlite:///{tmp_path}/links.sqlite3"
    first = SqlLinks(url)
    first.add({"one": "https://clay.example/1"})
    first.close()
    second = SqlLinks(url)

    assert second.find(["one"]) == {"one": "https://clay.example/1"}
    second.close()
    engine = create_engine(url)
    assert inspect(engine).get_table_names() == ["links"]
    engine.dispose()


def test_a_failing_store_of_links_is_empty(tmp_path, caplog):
    """A store of links that fails logs its errors and returns nothing."""
    store = SqlLinks(f"sqlite:///{tmp_path}/links.sqlite3")
    engine = create_engine(f"sqlite:///{tmp_path}/links.sqlite3")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE links"))
    engine.dispose()
    store.add({"one": "https://clay.example/1"})

    assert store.find(["one"]) == {}
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["The store of news links could not be written", "The store of news links could not be read"]
    store.close()


@pytest.mark.task
async def test_a_write_to_a_locked_database_times_out(sqlite, monkeypatch):
    """A write that waits too long for a lock raises DatabaseUnavailableError, and the next one succeeds."""
    monkeypatch.setattr("webdata.stores.database.database.LOCK_SECONDS", 0.1)
    with SqlStores(sqlite) as stores, sqlite3.connect(make_url(sqlite).database, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailableError, match="locked"):
            await stores.ledger.reserve("acc_default", "req_1", "web_search", "key")
        other.execute("ROLLBACK")
        assert await stores.ledger.reserve("acc_default", "req_1", "web_search", "key") == 999
    other.close()


@pytest.mark.task
async def test_a_database_closes_when_its_work_has_ended(url):
    """Work that goes on after its caller has left ends before it is closed, and its connection is closed with it."""
    database, began, ended, used, closed = open_database(url), threading.Event(), [], [], []
    event.listen(database.writes.pool, "close", lambda connection, _: closed.append(connection))

    def change(connection):
        used.append(connection.connection.dbapi_connection)
        began.set()
        sleep(0.2)
        ended.append(connection.execute(text("SELECT 1")).scalar())

    writing = asyncio.create_task(database.write(change))
    await asyncio.to_thread(began.wait, 20)
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
    database.close()
    assert (ended, used[0] in closed) == ([1], True)


async def fill(ledger):
    """Make reservations until the database is full; returns their number."""
    for number in range(1000):
        try:
            await ledger.reserve("acc_default", f"req_{number}", "web_search", "key")
        except DatabaseUnavailableError as error:
            assert "full" in str(error)  # noqa: PT017  # the number before it is needed
            return number
    raise AssertionError("the database is not full")


@pytest.mark.task
async def test_a_full_database_recovers(sqlite):
    """A write to a full database fails and changes nothing; with free space it succeeds again."""
    database = open_database(sqlite)
    writer = LedgerWriter(database)

    async def write(operations):
        return await asyncio.to_thread(writer.write, operations)

    ledger = Ledger(database, "here:1:1", write)
    with database.reads.connect() as connection:
        connection.execute(text("PRAGMA max_page_count=1"))  # SQLite rounds it up to the current number
    number = await fill(ledger)
    assert await ledger.balance("acc_default") == 1000 - number
    with database.reads.connect() as connection:
        connection.execute(text("PRAGMA max_page_count=100000"))
    assert await ledger.reserve("acc_default", f"req_{number}", "web_search", "key") == 999 - number
    ledger.close()
    database.close()


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A database in a file whose presence is checked each time, and the file."""
    monkeypatch.setattr("webdata.stores.database.database.PRESENT_SECONDS", 0)
    file = tmp_path / "webdata.sqlite3"
    with closing(open_database(f"sqlite:///{file}")) as database:
        yield database, file


def uses(database):
    """Each way to use a database."""
    statement = "SELECT count(*) FROM keys"
    yield database.look_up(lambda driver_cursor: driver_cursor.execute(statement).fetchall())
    yield database.read(lambda connection: connection.execute(text(statement)).all())
    yield database.write(lambda connection: connection.execute(text(statement)).all())


@pytest.mark.task
async def test_a_deleted_file_is_away(opened):
    """While the file is gone every use raises DatabaseUnavailableError, and no empty one takes its place."""
    database, file = opened
    for use in uses(database):
        await use
    file.rename(file.with_suffix(".away"))
    for use in uses(database):
        with pytest.raises(DatabaseUnavailableError, match=r"webdata\.sqlite3 is gone"):
            await use
    with pytest.raises(DatabaseUnavailableError, match="is gone"):
        LedgerWriter(database).write([])
    assert not file.exists()
    file.with_suffix(".away").rename(file)
    for use in uses(database):
        await use


@pytest.mark.task
async def test_a_replaced_file_is_away(opened):
    """Another file in the place of the database is not used: the old one is open still, and deleted."""
    database, file = opened
    for use in uses(database):
        await use
    file.rename(file.with_suffix(".away"))
    file.touch()
    for use in uses(database):
        with pytest.raises(DatabaseUnavailableError, match="was replaced by another one: start the service again"):
            await use


@pytest.mark.task
async def test_an_attached_file_is_never_made(tmp_path):
    """A process that joins later does not make an empty file in the place of one that is gone."""
    with closing(attach_database(f"sqlite:///{tmp_path}/webdata.sqlite3")) as database:
        for use in uses(database):
            with pytest.raises(DatabaseUnavailableError):
                await use
        with pytest.raises(OperationalError):  # SQLite itself refuses
            database.reads.connect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["garbage", "truncated", "no tables"])
@pytest.mark.task
async def test_a_malformed_file_is_away(opened, damage):
    """A database that turns malformed raises DatabaseUnavailableError, whichever way it is used."""
    database, file = opened
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if damage == "no tables":
            other.execute("DROP TABLE keys")
    if damage != "no tables":
        with file.open("r+b") as raw:
            raw.truncate(100) if damage == "truncated" else raw.write(os.urandom(file.stat().st_size))
    for use in uses(database):
        with pytest.raises(DatabaseUnavailableError):
            await use


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\0" + b"x" * 84])
def test_a_file_that_is_no_database_is_a_mistake(tmp_path, content):
    """A file with other content ends the start with one line, and is not changed."""
    file = tmp_path / "webdata.sqlite3"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="the database cannot be used"):
        open_database(f"sqlite:///{file}")
    assert file.read_bytes() == content


@pytest.mark.task
async def test_errors_name_no_values(url, caplog):
    """What the log shows of a refused row has neither its parameters nor what the server says of its values."""
    secret = "whsec_" + "x" * 40
    row = {"id": "key_1", "digest": secret, "name": "a", "test": True, "created": datetime.now(UTC), "prefix": ""}
    row |= {"account_id": "acc_default", "scopes": ""}
    with closing(open_database(url)) as database:
        await database.write(lambda connection: connection.execute(insert(KEYS), row))
        for write in (
            lambda connection: connection.execute(insert(KEYS), {**row, "id": "key_2"}),
            partial(insert_raw, row),
        ):
            try:
                await database.write(write)
            except Exception:
                logging.getLogger("test").exception("REFUSED")
    assert caplog.text.count("REFUSED") == 2
    assert "digest" in caplog.text
    assert secret not in caplog.text


def insert_raw(row, connection):
    """Insert a key by a cursor of the driver."""
    with cursor(connection) as driver:
        names = list(row)
        Prepared(insert(KEYS), connection.dialect, *names).run(
            driver, *({**row, "id": "key_3"}[name] for name in names)
        )


def by_sqlalchemy(connection, name):
    connection.execute(text("UPDATE plans SET requests = requests + 1 WHERE name = :name"), {"name": name})


def by_driver(connection, name):
    with cursor(connection) as driver:
        driver.execute("UPDATE plans SET requests = requests + 1 WHERE name = %s", (name,))


@pytest.mark.task
@pytest.mark.parametrize("add_one", [by_sqlalchemy, by_driver])
async def test_a_transaction_that_was_undone_for_a_deadlock_is_run_again(postgresql, add_one):
    """Two changes that lock the same rows in opposite orders are both written, one of them at a later run."""
    met, runs = threading.Barrier(2), []

    def change(first, second, connection):
        runs.append(first)
        for number, name in enumerate((first, second)):
            add_one(connection, name)
            if number == 0 and len(runs) <= 2:
                met.wait(10)

    with closing(open_database(postgresql)) as database:
        copied = 'INSERT INTO plans SELECT (jsonb_populate_record(p, \'{"name": "other"}\')).* FROM plans p'
        await database.write(lambda connection: connection.execute(text(copied)))
        asked = text("SELECT sum(requests) FROM plans")
        before = await database.read(lambda connection: connection.execute(asked).scalar())
        changes = [partial(change, "default", "other"), partial(change, "other", "default")]
        await asyncio.gather(*map(database.write, changes))
        assert await database.read(lambda connection: connection.execute(asked).scalar()) == before + 4
    assert 3 <= len(runs) <= 4
