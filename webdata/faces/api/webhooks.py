"""`/api/v1/webhooks`: where the events of an account are sent."""

from typing import Any

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
from webdata.domain.query import Query
from webdata.faces.api.key_pages import KeyCall, KeyHandler, KeyPage, Method, RemovedRecord


class WebhookPages:
    """The pages over the webhooks of an account."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks

    def pages(self) -> list[KeyPage]:
        """The pages of webhooks."""
        one, sent, again = (
            f"{PATH}/{{id}}",
            f"{PATH}/{{id}}/deliveries",
            f"{PATH}/{{id}}/deliveries/{{delivery}}/resend",
        )
        rows: list[tuple[Method, str, str, type[Query], type[Any], KeyHandler, str]] = [
            ("GET", PATH, "the webhooks of the account", AllQuery, WebhooksRecord, self._list, "list"),
            ("POST", PATH, "make a webhook", NewWebhook, NewWebhookRecord, self._add, "add"),
            ("GET", one, "a webhook", WebhookQuery, WebhookRecord, self._show, "show"),
            ("PATCH", one, "change fields of a webhook", ChangedWebhook, WebhookRecord, self._change, "change"),
            ("PUT", one, "change all of a webhook", ReplacedWebhook, WebhookRecord, self._change, "replace"),
            ("DELETE", one, "delete a webhook and its deliveries", WebhookQuery, RemovedRecord, self._remove, "delete"),
            ("POST", f"{one}/rotate", "make a new secret", WebhookQuery, NewWebhookRecord, self._rotate, "rotate"),
            ("POST", f"{one}/test", "send a `webhook.test`", WebhookQuery, DeliveryRecord, self._test, "test"),
            (
                "GET",
                sent,
                "what was sent, newest first",
                DeliveriesQuery,
                DeliveriesRecord,
                self._deliveries,
                "deliveries",
            ),
            ("POST", again, "send a delivery again, now", DeliveryQuery, DeliveryRecord, self._resend, "resend"),
        ]
        return [
            KeyPage(
                path,
                summary,
                query,
                record,
                reply,
                f"webhook_{name}",
                "webhooks",
                method,
                scope=MANAGE_WEBHOOKS,
                conflicts=name in ("test", "resend"),
            )
            for method, path, summary, query, record, reply, name in rows
        ]

    async def _list(self, call: KeyCall) -> WebhooksRecord:
        return {"webhooks": [webhook_record(one) for one in await self._webhooks.all(call.caller.account.id)]}

    async def _add(self, call: KeyCall) -> NewWebhookRecord:
        webhook = await self._webhooks.add(call.caller.account.id, call.query)
        return {**webhook_record(webhook), "secret": webhook.secret}

    async def _show(self, call: KeyCall) -> WebhookRecord:
        return webhook_record(await self._webhooks.find(*_one(call)))

    async def _change(self, call: KeyCall) -> WebhookRecord:
        fields = call.query.model_dump(exclude={"id"}, exclude_none=True)
        return webhook_record(await self._webhooks.change(*_one(call), **fields))

    async def _remove(self, call: KeyCall) -> RemovedRecord:
        await self._webhooks.remove(*_one(call))
        return {"id": call.query.id, "deleted": True}

    async def _rotate(self, call: KeyCall) -> NewWebhookRecord:
        webhook = await self._webhooks.rotate(*_one(call))
        return {**webhook_record(webhook), "secret": webhook.secret}

    async def _test(self, call: KeyCall) -> DeliveryRecord:
        return delivery_record(await self._webhooks.test(*_one(call)))

    async def _deliveries(self, call: KeyCall) -> DeliveriesRecord:
        query = call.query
        listed, following = await self._webhooks.deliveries(*_one(call), query.limit, query.before, query.status)
        return {"deliveries": [delivery_record(one) for one in listed], "next": following}

    async def _resend(self, call: KeyCall) -> DeliveryRecord:
        return delivery_record(await self._webhooks.resend(*_one(call), call.query.delivery))


def _one(call: KeyCall) -> tuple[str, str]:
    """The ids of the account and the webhook."""
    return call.caller.account.id, call.query.id
