"""`/api/v1/webhooks`: where the events of an account are sent."""

from functools import partial

from webdata.accounts.access.api_keys import MANAGE_WEBHOOKS
from webdata.accounts.webhooks.queries import (
    AllQuery,
    ChangedWebhook,
    DeliveriesQuery,
    DeliveryQuery,
    NewWebhook,
    ReplacedWebhook,
    WebhookQuery,
)
from webdata.accounts.webhooks.records import (
    DeliveriesRecord,
    DeliveryRecord,
    NewWebhookRecord,
    WebhookRecord,
    WebhooksRecord,
    delivery_record,
    webhook_record,
)
from webdata.accounts.webhooks.webhooks import PATH, Webhooks
from webdata.faces.api.key_pages import KeyCall, KeyPages, RemovedRecord, key_page

ONE = f"{PATH}/{{id}}"
SENT = f"{ONE}/deliveries"
webhook_page = partial(key_page, tag="webhooks", scope=MANAGE_WEBHOOKS)


class WebhookPages(KeyPages):
    """The pages over the webhooks of an account."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks

    @webhook_page("GET", PATH, "the webhooks of the account", AllQuery, "webhook_list")
    async def _list(self, call: KeyCall) -> WebhooksRecord:
        return {"webhooks": [webhook_record(one) for one in await self._webhooks.all(call.caller.account.id)]}

    @webhook_page("POST", PATH, "make a webhook", NewWebhook, "webhook_add")
    async def _add(self, call: KeyCall) -> NewWebhookRecord:
        webhook = await self._webhooks.add(call.caller.account.id, call.query)
        return {**webhook_record(webhook), "secret": webhook.secret}

    @webhook_page("GET", ONE, "a webhook", WebhookQuery, "webhook_show")
    async def _show(self, call: KeyCall) -> WebhookRecord:
        return webhook_record(await self._webhooks.find(*_one(call)))

    @webhook_page("PATCH", ONE, "change fields of a webhook", ChangedWebhook, "webhook_change")
    @webhook_page("PUT", ONE, "change all of a webhook", ReplacedWebhook, "webhook_replace")
    async def _change(self, call: KeyCall) -> WebhookRecord:
        fields = call.query.model_dump(exclude={"id"}, exclude_none=True)
        return webhook_record(await self._webhooks.change(*_one(call), **fields))

    @webhook_page("DELETE", ONE, "delete a webhook and its deliveries", WebhookQuery, "webhook_delete")
    async def _remove(self, call: KeyCall) -> RemovedRecord:
        await self._webhooks.remove(*_one(call))
        return {"id": call.query.id, "deleted": True}

    @webhook_page("POST", f"{ONE}/rotate", "make a new secret", WebhookQuery, "webhook_rotate")
    async def _rotate(self, call: KeyCall) -> NewWebhookRecord:
        webhook = await self._webhooks.rotate(*_one(call))
        return {**webhook_record(webhook), "secret": webhook.secret}

    @webhook_page("POST", f"{ONE}/test", "send a `webhook.test`", WebhookQuery, "webhook_test", conflicts=True)
    async def _test(self, call: KeyCall) -> DeliveryRecord:
        return delivery_record(await self._webhooks.test(*_one(call)))

    @webhook_page("GET", SENT, "what was sent, newest first", DeliveriesQuery, "webhook_deliveries")
    async def _deliveries(self, call: KeyCall) -> DeliveriesRecord:
        query = call.query
        listed, following = await self._webhooks.deliveries(*_one(call), query.limit, query.before, query.status)
        return {"deliveries": [delivery_record(one) for one in listed], "next": following}

    @webhook_page(
        "POST",
        f"{SENT}/{{delivery}}/resend",
        "send a delivery again, now",
        DeliveryQuery,
        "webhook_resend",
        conflicts=True,
    )
    async def _resend(self, call: KeyCall) -> DeliveryRecord:
        return delivery_record(await self._webhooks.resend(*_one(call), call.query.delivery))


def _one(call: KeyCall) -> tuple[str, str]:
    """The ids of the account and the webhook."""
    return call.caller.account.id, call.query.id
