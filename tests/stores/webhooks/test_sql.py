"""Webhooks, the outbox and deliveries, on SQLite and PostgreSQL."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic

import orjson
import pytest
from sqlalchemy import insert

from webdata.accounts.access.api_keys import new_key, successor
from webdata.domain.events import EngineDegraded
from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.accounts.tables import DELIVERIES, EVENTS
from webdata.stores.sql_stores import SqlStores, attach_deliveries
from webdata.stores.webhooks.model import DeliveryAttempt, Webhook

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)
HOOK = Webhook(
    "whk_1",
    DEFAULT_ACCOUNT,
    "https://shop.example/hook",
    ("*",),
    "the shop's",
    "whsec_a",
    NOW,
    host="shop.example",
    confirmed=NOW,
)
ASKED = replace(HOOK, confirmed=None)
ME, OTHER = "here:1:1", "here:2:2"


@pytest.fixture
def stores(url):
    with SqlStores(url) as opened:
        yield opened


async def types(stores, webhook="whk_1"):
    """The types of the events for a webhook, oldest first."""
    return [one.type for one in reversed(await stores.webhooks.deliveries(webhook, 1000))]


async def leased(stores, now=NOW, process=ME, share=1000, most=1000):
    return await stores.deliveries.lease(process, now, now + MINUTE, lambda *_: share, most)


def lost(due, at=NOW, **values):
    return DeliveryAttempt(due.event_id, due.webhook.id, due.webhook.url, ME, at, 500, "no", "status 500", **values)


def won(due, at=NOW):
    return DeliveryAttempt(due.event_id, due.webhook.id, due.webhook.url, ME, at, 200, "fine")


async def spend(stores, number, outcome="commit"):
    await stores.ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key")
    await getattr(stores.ledger, outcome)(f"req_{number}", "ok")


async def test_a_webhook_is_found_changed_and_removed_by_its_account_alone(stores):
    """A webhook is found, listed, changed and removed by its own account, and does not exist for another one."""
    assert await stores.webhooks.add(HOOK, 50)
    assert await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1") == HOOK
    assert await stores.webhooks.all(DEFAULT_ACCOUNT) == [HOOK]
    assert await stores.webhooks.find("acc_other", "whk_1") is None
    assert (
        await stores.webhooks.change("acc_other", "whk_1", {"url": "https://evil.example/", "host": "evil.example"})
        is None
    )
    assert not await stores.webhooks.remove("acc_other", "whk_1")
    changes = {"url": "https://new.example/", "host": "new.example", "events": ("key.created",), "enabled": False}
    changed = replace(HOOK, **changes, confirmed=None)
    assert await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", changes) == changed
    assert await stores.webhooks.remove(DEFAULT_ACCOUNT, "whk_1")
    assert await stores.webhooks.all(DEFAULT_ACCOUNT) == []


async def test_an_account_has_at_most_so_many_webhooks(stores):
    """Beyond the bound no webhook is added."""
    assert [await stores.webhooks.add(replace(HOOK, id=f"whk_{number}"), 2) for number in range(3)] == [
        True,
        True,
        False,
    ]


async def test_the_events_of_keys_are_written_with_them(stores):
    """Making, rotating and revoking a key write events; a key that is refused writes none."""
    await stores.webhooks.add(HOOK, 50)
    key, secret = new_key("shop", test=False, scopes=["web_search"])
    await stores.keys.add(key)
    with pytest.raises(ValueError, match="cannot be added"):
        await stores.keys.add(key)
    follows, _ = successor(key)
    await stores.keys.rotate(key.id, follows, NOW)
    assert await stores.keys.revoke(follows.id, NOW)
    assert not await stores.keys.revoke(follows.id, NOW)
    assert await types(stores) == ["key.created", "key.created", "key.revoked"]
    bodies = [orjson.loads(due.body) for due in await leased(stores, now=datetime.now(UTC) + SECOND)]
    assert [body["data"].get("replaces") for body in bodies] == [None, key.id, None]
    assert secret not in str(bodies)
    assert bodies[0]["timestamp"].endswith("Z")


async def test_an_event_goes_to_the_webhooks_that_want_it(stores):
    """An event is delivered to the enabled webhooks of its account that want its type, and else not stored."""
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, NOW))
    for webhook in (
        replace(HOOK, id="whk_low", events=("credits.low", "credits.exhausted")),
        replace(HOOK, id="whk_key", events=("key.created",)),
        replace(HOOK, id="whk_off", enabled=False),
        replace(HOOK, id="whk_other", account_id="acc_other"),
    ):
        await stores.webhooks.add(webhook, 50)
    await stores.keys.add(new_key("shop", test=False)[0])
    assert {one: await types(stores, f"whk_{one}") for one in ("low", "key", "off", "other")} == {
        "low": [],
        "key": ["key.created"],
        "off": [],
        "other": [],
    }


async def test_low_credits_are_told_once_and_again_after_a_refill(stores):
    """`credits.low` comes when the unspent credits fall to the mark, once, and again only after a refill above it."""
    await stores.webhooks.add(HOOK, 50)
    await stores.ledger.credit(DEFAULT_ACCOUNT, -899)
    assert await types(stores) == []
    await spend(stores, 1)
    assert await types(stores) == ["credits.low"]
    for number in range(2, 5):
        await spend(stores, number)
    await stores.ledger.credit(DEFAULT_ACCOUNT, 2)
    await spend(stores, 5)
    assert await types(stores) == ["credits.low"]
    await stores.ledger.credit(DEFAULT_ACCOUNT, 3)
    await spend(stores, 6)
    assert await types(stores) == ["credits.low", "credits.low"]
    [_, second] = await leased(stores, now=datetime.now(UTC) + SECOND)
    assert orjson.loads(second.body)["data"] == {"account": DEFAULT_ACCOUNT, "credits": 100, "mark": 100}


async def test_reserved_credits_are_not_spent(stores):
    """Credits that are reserved and come back are no fall; only the last one that is spent exhausts the account."""
    await stores.ledger.credit(DEFAULT_ACCOUNT, -850)
    await stores.webhooks.add(HOOK, 50)
    for number in range(150):
        await stores.ledger.reserve(DEFAULT_ACCOUNT, f"req_{number}", "web_search", "key")
    await stores.ledger.commit("req_0", "ok")
    assert await types(stores) == []
    for number in range(1, 150):
        await (stores.ledger.release if number < 100 else stores.ledger.commit)(f"req_{number}", "ok")
    assert await types(stores) == ["credits.low"]
    await stores.ledger.credit(DEFAULT_ACCOUNT, -98)
    await spend(stores, "a")
    assert await types(stores) == ["credits.low", "credits.exhausted"]
    await stores.ledger.credit(DEFAULT_ACCOUNT, 1)
    await spend(stores, "b")
    assert await types(stores) == ["credits.low", "credits.exhausted", "credits.exhausted"]


async def test_a_new_account_is_neither_low_nor_exhausted(stores):
    """The first credits of an account are no fall, also below the mark of its plan; a mark of 0 is never low."""
    await stores.accounts.put_plan(replace(DEFAULT_PLAN, name="none", low_credits=0))
    for account, plan in (("acc_a", DEFAULT_PLAN), ("acc_b", replace(DEFAULT_PLAN, name="none", low_credits=0))):
        await stores.accounts.add(Account(account, account, plan, NOW))
        await stores.webhooks.add(replace(HOOK, id=f"whk_{account}", account_id=account), 50)
        await stores.ledger.credit(account, 2)
        for number in range(2):
            await stores.ledger.reserve(account, f"req_{account}{number}", "web_search", "key")
            await stores.ledger.commit(f"req_{account}{number}", "ok")
        assert await types(stores, f"whk_{account}") == ["credits.exhausted"]


@pytest.mark.usefixtures("starts")
async def test_the_process_of_the_ledger_writes_the_events(url):
    """The process that writes the ledger writes its events."""
    with SqlStores(url, ledger_process=True) as stores:
        await stores.webhooks.add(HOOK, 50)
        await stores.ledger.credit(DEFAULT_ACCOUNT, -1000)
        assert await types(stores) == ["credits.low", "credits.exhausted"]


async def test_an_expiring_key_is_told_once(stores):
    """A key that expires within the time is told once, whichever process sees it; a revoked one is not."""
    await stores.webhooks.add(replace(HOOK, events=("key.expiring",)), 50)
    keys = [new_key(name, test=True, expires=NOW + days * DAY)[0] for name, days in (("a", 6), ("b", 8), ("c", 5))]
    for key in keys:
        await stores.keys.add(key)
    await stores.keys.revoke(keys[2].id, NOW)
    for _ in range(2):
        await stores.events.announce_expiring_keys(NOW, NOW + 7 * DAY)
    assert await types(stores) == ["key.expiring"]
    await stores.events.announce_expiring_keys(NOW + 2 * DAY, NOW + 9 * DAY)
    assert await types(stores) == ["key.expiring", "key.expiring"]


async def test_an_engine_degrades_and_recovers_once(stores):
    """A degraded engine is one event for all processes, until it has fetched a page that nobody saw fail after."""
    await stores.webhooks.add(HOOK, 50)
    bad = EngineDegraded(engine="google_web", calls=5, lost={"captcha": 5})
    for seconds in (0, 1, 2):
        await stores.events.see_degraded([bad], NOW + seconds * SECOND)
    assert (await types(stores), list(await stores.events.degraded())) == (["engine.degraded"], ["google_web"])
    for won_at, now in ((1, 60), (40, 20)):  # the page is older; it was seen degraded a moment ago
        await stores.events.see_recovered({"google_web": NOW + won_at * SECOND}, NOW + now * SECOND, 30 * SECOND)
    assert await types(stores) == ["engine.degraded"]
    for _ in range(2):
        await stores.events.see_recovered({"google_web": NOW + 40 * SECOND}, NOW + 60 * SECOND, 30 * SECOND)
    assert (await types(stores), list(await stores.events.degraded())) == (["engine.degraded", "engine.recovered"], [])
    await stores.events.see_degraded([bad], NOW + 90 * SECOND)
    assert (await types(stores))[2:] == ["engine.degraded"]


async def test_a_delivery_is_leased_by_one_process(stores, url):
    """A leased delivery is due for nobody until its lease ends, or its process is found dead."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)
    assert not await stores.deliveries.is_due(NOW - SECOND)
    assert await stores.deliveries.is_due(NOW)
    [due] = await leased(stores)
    assert (due.webhook, due.step, orjson.loads(due.body)["type"]) == (HOOK, 0, "webhook.test")
    other = attach_deliveries(url)
    assert not await other.is_due(NOW)
    assert not await other.lease(OTHER, NOW, NOW + MINUTE, lambda *_: 9, 9)
    assert await other.release(lambda process: process == OTHER, NOW) == 0
    assert await other.release(lambda process: process == ME, NOW) == 1
    [again] = await other.lease(OTHER, NOW, NOW + MINUTE, lambda *_: 9, 9)
    assert again == due
    assert [one.event_id for one in await leased(stores, now=NOW + MINUTE)] == [due.event_id]
    other.close()


