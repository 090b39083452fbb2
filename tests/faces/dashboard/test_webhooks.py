"""The pages over webhooks."""

import re
from datetime import UTC, datetime

import pytest

from webdata.stores.accounts.model import DEFAULT_ACCOUNT, DEFAULT_PLAN, Account
from webdata.stores.webhooks.model import Webhook

task = pytest.mark.task

URL = "https://192.0.2.1/hook"


@pytest.fixture
def service(service, stores):
    """The service, which takes URLs of a network for documentation for public ones."""
    from webdata.accounts.webhooks.urls import WebhookUrls
    from webdata.accounts.webhooks.webhooks import Webhooks
    from webdata.fetching.egress.rule import Target

    class AnyUrl(WebhookUrls):
        def __init__(self):
            pass

        async def check_new(self, url, caller):
            if url == URL:
                return Target("https", "192.0.2.1", 443, URL)
            return await service._webhooks(stores)._urls.check_new(url, caller)

    service.webhooks = Webhooks(stores.webhooks, AnyUrl())
    return service


@task
async def test_a_webhook_is_made_and_its_secret_shown_once(visitor, stores):
    """The secret of a new webhook is shown once, and the webhook is listed."""
    person = await visitor().sign_up()
    page = await person.post("/webhooks", url=URL, events=["credits.low", "key.created"], description="shop")
    [secret] = set(re.findall(r"whsec_[\w+/=]+", page.body.decode().replace("&#43;", "+")))
    [webhook] = await stores.webhooks.all(DEFAULT_ACCOUNT)
    assert (webhook.url, webhook.events, webhook.secret) == (URL, ("credits.low", "key.created"), secret)
    for path in ("/webhooks", f"/webhooks/{webhook.id}", f"/webhooks/{webhook.id}/change"):
        body = (await person.get(path)).body.decode()
        assert URL in body
        assert secret not in body


@task
@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"url": "http://127.0.0.1/"}, "url", "https:// URL of a public host"),
        ({"url": ""}, "url", "cannot be ''"),
        ({"events": []}, "events", "at least 1"),
        ({"events": ["credits.lo"]}, "events", "the nearest is"),
        ({"description": "x" * 501}, "description", "at most 500"),
    ],
)
async def test_what_is_wrong_stands_beside_its_field(visitor, stores, wrong, field, said):
    """A wrong field is named with what would be right, and nothing is made."""
    person = await visitor().sign_up()
    page = await person.post("/webhooks", **{"url": URL, "events": ["*"], **wrong})
    assert page.status == 422
    assert re.search(rf'id="e-{field}">[^<]+', page.body.decode()), said
    assert await stores.webhooks.all(DEFAULT_ACCOUNT) == []


@task
async def test_a_webhook_is_changed_tested_and_removed(visitor, stores):
    """Change, disable, enable, test, resend, new secret, and delete after a confirmation."""
    person = await visitor().sign_up()
    await person.post("/webhooks", url=URL, events=["*"])
    [before] = await stores.webhooks.all(DEFAULT_ACCOUNT)
    path = f"/webhooks/{before.id}"
    assert (await person.post(f"{path}/change", url=URL, events=["key.created"], description="")).status == 303
    await person.post(f"{path}/disable")
    assert (await person.post(f"{path}/test")).status == 409
    assert b"Nothing is sent to it" in (await person.get(path)).body
    await person.post(f"{path}/enable")
    assert (await person.post(f"{path}/test")).headers["location"].endswith("?notice=tested")
    delivery, asking = await stores.webhooks.deliveries(before.id, 5)
    assert (delivery.type, asking.type) == ("webhook.test", "webhook.test")
    assert b"has not agreed yet" in (await person.get(path)).body
    assert b">unconfirmed<" in (await person.get("/webhooks")).body
    assert delivery.event_id.encode() in (await person.get(f"{path}?status=pending")).body
    assert delivery.event_id.encode() not in (await person.get(f"{path}?status=failed")).body
    assert (await person.post(f"{path}/deliveries/{delivery.event_id}/resend")).status == 303
    assert (await person.post(f"{path}/deliveries/msg_none/resend")).status == 404
    page = await person.post(f"{path}/rotate")
    [after] = await stores.webhooks.all(DEFAULT_ACCOUNT)
    assert (after.url, after.events, after.old_secret) == (URL, ("key.created",), before.secret)
    assert after.secret in page.body.decode().replace("&#43;", "+")
    assert URL.encode() in (await person.get(f"{path}/remove")).body
    assert (await person.post(f"{path}/remove")).status == 303
    assert await stores.webhooks.all(DEFAULT_ACCOUNT) == []


@task
async def test_webhooks_of_another_account_do_not_exist(visitor, stores, dashboard):
    """Whatever is asked about a webhook of another account is a 404, and changes nothing."""
    now = datetime.now(UTC)
    await stores.accounts.add(Account("acc_other", "other", DEFAULT_PLAN, now))
    theirs = Webhook("whk_1", "acc_other", URL, ("*",), "", "whsec_x", now)
    await stores.webhooks.add(theirs, 5)
    person = await visitor().sign_up()
    for route in dashboard.routes:
        if "<webhook_id>" in route.rule:
            path = re.sub(r"<\w+>", "whk_1", route.rule)
            ask = person.get if route.method == "GET" else person.post
            assert (await ask(path)).status == 404, path
    assert b"whk_1" not in (await person.get("/webhooks")).body
    assert await stores.webhooks.all("acc_other") == [theirs]


@task
async def test_what_a_receiver_answers_is_text(visitor, stores):
    """The answer of a receiver is shown as text, whatever stands in it."""
    from webdata.stores.webhooks.model import DeliveryAttempt

    person = await visitor().sign_up()
    await person.post("/webhooks", url=URL, events=["*"])
    [webhook] = await stores.webhooks.all(DEFAULT_ACCOUNT)
    [delivery], now = await stores.webhooks.deliveries(webhook.id, 5), datetime.now(UTC)
    await stores.deliveries.lease("p", now, now, lambda *_: 5, 5)
    evil = "<script>alert(1)</script>"
    await stores.deliveries.finish(
        DeliveryAttempt(delivery.event_id, webhook.id, webhook.url, "p", now, 500, evil, evil)
    )
    page = (await person.get(f"/webhooks/{webhook.id}")).body.decode()
    assert evil not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
