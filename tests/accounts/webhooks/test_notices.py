"""What the service notices by itself."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from webdata.accounts.access.api_keys import new_key
from webdata.accounts.webhooks import notices
from webdata.accounts.webhooks.notices import Notices
from webdata.domain.errors import DatabaseUnavailableError
from webdata.domain.events import EngineDegraded
from webdata.runtime.process import repeat
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.webhooks.model import Webhook

pytestmark = pytest.mark.task

HOOK = Webhook(
    "whk_1",
    DEFAULT_ACCOUNT,
    "https://shop.example/",
    ("*",),
    "",
    "whsec_a",
    datetime.now(UTC),
    confirmed=datetime.now(UTC),
)
BAD = EngineDegraded(engine="google_web", calls=5, lost={"captcha": 5})


class ScriptedEngines:
    def __init__(self):
        self.bad, self.won = [], {}

    def degraded(self):
        return self.bad

    def won_ago(self):
        return self.won


@pytest.fixture
def engines():
    return ScriptedEngines()


@pytest.fixture
def noticing(stores, engines):
    return Notices(engines, stores.events, stores.deliveries)


async def types(stores):
    return [one.type for one in reversed(await stores.webhooks.deliveries("whk_1", 100))]


async def test_engines_are_told_when_they_degrade_and_recover(stores, engines, noticing, monkeypatch):
    """An engine that fetches nothing is an event, and its next page another, once nobody sees it fail."""
    await stores.webhooks.add(HOOK, 50)
    await noticing.look_at_engines()
    assert await types(stores) == []
    engines.bad = [BAD]
    for _ in range(2):
        await noticing.look_at_engines()
    engines.bad, engines.won = [], {"google_web": 0.0}
    await noticing.look_at_engines()
    assert await types(stores) == ["engine.degraded"]
    monkeypatch.setattr(notices, "UNSEEN", timedelta(0))
    await noticing.look_at_engines()
    assert await types(stores) == ["engine.degraded", "engine.recovered"]


async def test_keys_are_told_a_week_before_they_expire(stores, noticing):
    """A key that expires within 7 days is an event, once."""
    await stores.webhooks.add(replace(HOOK, events=("key.expiring",)), 50)
    for days in (6.9, 7.1):
        await stores.keys.add(new_key("", test=True, expires=datetime.now(UTC) + timedelta(days=days))[0])
    for _ in range(2):
        await noticing.look_at_keys()
    assert await types(stores) == ["key.expiring"]


async def test_deliveries_are_kept_for_thirty_days(stores, noticing, monkeypatch):
    """Events of 30 days ago are removed in steps until none is left."""
    monkeypatch.setattr(notices, "STEP", 2)
    monkeypatch.setattr(repeat, "STEP_PAUSE", 0)
    await stores.webhooks.add(HOOK, 50)
    for days in (31, 31, 31, 29):
        await stores.webhooks.test(HOOK, datetime.now(UTC) - timedelta(days=days))
    await noticing.remove_old()
    assert len(await types(stores)) == 1


@pytest.mark.parametrize("trouble", [DatabaseUnavailableError("away"), RuntimeError("malformed")])
async def test_it_goes_on_after_errors(monkeypatch, stores, engines, noticing, trouble):
    """An error of the database is logged, and the next look is made."""
    monkeypatch.setattr(notices, "ENGINES_EVERY", 0.01)
    looks = []

    async def look(*_):
        looks.append(1)
        raise trouble

    monkeypatch.setattr(stores.events, "see_degraded", look)
    async with asyncio.timeout(5), repeat.running(noticing.run(hourly=True)):
        while len(looks) < 3:  # noqa: ASYNC110  # nothing is signalled
            await asyncio.sleep(0.01)