async def test_shares_bound_what_is_leased(stores):
    """At most the share of each webhook is leased, the oldest first, and at most so many of all."""
    for number in (1, 2):
        webhook = replace(HOOK, id=f"whk_{number}")
        await stores.webhooks.add(webhook, 50)
        for seconds in range(4):
            await stores.webhooks.test(webhook, NOW - seconds * SECOND)
    shares = {"whk_1": 1, "whk_2": 3}
    taken = await stores.deliveries.lease(ME, NOW, NOW + MINUTE, lambda _account, one, _failures: shares[one], 9)
    assert sorted(one.webhook.id for one in taken) == ["whk_1", "whk_2", "whk_2", "whk_2"]
    assert min(orjson.loads(one.body)["timestamp"] for one in taken) == "2026-11-01T11:59:57Z"
    assert len(await leased(stores, most=2)) == 2
    assert not await leased(stores, share=0)


@pytest.mark.timed
async def test_a_lease_takes_no_longer_the_more_is_due(stores):
    """A backlog a hundred times as long slows a lease down by less than five times."""
    names = [f"whk_{number}" for number in range(10)]
    for name in names:
        await stores.webhooks.add(replace(HOOK, id=name), 50)

    async def seconds(backlog):
        """The shortest of three leases, after so many more events."""
        event = {"type": "key.created", "created": NOW, "body": "{}", "once": None}
        events = [{**event, "id": f"msg_{backlog}_{number}"} for number in range(backlog)]
        due = {"status": "pending", "attempts": 0, "step": 0, "next_attempt": NOW}
        rows = [{**due, "event_id": one["id"], "webhook_id": name} for one in events for name in names]
        await stores._database.write(
            lambda connection: (
                connection.execute(insert(EVENTS), events),
                connection.execute(insert(DELIVERIES), rows),
            )
        )
        took = []
        for _ in range(3):
            began = monotonic()
            assert len(await leased(stores, share=2, most=20)) == 20
            took.append(monotonic() - began)
        return min(took)

    few = await seconds(10)
    assert await seconds(1000) < 5 * few


