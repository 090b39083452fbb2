"""Delivery: many events to many receivers, dead and slow ones among them, and processes that are killed."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from standardwebhooks import Webhook as Verifier

from webdata.accounts.webhooks import sender as webhook_sender
from webdata.accounts.webhooks.delivery import DELAYS, DeliveryWorker, attempt_of
from webdata.accounts.webhooks.sender import ReceiverAnswer
from webdata.accounts.webhooks.signatures import new_secret
from webdata.domain.events import Event, KeyRevoked
from webdata.runtime.process.names import this_process
from webdata.stores.accounts.model import DEFAULT_ACCOUNT
from webdata.stores.sql_stores import attach_deliveries
from webdata.stores.webhooks.model import DueDelivery, Webhook
from webdata.stores.webhooks.outbox import add_events

pytestmark = pytest.mark.task

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOOK = Webhook("whk_1", DEFAULT_ACCOUNT, "https://shop.example/hook", ("*",), "", new_secret(), NOW, confirmed=NOW)
DUE = DueDelivery("msg_1", "key.created", HOOK, "{}", 0)


async def hook_for(stores, receiver, number=1):
    webhook = replace(HOOK, id=f"whk_{number:02}", url=receiver.url, secret=new_secret(), host=f"{number}.example")
    assert await stores.webhooks.add(webhook, 1000)
    return webhook


async def announce(stores, count):
    """Write so many events, each in a transaction of its own."""
    for number in range(count):
        data = KeyRevoked(id=f"key_{number}", name="", prefix="", test=True)
        event = Event(DEFAULT_ACCOUNT, data, datetime.now(UTC))
        await stores._database.write(lambda on, event=event: add_events(on, [event]), durable=False)


def got(receiver):
    """How often a receiver got each event, by its id."""
    return Counter(headers["webhook-id"] for headers, _ in receiver.received)


async def until(condition, seconds=20):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # receivers signal nothing
            await asyncio.sleep(0.02)


async def until_attempted(stores, webhook):
    async with asyncio.timeout(20):
        while not any(one.attempts for one in await stores.webhooks.deliveries(webhook, 100)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@asynccontextmanager
async def delivering(stores, urls):
    """A delivery in this process."""

    sender = webhook_sender.WebhookSender(urls)
    delivery = DeliveryWorker(stores.deliveries, sender, this_process())
    running = asyncio.ensure_future(delivery.run())
    try:
        yield delivery
    finally:
        delivery.stop()
        await running
        await sender.close()


@pytest.mark.parametrize(
    ("answer", "error", "seconds", "disables"),
    [
        (ReceiverAnswer(200), None, None, False),
        (ReceiverAnswer(299), None, None, False),
        (ReceiverAnswer(302), "redirects are not followed", 5, False),
        (ReceiverAnswer(404), "where 200 to 299 is a success", 5, False),
        (ReceiverAnswer(410), "410", None, True),
        (ReceiverAnswer(500, retry_after="60"), "500", 5, False),
        (ReceiverAnswer(429, retry_after="60"), "429", 60, False),
        (ReceiverAnswer(503, retry_after="Sun, 01 Nov 2026 12:02:00 GMT"), "503", 120, False),
        (ReceiverAnswer(503, retry_after="2"), "503", 5, False),
        (ReceiverAnswer(failure="the connection was refused"), "the connection was refused", 5, False),
    ],
)
async def test_the_answer_decides_about_the_next_attempt(answer, error, seconds, disables):
    """2xx is a success, 410 disables, anything else is repeated, and a `Retry-After` of 429 and 503 is kept to."""
    attempt = attempt_of(DUE, answer, "me", NOW)
    assert (attempt.error is None) == (error is None)
    assert error is None or error in attempt.error
    assert bool(attempt.disable) == disables
    assert (attempt.next_attempt is None) == (seconds is None)
    if seconds:
        assert 0 <= (attempt.next_attempt - NOW).total_seconds() - seconds <= 0.1 * seconds


async def test_ten_attempts_are_made_in_three_days():
    """The attempts follow the times of the specification with jitter, and the tenth is the last."""
    ends = [attempt_of(replace(DUE, step=step), ReceiverAnswer(500), "me", NOW).next_attempt for step in range(10)]
    assert ends[-1] is None
    for end, delay in zip(ends[:-1], DELAYS, strict=True):
        assert delay <= end - NOW <= 1.1 * delay
    assert timedelta(days=3) < sum(DELAYS, timedelta()) < timedelta(days=4)


@pytest.mark.parametrize(
    ("answer", "step", "result"),
    [
        (ReceiverAnswer(204), 0, "delivered"),
        (ReceiverAnswer(500), 0, "failed"),
        (ReceiverAnswer(None, failure="refused"), 9, "given_up"),
        (ReceiverAnswer(410), 0, "given_up"),
    ],
)
async def test_the_result_of_an_attempt(answer, step, result):
    """An attempt delivers, fails with another one to follow, or is the last."""
    assert attempt_of(replace(DUE, step=step), answer, "here:1:1", NOW).result == result


async def test_the_beginning_of_an_answer_is_stored_as_text():
    """1 KB of any bytes is stored as a text that every database takes."""
    body = attempt_of(DUE, ReceiverAnswer(500, b"\0\xff" + b"a" * 5000), "me", NOW).response_body
    assert body == "��" + "a" * 1022


async def test_events_arrive_once_and_verify(stores, receivers, make_urls):
    """Each event arrives once at each receiver, signed by its own secret; both sign after a rotation."""
    first, second = await receivers(), await receivers()
    webhooks = [await hook_for(stores, first, 1), await hook_for(stores, second, 2)]
    rotated = {"old_secret": webhooks[1].secret, "old_secret_until": datetime.now(UTC) + 60 * SECOND}
    await stores.webhooks.change(DEFAULT_ACCOUNT, "whk_02", {**rotated, "secret": new_secret()})
    await announce(stores, 20)
    async with delivering(stores, make_urls(first.port, second.port)):
        await until(lambda: len(first.received) + len(second.received) >= 40)
        await asyncio.sleep(0.3)
    for webhook, receiver in zip(webhooks, (first, second), strict=True):
        assert sorted(got(receiver).values()) == [1] * 20
        for headers, body in receiver.received:
            assert Verifier(webhook.secret).verify(body, headers)["type"] == "key.revoked"
    assert {one.status for one in await stores.webhooks.deliveries("whk_01", 100)} == {"delivered"}


async def test_dead_receivers_hold_up_nobody(stores, receivers, make_urls):
    """Receivers that fail, hang, close or are gone hold up no other one, and are attempted again later."""
    alive, dead = [await receivers() for _ in range(6)], [await receivers() for _ in range(8)]
    for receiver in dead[:2]:
        receiver.status(500)
    for receiver in dead[2:4]:
        receiver.hangs = True
    for receiver in dead[4:6]:
        receiver.closes = True
    for receiver in dead[6:]:
        receiver.stop()
    for number, receiver in enumerate([*dead, *alive]):
        await hook_for(stores, receiver, number)
    async with delivering(stores, make_urls(*(one.port for one in [*alive, *dead]))) as delivery:
        await announce(stores, 30)
        began = datetime.now(UTC)
        await until(lambda: all(len(receiver.received) == 30 for receiver in alive))
        assert datetime.now(UTC) - began < 10 * SECOND
        assert all(1 <= len(receiver.received) == receiver.connections for receiver in dead[2:4])
        await until_attempted(stores, "whk_06")
        for task in delivery._tasks:
            task.cancel()
    assert all(sorted(got(receiver).values()) == [1] * 30 for receiver in alive)
    [failed, *_] = await stores.webhooks.deliveries("whk_00", 100, status="pending")
    assert failed.response_status in (None, 500)
    attempted = [one for one in await stores.webhooks.deliveries("whk_06", 100) if one.attempts]
    assert {one.error for one in attempted} == {"the connection was refused"}


async def test_a_gone_receiver_disables_its_webhook(stores, receivers, make_urls):
    """A 410 disables the webhook with a reason, and its other deliveries wait."""
    receiver = await receivers()
    receiver.status(410)
    await hook_for(stores, receiver)
    await announce(stores, 3)
    async with delivering(stores, make_urls(receiver.port)):
        await until(lambda: receiver.received)
        await asyncio.sleep(0.3)
    webhook = await stores.webhooks.find(DEFAULT_ACCOUNT, "whk_01")
    assert (webhook.enabled, webhook.disabled_reason) == (False, "the receiver has answered that it is gone (410)")
    assert len(receiver.received) == 1


async def test_two_processes_deliver_each_event_once(sqlite, stores, receivers, make_urls):
    """Two deliveries of one database share the work, and each event arrives once."""

    receiver = await receivers()
    await hook_for(stores, receiver)
    await announce(stores, 60)
    other = attach_deliveries(sqlite)
    sender = webhook_sender.WebhookSender(make_urls(receiver.port))
    second = DeliveryWorker(other, sender, "there:1:1")
    running = asyncio.ensure_future(second.run())
    async with delivering(stores, make_urls(receiver.port)):
        await until(lambda: len(receiver.received) >= 60)
        await asyncio.sleep(0.3)
    second.stop()
    await running
    await sender.close()
    other.close()
    assert sorted(got(receiver).values()) == [1] * 60


async def test_an_account_has_its_share_of_the_attempts():
    """However many webhooks of an account hang, or are quick, those of another one are attempted beside them."""
    delivery = DeliveryWorker(None, None, "me")
    for number in range(30):
        delivery._quick.add(f"quick_{number}")
    share = delivery._shares()
    assert sum(share("acc_1", f"slow_{number}", 1) for number in range(100)) == 20
    assert sum(share("acc_1", f"quick_{number}", 0) for number in range(30)) == 60
    assert share("acc_2", "other", 1) == 1


async def test_a_receiver_agrees_by_its_answer(stores, receivers, make_urls):
    """A new webhook is sent a signed test by itself, and other events only after that was answered with success."""
    receiver = await receivers()
    receiver.status(500)
    webhook = replace(HOOK, url=receiver.url, host=receiver.url, confirmed=None)
    await stores.webhooks.add(webhook, 1)
    await announce(stores, 3)
    async with delivering(stores, make_urls(receiver.port)):
        await until_attempted(stores, webhook.id)
        assert {orjson.loads(body)["type"] for _, body in receiver.received} == {"webhook.test"}
        receiver.status(204, "Connection: close")
        await stores.webhooks.test(webhook, datetime.now(UTC))
        await until(lambda: len(got(receiver)) == 5)
    assert (await stores.webhooks.find(DEFAULT_ACCOUNT, webhook.id)).status == "active"
