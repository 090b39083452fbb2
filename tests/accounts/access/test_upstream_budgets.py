"""An upstream whose day is used up is not asked until the next one."""

from datetime import UTC, datetime, timedelta

import pytest

from webdata.accounts.access.upstream_budgets import UpstreamBudgets
from webdata.domain.errors import PassedOverError
from webdata.domain.upstreams import Upstream
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.task

HOME = Upstream(name="home", kind="searxng", url="http://127.0.0.1:1", requests_a_day=2, price=3)


async def test_a_spent_upstream_is_passed_over_until_the_next_day(sqlite):
    """The error says for how long; the operator reads it among the warnings; the next day it is asked again."""
    now = [datetime(2026, 11, 26, 23, 0, tzinfo=UTC)]
    with SqlStores(sqlite) as stores:
        budgets = UpstreamBudgets([HOME], stores.upstream_requests, lambda: now[0])
        for _ in range(2):
            await budgets.reserve("home")
        with pytest.raises(PassedOverError) as caught:
            await budgets.reserve("home")
        assert (caught.value.retry_after, caught.value.kind) == (3600, "spent")
        assert budgets.warnings() == ["home: its requests of today are used up, others answer until 00:00 UTC"]
        now[0] += timedelta(hours=1)
        assert budgets.warnings() == []
        await budgets.reserve("home")
        [row] = await budgets.rows()
    assert row == {"engine": "home", "kind": "searxng", "price": 3, "requests": 1, "requests_a_day": 2}


async def test_engines_of_sites_are_not_counted(sqlite):
    """A site has no budget."""
    with SqlStores(sqlite) as stores:
        budgets = UpstreamBudgets([HOME], stores.upstream_requests)
        await budgets.reserve("google_web")
        assert await stores.upstream_requests.of_day(datetime.now(UTC)) == {}