async def test_a_success_ends_a_delivery_and_a_failure_plans_the_next(stores):
    """The end of an attempt is stored with the answer, and the next attempt where there is one."""
    await stores.webhooks.add(HOOK, 50)
    for _ in range(3):
        await stores.webhooks.test(HOOK, NOW)
    first, second, third = sorted(await leased(stores), key=lambda due: due.event_id)
    for end in (won(first), lost(second, next_attempt=NOW + 5 * SECOND), lost(third)):
        await stores.deliveries.finish(end)
    rows = {one.event_id: one for one in await stores.webhooks.deliveries("whk_1", 10)}
    assert [rows[due.event_id].status for due in (first, second, third)] == ["delivered", "pending", "failed"]
    row = rows[second.event_id]
    assert (row.attempts, row.response_status, row.response_body, row.error) == (1, 500, "no", "status 500")
    assert (row.last_attempt, row.next_attempt) == (NOW, NOW + 5 * SECOND)
    [again] = await leased(stores, now=NOW + 5 * SECOND)
    assert (again.event_id, again.step, again.webhook.failures) == (second.event_id, 1, 2)


async def test_a_lost_lease_is_not_finished(stores):
    """An attempt whose lease another process has taken changes nothing of the delivery."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)
    [due] = await leased(stores)
    await leased(stores, now=NOW + MINUTE, process=OTHER)
    await stores.deliveries.finish(lost(due))
    assert (await stores.webhooks.deliveries("whk_1", 1))[0].status == "pending"


async def test_a_webhook_that_fails_for_days_is_disabled(stores):
    """20 failures in a row over 3 days disable a webhook; a success before begins the count anew."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)

    async def attempt(day, end=lost):
        [due] = await leased(stores, now=NOW + day * DAY)
        values = {} if end is won else {"next_attempt": NOW + day * DAY}
        await stores.deliveries.finish(end(due, NOW + day * DAY, **values))
        if end is won:
            await stores.webhooks.resend("whk_1", due.event_id, NOW + day * DAY)
        return await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1")

    for day in (0, *[1] * 18, 2.9):
        webhook = await attempt(day)
    assert (webhook.enabled, webhook.failures, webhook.failing_since) == (True, 20, NOW)
    webhook = await attempt(2.95, won)
    assert (webhook.failures, webhook.failing_since) == (0, None)
    for day in (*[3] * 19, 5.9):
        assert (await attempt(day)).enabled
    webhook = await attempt(6)
    assert (webhook.enabled, webhook.disabled_reason) == (False, "20 attempts in a row have failed, over 3 days")
    assert not await leased(stores, now=NOW + 7 * DAY)
    webhook = await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", {"enabled": True})
    assert (webhook.failures, webhook.failing_since, webhook.disabled_reason) == (0, None, None)
    assert len(await leased(stores, now=NOW + 7 * DAY)) == 1


