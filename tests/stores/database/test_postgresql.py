"""Connections to a PostgreSQL that answers late, or never."""

import asyncio
import socket
from contextlib import closing, contextmanager, suppress
from time import monotonic

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import InternalError, OperationalError

from webdata.domain.errors import ConfigError, DatabaseUnavailableError
from webdata.stores.database.database import open_database
from webdata.stores.database.postgresql import limit_waits
from webdata.stores.sql_stores import SqlStores

TIMEOUT = 0.5
SELECT = text("SELECT 1")
SLEEP = text("SELECT pg_sleep(20)")
LOCK = text("SELECT pg_advisory_xact_lock(1)")


@pytest.fixture
def engine(postgresql):
    """An engine whose server may take half a second to answer."""
    engine = create_engine(postgresql.replace("://", "+psycopg://"), pool_pre_ping=True)
    limit_waits(engine, TIMEOUT)
    yield engine
    engine.dispose()


@pytest.fixture
def empty_database(postgresql):
    with closing(open_database(postgresql)) as database:
        yield database


def result(engine, statement):
    with engine.connect() as connection:
        return connection.execute(statement).scalar()


@contextmanager
def takes(least, most):
    begun = monotonic()
    yield
    assert least <= monotonic() - begun < most


@pytest.mark.timed
def test_a_slow_statement_times_out(engine):
    """A statement that takes too long fails after the timeout; for a second new connections fail at once."""
    assert result(engine, SELECT) == 1
    with takes(TIMEOUT, 5), pytest.raises(OperationalError, match=r"not answered within 0\.5 seconds"):
        result(engine, SLEEP)
    with takes(0, TIMEOUT), pytest.raises(OperationalError, match=r"not answered within 0\.5 seconds"):
        result(engine, SELECT)


def test_connections_are_retried_after_a_timeout(engine, monkeypatch):
    """Some time after a timeout, new connections are tried again."""
    monkeypatch.setattr("webdata.stores.database.postgresql.RETRY_SECONDS", 0)
    with pytest.raises(OperationalError):
        result(engine, SLEEP)
    assert result(engine, SELECT) == 1


def test_an_error_of_the_server_is_no_timeout(engine):
    """A connection stays open after an error that the server returns."""
    with engine.connect() as connection:
        backend = connection.execute(text("SELECT pg_backend_pid()")).scalar()
        connection.execute(text("SET statement_timeout = 10"))
        connection.commit()
    with pytest.raises(OperationalError, match="statement timeout"):
        result(engine, SLEEP)
    assert result(engine, text("SELECT pg_backend_pid()")) == backend


@pytest.mark.timed
def test_an_idle_transaction_is_aborted(engine):
    """An idle transaction is aborted; a wait for its lock fails earlier, and new connections succeed."""
    with engine.connect() as holds, engine.connect() as waits:
        waits.execute(SELECT)
        waits.rollback()
        holds.execute(LOCK)
        with takes(TIMEOUT / 2, 5), pytest.raises(OperationalError, match="lock timeout"):
            waits.execute(LOCK)
        waits.rollback()
        assert result(engine, SELECT) == 1
        waits.execute(LOCK)
        with pytest.raises(InternalError, match="idle-in-transaction"):
            holds.execute(SELECT)


@pytest.mark.timed
@pytest.mark.task
async def test_the_timeout_includes_the_wait_for_a_thread(postgresql, monkeypatch):
    """More queries than there are threads all fail within the timeout."""
    monkeypatch.setattr("webdata.stores.database.database.ANSWER_SECONDS", TIMEOUT)
    database = open_database(postgresql)
    begun = monotonic()
    waiting = [database.read(lambda connection: connection.execute(SLEEP).scalar()) for _ in range(50)]
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert monotonic() - begun < 4 * TIMEOUT + 1
    assert {type(one) for one in ended} == {DatabaseUnavailableError}
    async with asyncio.timeout(10):
        while not await answers(database):  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.1)
    database.close()


async def answers(database):
    with suppress(DatabaseUnavailableError):
        return await database.read(lambda connection: connection.execute(SELECT).scalar()) == 1
    return False


@pytest.mark.task
async def test_a_read_only_database_counts_as_away(postgresql, postgresql_admin):
    """A change in a read-only database, such as a standby, raises DatabaseUnavailableError."""
    name = postgresql.rpartition("/")[2]
    postgresql_admin(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    database = open_database(postgresql)
    with pytest.raises(DatabaseUnavailableError, match="read-only"):
        await database.write(lambda connection: connection.execute(text("UPDATE accounts SET balance = 5")))
    database.close()


@pytest.mark.timed
@pytest.mark.usefixtures("starts")
def test_a_server_that_accepts_but_never_answers_is_an_error(monkeypatch):
    """A server that accepts a connection and sends nothing raises ConfigError after the timeout."""
    monkeypatch.setattr("webdata.stores.database.database.ANSWER_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://webdata:sesame@127.0.0.1:{mute.getsockname()[1]}/webdata"
        with takes(1, 10), pytest.raises(ConfigError, match="the database cannot be used") as caught:
            open_database(url)
    assert "sesame" not in str(caught.value)


@pytest.mark.task
async def test_a_read_that_is_cancelled_ends(empty_database):
    """A task that is cancelled while the result of its query arrives ends, or the loops of a service would go on."""
    for attempt in range(200):
        reading = asyncio.ensure_future(empty_database.read(lambda connection: connection.execute(SELECT).scalar()))
        await asyncio.sleep(0.00002 * attempt)
        if reading.cancel():
            with pytest.raises(asyncio.CancelledError):
                await reading


@pytest.mark.task
async def test_a_server_that_takes_no_writes_is_found(postgresql):
    """A server that answers reads alone, as a standby after a failover, does not pass the check of the stores."""
    with SqlStores(postgresql) as stores:
        await stores.check()
        engine = create_engine(postgresql.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            name = connection.execute(text("SELECT current_database()")).scalar()
            connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
        engine.dispose()
        stores._database.reads.dispose()
        assert await stores.keys.find("none") is None
        with pytest.raises(DatabaseUnavailableError, match="read-only transaction"):
            await stores.check()
