"""Webhooks, and what their owners see of their deliveries, in an SQL database."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from webdata.domain.events import Event, WebhookTest
from webdata.stores.database import Database
from webdata.stores.interfaces_webhooks import Delivery, Status, Webhook
from webdata.stores.outbox import add_event_for
from webdata.stores.tables import ACCOUNTS, DELIVERIES, EVENTS, WEBHOOKS

SHOWN = (
    DELIVERIES.c.event_id,
    EVENTS.c.type,
    EVENTS.c.created,
    *(DELIVERIES.c[name] for name in ("status", "attempts", "last_attempt", "response_status", "response_body")),
    *(DELIVERIES.c[name] for name in ("error", "next_attempt")),
)
"""The columns of a Delivery."""
HEALTHY = {"failures": 0, "failing_since": None, "disabled_reason": None, "paused_until": None}


class SqlWebhooks:
    """A WebhookStore in the tables `webhooks`, `events` and `deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, webhook: Webhook, most: int) -> bool:
        return await self._database.write(lambda on: _add(on, webhook, most))

    async def find(self, account_id: str, webhook_id: str) -> Webhook | None:
        return await self._database.read(lambda on: _find(on, account_id, webhook_id))

    async def all(self, account_id: str) -> list[Webhook]:
        query = select(WEBHOOKS).where(WEBHOOKS.c.account_id == account_id)
        query = query.order_by(WEBHOOKS.c.created, WEBHOOKS.c.id)
        return await self._database.read(lambda on: [webhook_of(row) for row in on.execute(query)])

    async def change(self, account_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook | None:
        return await self._database.write(lambda on: _change(on, account_id, webhook_id, changes))

    async def remove(self, account_id: str, webhook_id: str) -> bool:
        removal = delete(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)
        return await self._database.write(lambda on: on.execute(removal).rowcount > 0)

    async def test(self, webhook: Webhook, time: datetime) -> Delivery:
        event = Event(webhook.account_id, WebhookTest(webhook=webhook.id), time)
        event_id = await self._database.write(lambda on: add_event_for(on, event, [webhook.id]))
        return Delivery(event_id, WebhookTest.type, time, "pending", 0, next_attempt=time)

    async def deliveries(
        self, webhook_id: str, limit: int, before: str | None = None, status: Status | None = None
    ) -> list[Delivery]:
        query = _deliveries(webhook_id).order_by(DELIVERIES.c.event_id.desc()).limit(limit)
        if before:
            query = query.where(DELIVERIES.c.event_id < before)
        if status:
            query = query.where(DELIVERIES.c.status == status)
        return await self._database.read(lambda on: [Delivery(*row) for row in on.execute(query)])

    async def resend(self, webhook_id: str, event_id: str, time: datetime) -> Delivery | None:
        return await self._database.write(lambda on: _resend(on, webhook_id, event_id, time))


def _add(on: Connection, webhook: Webhook, most: int) -> bool:
    account = select(ACCOUNTS.c.id).where(ACCOUNTS.c.id == webhook.account_id)
    on.execute(account.with_for_update(key_share=True))  # one at a time counts
    count = select(func.count()).select_from(WEBHOOKS).where(WEBHOOKS.c.account_id == webhook.account_id)
    if on.execute(count).scalar_one() >= most:
        return False
    on.execute(insert(WEBHOOKS), {**vars(webhook), "events": " ".join(webhook.events)})
    return True


def _find(on: Connection, account_id: str, webhook_id: str) -> Webhook | None:
    row = on.execute(select(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)).first()
    return None if row is None else webhook_of(row)


def _change(on: Connection, account_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook | None:
    values = dict(changes)
    if "events" in values:
        values["events"] = " ".join(values["events"])
    if values.get("enabled"):
        values |= HEALTHY
    if values:
        change = update(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)
        on.execute(change.values(**values))
    return _find(on, account_id, webhook_id)


def _deliveries(webhook_id: str) -> Select[Any]:
    joined = DELIVERIES.join(EVENTS, DELIVERIES.c.event_id == EVENTS.c.id)
    return select(*SHOWN).select_from(joined).where(DELIVERIES.c.webhook_id == webhook_id)


def _resend(on: Connection, webhook_id: str, event_id: str, time: datetime) -> Delivery | None:
    change = update(DELIVERIES).where(DELIVERIES.c.webhook_id == webhook_id, DELIVERIES.c.event_id == event_id)
    unleased = change.where(DELIVERIES.c.lease.is_(None))  # else it is attempted now
    on.execute(unleased.values(status="pending", step=0, next_attempt=time))
    row = on.execute(_deliveries(webhook_id).where(DELIVERIES.c.event_id == event_id)).first()
    return None if row is None else Delivery(*row)


def webhook_of(row: Row[Any]) -> Webhook:
    """The webhook of a row with the columns of the table."""
    values = {column.name: getattr(row, column.name) for column in WEBHOOKS.c}
    return Webhook(**{**values, "events": tuple(row.events.split())})