async def test_an_attempt_may_disable_its_webhook(stores):
    """An attempt with a reason disables the webhook at once."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)
    [due] = await leased(stores)
    await stores.deliveries.finish(lost(due, disable="the receiver is gone (410)"))
    webhook = await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1")
    assert (webhook.enabled, webhook.disabled_reason) == (False, "the receiver is gone (410)")


async def test_a_receiver_that_wants_a_pause_gets_nothing(stores):
    """A webhook is paused for all of its deliveries until the time that an attempt has brought."""
    await stores.webhooks.add(HOOK, 50)
    for _ in range(2):
        await stores.webhooks.test(HOOK, NOW)
    [due] = await leased(stores, share=1)
    await stores.deliveries.finish(lost(due, next_attempt=NOW + MINUTE, pause_until=NOW + MINUTE))
    assert not await stores.deliveries.is_due(NOW + 59 * SECOND)
    assert not await leased(stores, now=NOW + 59 * SECOND)
    assert len(await leased(stores, now=NOW + MINUTE)) == 2


async def test_a_delivery_is_sent_again(stores):
    """A delivery that has ended is due again, from the beginning of the schedule; one that is attempted now is not."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)
    [due] = await leased(stores)
    assert (await stores.webhooks.resend("whk_1", due.event_id, NOW)).next_attempt == NOW + MINUTE
    await stores.deliveries.finish(lost(due))
    again = await stores.webhooks.resend("whk_1", due.event_id, NOW + SECOND)
    assert (again.status, again.attempts, again.next_attempt) == ("pending", 1, NOW + SECOND)
    assert [one.step for one in await leased(stores, now=NOW + SECOND)] == [0]
    assert await stores.webhooks.resend("whk_1", "msg_none", NOW) is None
    assert await stores.webhooks.resend("whk_2", due.event_id, NOW) is None


