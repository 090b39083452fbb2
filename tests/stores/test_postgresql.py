"""Connections to a PostgreSQL that answers late, or not at all."""

import asyncio
import socket
from contextlib import contextmanager, suppress
from time import monotonic

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import InternalError, OperationalError

from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.stores.database import open_database
from webdata.stores.postgresql import limit_waits

PATIENCE = 0.5
SELECT = text("SELECT 1")
NAP = text("SELECT pg_sleep(20)")
LOCK = text("SELECT pg_advisory_xact_lock(1)")


@pytest.fixture
def engine(postgresql):
    """An engine whose server may take half a second."""
    engine = create_engine(postgresql.replace("://", "+psycopg://"), pool_pre_ping=True)
    limit_waits(engine, PATIENCE)
    yield engine
    engine.dispose()


def told(engine, statement):
    with engine.connect() as connection:
        return connection.execute(statement).scalar()


@contextmanager
def within(least, most):
    begun = monotonic()
    yield
    assert least <= monotonic() - begun < most


def test_a_slow_statement(engine):
    """A statement that takes too long ends in time; those who would connect within a second are told at once."""
    assert told(engine, SELECT) == 1
    with within(PATIENCE, 5), pytest.raises(OperationalError, match=r"not answered within 0\.5 seconds"):
        told(engine, NAP)
    with within(0, PATIENCE), pytest.raises(OperationalError, match=r"not answered within 0\.5 seconds"):
        told(engine, SELECT)


def test_it_is_tried_again(engine, monkeypatch):
    """After its rest a server that answers is as good as ever."""
    monkeypatch.setattr("webdata.stores.postgresql.RETRY_SECONDS", 0)
    with pytest.raises(OperationalError):
        told(engine, NAP)
    assert told(engine, SELECT) == 1


def test_an_error_is_no_silence(engine):
    """What the server refuses leaves its connection as good as it was."""
    with engine.connect() as connection:
        own = connection.execute(text("SELECT pg_backend_pid()")).scalar()
        connection.execute(text("SET statement_timeout = 10"))
        connection.commit()
    with pytest.raises(OperationalError, match="statement timeout"):
        told(engine, NAP)
    assert told(engine, text("SELECT pg_backend_pid()")) == own


def test_who_stands_still(engine):
    """Who stands still in the middle of a transaction loses it; who waits for its lock is told, and connects on."""
    with engine.connect() as holds, engine.connect() as waits:
        waits.execute(SELECT)
        waits.rollback()
        holds.execute(LOCK)
        with within(PATIENCE / 2, 5), pytest.raises(OperationalError, match="lock timeout"):
            waits.execute(LOCK)
        waits.rollback()
        assert told(engine, SELECT) == 1
        waits.execute(LOCK)
        with pytest.raises(InternalError, match="idle-in-transaction"):
            holds.execute(SELECT)


@pytest.mark.task
async def test_nobody_waits_for_a_thread(postgresql, monkeypatch):
    """However many wait for the server, all are told in time, those too who have no thread yet."""
    monkeypatch.setattr("webdata.stores.database.ANSWER_SECONDS", PATIENCE)
    database = open_database(postgresql)
    begun = monotonic()
    waiting = [database.read(lambda on: on.execute(NAP).scalar()) for _ in range(50)]
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert monotonic() - begun < 4 * PATIENCE + 1
    assert {type(one) for one in ended} == {DatabaseAwayError}
    async with asyncio.timeout(10):
        while not await answers(database):  # noqa: ASYNC110  # it tells nobody when it is back
            await asyncio.sleep(0.1)
    database.close()


async def answers(database):
    with suppress(DatabaseAwayError):
        return await database.read(lambda on: on.execute(SELECT).scalar()) == 1
    return False


@pytest.mark.task
async def test_a_database_that_is_only_read(postgresql, postgresql_admin):
    """A server that takes no changes, as a standby does, is one that does not answer."""
    name = postgresql.rpartition("/")[2]
    postgresql_admin(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    database = open_database(postgresql)
    with pytest.raises(DatabaseAwayError, match="read-only"):
        await database.write(lambda on: on.execute(text("UPDATE accounts SET balance = 5")))
    database.close()


def test_a_server_that_takes_no_connection(monkeypatch):
    """A start does not wait for ever for what takes a connection and says nothing."""
    monkeypatch.setattr("webdata.stores.database.ANSWER_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://webdata:sesame@127.0.0.1:{mute.getsockname()[1]}/webdata"
        with within(1, 10), pytest.raises(ConfigError, match="the database cannot be used") as caught:
            open_database(url)
    assert "sesame" not in str(caught.value)
