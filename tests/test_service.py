"""The service's periodic tasks, and its start."""

import asyncio
from datetime import timedelta

import pytest

from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.stores.interfaces import DEFAULT_ACCOUNT
from webdata.stores.sql_stores import SqlStores


@pytest.fixture
def stores(tmp_path):
    with SqlStores(f"sqlite:///{tmp_path}/webdata.sqlite3") as opened:
        yield opened


@pytest.mark.task
@pytest.mark.parametrize("trouble", [DatabaseAwayError("it is away"), RuntimeError("the disk image is malformed")])
async def test_abandoned_credits_are_released_periodically(stores, monkeypatch, trouble):
    """Credits of calls beyond any deadline are released while the service runs, also after errors."""
    from webdata import service

    monkeypatch.setattr(service, "SETTLED_EVERY", 0.01)
    monkeypatch.setattr(service, "LONGEST_CALL", timedelta(0))
    settle, attempts, released = stores.ledger.settle, 0, asyncio.Event()

    async def sometimes_away(dead, before):
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise trouble
        if await settle(dead, before):
            released.set()
        return 0

    monkeypatch.setattr(stores.ledger, "settle", sometimes_away)
    await stores.ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key_1")
    settling = asyncio.ensure_future(service._settle_now_and_then(stores.ledger))
    async with asyncio.timeout(10):
        await released.wait()
    settling.cancel()
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000


async def test_a_start_without_the_database_fails(stores, monkeypatch):
    """A database that does not answer is a ConfigError at the start."""
    from webdata import service

    async def away(*_):
        raise DatabaseAwayError("lock timeout")

    monkeypatch.setattr(stores.ledger, "settle", away)
    with pytest.raises(ConfigError, match=r"the database does not answer \(lock timeout\): start again when it does"):
        await service._settle_at_first(stores.ledger)