async def test_deliveries_are_listed_in_pages(stores):
    """Deliveries are listed newest first, those before an id, and those of a status."""
    await stores.webhooks.add(HOOK, 50)
    ids = [(await stores.webhooks.test(HOOK, NOW + number * SECOND)).event_id for number in range(3)]
    await stores.deliveries.finish(won((await leased(stores))[0]))
    listed = stores.webhooks.deliveries
    assert [one.event_id for one in await listed("whk_1", 2)] == [ids[2], ids[1]]
    assert [one.event_id for one in await listed("whk_1", 2, before=ids[1])] == [ids[0]]
    assert [one.event_id for one in await listed("whk_1", 9, status="delivered")] == [ids[0]]


async def test_waiting_deliveries_are_counted(stores):
    """Those that wait for an attempt count, with the time of the oldest event; those of a disabled webhook do not."""
    assert await stores.deliveries.waiting() == (0, None)
    await stores.webhooks.add(HOOK, 50)
    events = [await stores.webhooks.test(HOOK, NOW + number * MINUTE) for number in range(3)]
    assert await stores.deliveries.waiting() == (3, NOW)
    [first] = await leased(stores, NOW)
    await stores.deliveries.finish(won(first))
    assert await stores.deliveries.waiting() == (2, NOW + MINUTE), events
    await stores.webhooks.change(DEFAULT_ACCOUNT, HOOK.id, {"enabled": False})
    assert (await stores.deliveries.waiting()).number == 0


async def test_old_events_are_removed_in_steps(stores):
    """Events from before a time are removed with their deliveries, so many at once."""
    await stores.webhooks.add(HOOK, 50)
    for days in range(5):
        await stores.webhooks.test(HOOK, NOW + days * DAY)
    removed = [await stores.deliveries.remove_old(NOW + 3 * DAY, 2) for _ in range(3)]
    assert (removed, len(await types(stores))) == ([2, 1, 0], 2)


