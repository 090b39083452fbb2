"""Rounds and drifts of canaries, on each database."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import bindparam, text

from webdata.stores.accounts.tables import Moment
from webdata.stores.sql_stores import SqlStores
from webdata.stores.watch.model import Drift, Loss, Measured, Round
from webdata.stores.watch.sql import STORED_ROUNDS

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PAGE = Measured("web_search {}", "ok", 9, {"results[].title": (9, 10)}, (1, 2**32 - 1), 0.5)
DRIFT = Drift(NOW, (Loss("results[].title", 1.0, 0.0),), new_layout=True, sample="google_web-1")
WEBHOOK = text(
    "INSERT INTO webhooks (id, account_id, url, events, description, secret, created, enabled, failures, host) "
    "VALUES ('whk', 'acc_default', 'https://a.example', '*', '', 's', :now, :on, 0, 'a.example')"
).bindparams(bindparam("now", type_=Moment))


def events(stores):
    with stores._database.reads.connect() as connection:
        rows = connection.execute(text("SELECT body FROM events WHERE type LIKE 'engine.%' ORDER BY id"))
        return [row.body.partition('"data":')[2] for row in rows]


async def test_a_round_is_begun_once(url):
    """Of several processes one begins a round that is due, and none before the next is."""
    with SqlStores(url) as one, SqlStores(url) as other:
        begin = [stores.watch.begin_round("home", "internet", NOW, NOW + HOUR) for stores in (one, other) * 5]
        assert sum(await asyncio.gather(*begin)) == 1
        assert not await other.watch.begin_round("home", "internet", NOW + HOUR / 2, NOW + 2 * HOUR)
        assert await other.watch.begin_round("home", "sandbox", NOW, NOW + HOUR)
        begin = [stores.watch.begin_round("home", "internet", NOW + HOUR, NOW + 2 * HOUR) for stores in (one, other)]
        assert sum(await asyncio.gather(*begin)) == 1


async def test_what_was_measured_is_read_again(url):
    """Rounds are read as they were stored, the oldest first; the last of them stay."""
    with SqlStores(url) as stores:
        await stores.watch.begin_round("home", "internet", NOW, NOW + HOUR)
        for number in range(STORED_ROUNDS + 2):
            await stores.watch.add_round("home", "internet", Round(NOW + number * HOUR, [PAGE]), None, None)
        rounds = await stores.watch.rounds("home", "internet")
        assert rounds == [Round(NOW + number * HOUR, [PAGE]) for number in range(2, STORED_ROUNDS + 2)]
        [engine] = await stores.watch.engines()
        assert (engine.last_round, engine.drift) == (rounds[-1].time, None)


async def test_a_drift_is_an_event_once_and_its_end_another(url):
    """`engine.drifted` comes with a drift and with what is lost besides; `engine.recovered` with its end."""
    with SqlStores(url) as stores:
        with stores._database.writes.begin() as connection:
            connection.execute(WEBHOOK, {"now": NOW, "on": True})
        watch = stores.watch
        await watch.begin_round("home", "internet", NOW, NOW + HOUR)
        more = replace(DRIFT, losses=(*DRIFT.losses, Loss("results[].link", 1.0, 0.0)))
        steps = [(None, None), (None, DRIFT), (DRIFT, DRIFT), (DRIFT, more), (more, None)]
        for number, (before, after) in enumerate(steps):
            made = Round(NOW + (number - 1) * HOUR, [PAGE])
            await watch.add_round("home", "internet", made, before, after)
            assert await watch.drift("home", "internet") == after
        assert [one.good for one in await watch.rounds("home", "internet")] == [True, False, False, False, True]
        lost = '"since":"2026-11-26T12:00:00Z","sample":"google_web-1"}}'
        assert events(stores) == [
            '{"engine":"home","lost":["results[].title"],' + lost,
            '{"engine":"home","lost":["results[].title","results[].link"],' + lost,
            '{"engine":"home","was":"drifted"}}',
        ]


async def test_a_drift_that_has_changed_meanwhile_is_not_overwritten(url):
    """A round that was judged by another drift than the stored one changes nothing."""
    with SqlStores(url) as stores:
        await stores.watch.begin_round("home", "internet", NOW, NOW + HOUR)
        await stores.watch.add_round("home", "internet", Round(NOW, [PAGE]), DRIFT, None)
        assert await stores.watch.rounds("home", "internet") == []


async def test_an_accepted_engine_is_learned_anew(url):
    """Its rounds and its drift are forgotten, and a round is due."""
    with SqlStores(url) as stores:
        await stores.watch.begin_round("home", "internet", NOW, NOW + HOUR)
        await stores.watch.add_round("home", "internet", Round(NOW, [PAGE]), None, DRIFT)
        assert await stores.watch.forget("home")
        assert not await stores.watch.forget("home")
        assert await stores.watch.rounds("home", "internet") == []
        assert await stores.watch.begin_round("home", "internet", NOW, NOW + HOUR)
