"""`/api/v1/webhooks`: where the events of an account are sent."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from ulid import ULID

from webdata.access.key_pages import KeyCall, KeyPage, Method
from webdata.domain.errors import QueryError, UnknownIdError
from webdata.domain.query import Query
from webdata.gateway.webhook_queries import (
    DELIVERIES,
    DELIVERY,
    REMOVED,
    WEBHOOK,
    WEBHOOK_WITH_SECRET,
    WEBHOOKS,
    AllQuery,
    ChangedWebhook,
    DeliveriesQuery,
    DeliveryQuery,
    NewWebhook,
    ReplacedWebhook,
    WebhookQuery,
    delivery_record,
    webhook_record,
)
from webdata.gateway.webhook_secrets import new_secret
from webdata.gateway.webhook_urls import WebhookUrls
from webdata.stores.interfaces_webhooks import Webhook, WebhookStore

PATH = "/api/v1/webhooks"
MOST_WEBHOOKS = 50
"""Webhooks of an account."""
OLD_SECRET_SIGNS = timedelta(hours=24)
"""After a rotation."""
UNKNOWN = f"The account has no webhook with this id: GET {PATH} lists its webhooks"

Record = dict[str, Any]
Reply = Callable[[KeyCall], Awaitable[Record]]


class WebhookPages:
    """The pages over the webhooks of an account."""

    def __init__(self, webhooks: WebhookStore, urls: WebhookUrls) -> None:
        self._webhooks = webhooks
        self._urls = urls

    def pages(self) -> list[KeyPage]:
        """All of them."""
        one, sent, again = (
            f"{PATH}/{{id}}",
            f"{PATH}/{{id}}/deliveries",
            f"{PATH}/{{id}}/deliveries/{{delivery}}/resend",
        )
        rows: list[tuple[Method, str, str, type[Query], Record, Reply, str]] = [
            ("GET", PATH, "the webhooks of the account", AllQuery, WEBHOOKS, self._list, "list"),
            ("POST", PATH, "make a webhook", NewWebhook, WEBHOOK_WITH_SECRET, self._add, "add"),
            ("GET", one, "a webhook", WebhookQuery, WEBHOOK, self._show, "show"),
            ("PATCH", one, "change fields of a webhook", ChangedWebhook, WEBHOOK, self._change, "change"),
            ("PUT", one, "change all of a webhook", ReplacedWebhook, WEBHOOK, self._change, "replace"),
            ("DELETE", one, "delete a webhook and its deliveries", WebhookQuery, REMOVED, self._remove, "delete"),
            ("POST", f"{one}/rotate", "make a new secret", WebhookQuery, WEBHOOK_WITH_SECRET, self._rotate, "rotate"),
            ("POST", f"{one}/test", "send a `webhook.test`", WebhookQuery, DELIVERY, self._test, "test"),
            ("GET", sent, "what was sent, newest first", DeliveriesQuery, DELIVERIES, self._deliveries, "deliveries"),
            ("POST", again, "send a delivery again, now", DeliveryQuery, DELIVERY, self._resend, "resend"),
        ]
        return [
            KeyPage(path, summary, query, schema, reply, f"webhook_{name}", "webhooks", method)
            for method, path, summary, query, schema, reply, name in rows
        ]

    async def _list(self, call: KeyCall) -> Record:
        return {"webhooks": [webhook_record(one) for one in await self._webhooks.all(call.caller.account.id)]}

    async def _add(self, call: KeyCall) -> Record:
        query, account = call.query, call.caller.account.id
        await self._urls.check_new(query.url, account)
        now = datetime.now(UTC)
        webhook = Webhook(
            f"whk_{ULID()}", account, query.url, tuple(query.events), query.description, new_secret(), now
        )
        if not await self._webhooks.add(webhook, MOST_WEBHOOKS):
            message = f"the account has {MOST_WEBHOOKS} webhooks, which is the most: delete one, or change its events"
            raise QueryError([{"loc": ["body"], "msg": message, "type": "too_many"}])
        return {**webhook_record(webhook), "secret": webhook.secret}

    async def _show(self, call: KeyCall) -> Record:
        return webhook_record(await self._find(call))

    async def _change(self, call: KeyCall) -> Record:
        fields = call.query.model_dump(exclude={"id"}, exclude_none=True)
        if "url" in fields:
            await self._urls.check_new(fields["url"], call.caller.account.id)
        return webhook_record(await self._changed(call, **fields))

    async def _remove(self, call: KeyCall) -> Record:
        if not await self._webhooks.remove(call.caller.account.id, call.query.id):
            raise UnknownIdError(UNKNOWN)
        return {"id": call.query.id, "deleted": True}

    async def _rotate(self, call: KeyCall) -> Record:
        webhook, secret = await self._find(call), new_secret()
        until = datetime.now(UTC) + OLD_SECRET_SIGNS
        changed = await self._changed(call, secret=secret, old_secret=webhook.secret, old_secret_until=until)
        return {**webhook_record(changed), "secret": secret}

    async def _test(self, call: KeyCall) -> Record:
        webhook = await self._find_enabled(call)
        return delivery_record(await self._webhooks.test(webhook, datetime.now(UTC)))

    async def _deliveries(self, call: KeyCall) -> Record:
        query, webhook = call.query, await self._find(call)
        found = await self._webhooks.deliveries(webhook.id, query.limit + 1, query.before, query.status)
        listed = found[: query.limit]
        following = listed[-1].event_id if len(found) > len(listed) else None
        return {"deliveries": [delivery_record(one) for one in listed], "next": following}

    async def _resend(self, call: KeyCall) -> Record:
        webhook = await self._find_enabled(call)
        delivery = await self._webhooks.resend(webhook.id, call.query.delivery, datetime.now(UTC))
        if delivery is None:
            raise UnknownIdError(
                f"The webhook has no delivery with this id: GET {PATH}/{webhook.id}/deliveries lists those of the last "
                "30 days"
            )
        return delivery_record(delivery)

    async def _find(self, call: KeyCall) -> Webhook:
        webhook = await self._webhooks.find(call.caller.account.id, call.query.id)
        if webhook is None:
            raise UnknownIdError(UNKNOWN)
        return webhook

    async def _find_enabled(self, call: KeyCall) -> Webhook:
        webhook = await self._find(call)
        if not webhook.enabled:
            message = 'the webhook is disabled: enable it first, by PATCH with {"enabled": true}'
            raise QueryError([{"loc": ["path", "id"], "msg": message, "type": "disabled"}])
        return webhook

    async def _changed(self, call: KeyCall, **changes: Any) -> Webhook:
        webhook = await self._webhooks.change(call.caller.account.id, call.query.id, changes)
        if webhook is None:
            raise UnknownIdError(UNKNOWN)
        return webhook