async def test_nothing_but_tests_is_sent_before_the_receiver_agrees(stores):
    """A new webhook is sent a test alone; what else there is waits, and is sent once a test has succeeded."""
    await stores.webhooks.add(ASKED, 50)
    await stores.keys.add(new_key("shop", test=True)[0])
    assert await types(stores) == ["webhook.test", "key.created"]
    (test,) = await leased(stores)
    assert test.type == "webhook.test"
    await stores.deliveries.finish(lost(test, next_attempt=NOW + MINUTE))
    found = await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1")
    assert (found.status, found.confirmed) == ("unconfirmed", None)
    assert not await leased(stores)
    (test,) = await leased(stores, NOW + MINUTE)
    await stores.deliveries.finish(replace(won(test, NOW + MINUTE), confirms=True))
    found = await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1")
    assert (found.status, found.confirmed) == ("active", NOW + MINUTE)
    assert [one.type for one in await leased(stores, NOW + MINUTE)] == ["key.created"]


async def test_another_url_is_another_receiver(stores):
    """With another URL the receiver is asked again, what is pending waits, and a late answer of the old one is none."""
    await stores.webhooks.add(ASKED, 50)
    (test,) = await leased(stores)
    await stores.keys.add(new_key("shop", test=True)[0])
    moved = {"url": "https://other.example/hook", "host": "other.example"}
    await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", moved)
    await stores.deliveries.finish(replace(won(test), confirms=True))
    found = await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1")
    assert (found.status, found.url, found.host) == ("unconfirmed", *moved.values())
    (test,) = await leased(stores, datetime.now(UTC))
    assert test.type == "webhook.test"
    await stores.deliveries.finish(replace(won(test), confirms=True))
    assert (await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", moved)).status == "active"
    await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", {"url": ASKED.url, "host": ASKED.host})
    assert [one.type for one in await leased(stores, datetime.now(UTC))] == ["webhook.test"]


async def test_a_late_answer_of_another_receiver_changes_nothing(stores):
    """What the receiver at the URL before has answered, such as that it is gone, does not count against the new one."""
    await stores.webhooks.add(HOOK, 50)
    await stores.webhooks.test(HOOK, NOW)
    (due,) = await leased(stores)
    moved = {"url": "https://other.example/hook", "host": "other.example"}
    webhook = await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_1", moved)
    await stores.deliveries.finish(lost(due, disable="the receiver is gone (410)", pause_until=NOW + DAY))
    assert await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_1") == webhook


async def test_one_host_gets_an_event_once(stores):
    """Of an account's webhooks of one host the oldest that is confirmed gets an event; another account has its own."""
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, NOW))
    for number in range(5):
        hook = replace(HOOK, id=f"whk_{number}", url=f"https://shop.example/{number}", created=NOW + number * SECOND)
        await stores.webhooks.add(replace(hook, confirmed=NOW if number else None), 50)
    await stores.webhooks.add(replace(HOOK, id="whk_elsewhere", host="a.example"), 50)
    await stores.webhooks.add(replace(HOOK, id="whk_theirs", account_id="acc_other"), 50)
    await stores.keys.add(new_key("shop", test=True)[0])
    await stores.keys.add(new_key("theirs", test=True, account_id="acc_other")[0])
    await stores.events.see_degraded([EngineDegraded(engine="google_web", calls=1, lost={})], NOW)
    got = {name: await types(stores, name) for name in ("whk_0", "whk_1", "whk_2", "whk_elsewhere", "whk_theirs")}
    both = ["engine.degraded", "key.created"]  # its time is that of the event
    assert got == {"whk_0": ["webhook.test"], "whk_1": both, "whk_2": [], "whk_elsewhere": both, "whk_theirs": both}


async def test_events_while_a_receiver_agrees(stores):
    """Whatever is written at the moment in which a receiver agrees is sent to it."""
    for number in range(10):
        hook = replace(ASKED, id=f"whk_{number}", host=f"{number}.example")
        await stores.webhooks.add(hook, 50)
    tests = await leased(stores)
    agreeing = [stores.deliveries.finish(replace(won(one), confirms=True)) for one in tests]
    making = [stores.keys.add(new_key(f"key {number}", test=True)[0]) for number in range(10)]
    await asyncio.gather(*(one for pair in zip(agreeing, making, strict=True) for one in pair))
    sent = []
    while due := await leased(stores, datetime.now(UTC)):
        sent += due
    assert len([one for one in sent if one.type == "key.created"]) == 100
