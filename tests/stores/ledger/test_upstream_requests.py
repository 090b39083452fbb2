"""The requests of upstreams are counted exactly."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import bindparam, text

from webdata.stores.accounts.tables import Moment
from webdata.stores.sql_stores import SqlStores

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 26, 23, 59, tzinfo=UTC)


def events(stores):
    with stores._database.reads.connect() as connection:
        return connection.execute(text("SELECT body FROM events WHERE type = 'upstream.exhausted'")).scalars().all()


async def test_no_more_requests_are_reserved_than_a_day_has(url):
    """Reservations of several processes at once never exceed the number; the next day begins anew."""
    with SqlStores(url) as one, SqlStores(url) as other:
        reserving = [stores.upstream_requests.reserve("brave", 7, NOW) for stores in (one, other) * 10]
        counts = await asyncio.gather(*reserving)
        assert sorted(count for count in counts if count) == [1, 2, 3, 4, 5, 6, 7]
        assert await one.upstream_requests.of_day(NOW) == {"brave": 7}
        assert await other.upstream_requests.reserve("brave", 7, NOW + timedelta(minutes=1)) == 1


async def test_upstreams_have_counts_of_their_own(url):
    """One without a number is counted, too, and never refused."""
    with SqlStores(url) as stores:
        counted = [await stores.upstream_requests.reserve(name, most, NOW) for name, most in (("a", 1), ("b", None))]
        assert counted == [1, 1]
        assert [await stores.upstream_requests.reserve(name, most, NOW) for name, most in (("a", 1), ("b", None))] == [
            None,
            2,
        ]


async def test_the_last_request_of_a_day_is_an_event_once(url):
    """Those who want it get `upstream.exhausted` with the request that uses the budget up, not again after it."""
    with SqlStores(url) as stores:
        webhook = text(
            "INSERT INTO webhooks (id, account_id, url, events, description, secret, created, enabled, failures, host) "
            "VALUES ('whk', 'acc_default', 'https://a.example', '*', '', 's', :now, :on, 0, 'a.example')"
        ).bindparams(bindparam("now", type_=Moment))
        with stores._database.writes.begin() as connection:
            connection.execute(webhook, {"now": NOW, "on": True})
        for _ in range(4):
            await stores.upstream_requests.reserve("brave", 2, NOW)
        [body] = events(stores)
    assert '"data":{"engine":"brave","requests":2}' in body
