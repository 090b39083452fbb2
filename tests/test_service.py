"""What the service does by itself while it runs."""

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
async def test_what_was_left_is_given_back_without_a_start(stores, monkeypatch, trouble):
    """Credits of calls older than any can be are given back while the service runs, whatever hindered it before."""
    from webdata import service

    monkeypatch.setattr(service, "SETTLED_EVERY", 0.01)
    monkeypatch.setattr(service, "LONGEST_CALL", timedelta(0))
    settle, asked, given_back = stores.ledger.settle, 0, asyncio.Event()

    async def sometimes_away(dead, before):
        nonlocal asked
        asked += 1
        if asked == 1:
            raise trouble
        if await settle(dead, before):
            given_back.set()
        return 0

    monkeypatch.setattr(stores.ledger, "settle", sometimes_away)
    await stores.ledger.reserve(DEFAULT_ACCOUNT, "req_1", "web_search", "key_1")
    settling = asyncio.ensure_future(service._settle_now_and_then(stores.ledger))
    async with asyncio.timeout(10):
        await given_back.wait()
    settling.cancel()
    assert await stores.ledger.balance(DEFAULT_ACCOUNT) == 1000


async def test_a_database_that_does_not_answer_at_the_start(stores, monkeypatch):
    """The start tells it in words, as all that keeps a service from starting."""
    from webdata import service

    async def away(*_):
        raise DatabaseAwayError("lock timeout")

    monkeypatch.setattr(stores.ledger, "settle", away)
    with pytest.raises(ConfigError, match=r"the database does not answer \(lock timeout\): start again when it does"):
        await service._settle_at_first(stores.ledger)
