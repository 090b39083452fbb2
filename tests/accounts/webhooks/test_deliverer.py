"""The program that delivers webhooks."""

import asyncio
import os
import signal
from datetime import UTC, datetime

import orjson
import pytest

from tests.accounts.webhooks.conftest import ALLOW
from tests.accounts.webhooks.test_delivery import announce, got, hook_for, until
from webdata import deliverer
from webdata.config.config import Config
from webdata.runtime.process import on_demand
from webdata.runtime.process.on_demand import OnDemandProcess
from webdata.stores.sql_stores import SqlStores


@pytest.mark.slow
@pytest.mark.task
async def test_nothing_is_lost_when_it_is_killed(url, receivers, monkeypatch):
    """A process that is killed is replaced, and each event arrives at least once. Every attempt is counted."""
    monkeypatch.setattr(on_demand, "WATCH_SECONDS", 0.1)
    receiver = await receivers()
    config = Config(database=url, egress_ports=(receiver.port,), egress_allow=ALLOW, webhooks_http=True)
    with SqlStores(url) as stores:
        await hook_for(stores, receiver)
        results = []
        process = OnDemandProcess(
            "deliveries",
            deliverer.__name__,
            lambda: config,
            lambda: stores.deliveries.is_due(datetime.now(UTC)),
            60.0,  # its priority is low, and the machine may be busy
            results.append,
        )
        process.start()
        await announce(stores, 100)
        for share in (1, 30):
            await until(lambda share=share: len(receiver.received) >= share, 60)
            os.kill(process.child.process.pid, signal.SIGKILL)
            await announce(stores, 50)
        await until(lambda: len(got(receiver)) == 200, 60)
        async with asyncio.timeout(60):
            while await stores.webhooks.deliveries("whk_01", 1, status="pending"):  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.1)
        await process.stop()
        assert process.child.process.returncode == 0
        assert len(await stores.webhooks.deliveries("whk_01", 1000, status="delivered")) == 200
        assert set(results) == {"delivered"}
        assert 150 <= len(results) <= 200  # those that were stored when the process was killed were not told
        bodies = {orjson.loads(body)["data"]["id"] for _, body in receiver.received}
        assert len(bodies) == 100
