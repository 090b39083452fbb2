"""Webhooks, and what their owners see of their deliveries, in an SQL database."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, case, delete, exists, func, insert, literal, or_, select, update

from webdata.domain.events import Event, WebhookTest
from webdata.stores.accounts.locks import lock_account
from webdata.stores.accounts.tables import DELIVERIES, EVENTS, WEBHOOKS
from webdata.stores.database.store import Store, writing
from webdata.stores.webhooks.model import Delivery, Status, Webhook
from webdata.stores.webhooks.outbox import add_event_for

SHOWN = (
    DELIVERIES.c.event_id,
    EVENTS.c.type,
    EVENTS.c.created,
    *(DELIVERIES.c[name] for name in ("status", "attempts", "last_attempt", "response_status", "response_body")),
    *(DELIVERIES.c[name] for name in ("error", "next_attempt")),
)
"""The columns of a Delivery."""
FRESH = {"failures": 0, "failing_since": None, "paused_until": None}
HEALTHY = {**FRESH, "disabled_reason": None}
IS_TEST = DELIVERIES.c.event_id.in_(select(EVENTS.c.id).where(EVENTS.c.type == WebhookTest.type))


class WebhookStore(Store):
    """The webhooks of accounts, and their deliveries, in the tables `webhooks`, `events` and `deliveries`.

    A webhook of another account is one that does not exist.
    """

    @writing()
    def add(self, connection: Connection, webhook: Webhook, most: int) -> bool:
        """Add a webhook, with a `webhook.test` where it is not confirmed; returns False if there are `most` already."""
        lock_account(connection, webhook.account_id)  # one at a time counts
        count = select(func.count()).select_from(WEBHOOKS).where(WEBHOOKS.c.account_id == webhook.account_id)
        if connection.execute(count).scalar_one() >= most:
            return False
        connection.execute(insert(WEBHOOKS), {**vars(webhook), "events": " ".join(webhook.events)})
        if webhook.confirmed is None:
            _test(connection, webhook.account_id, webhook.id, webhook.created)
        return True

    async def find(self, account_id: str, webhook_id: str) -> Webhook | None:
        """The webhook with this id."""
        return await self._database.read(lambda connection: _find(connection, account_id, webhook_id))

    async def all(self, account_id: str) -> list[Webhook]:
        """The webhooks of an account, oldest first."""
        query = select(WEBHOOKS).where(WEBHOOKS.c.account_id == account_id)
        query = query.order_by(WEBHOOKS.c.created, WEBHOOKS.c.id)
        return await self._database.read(lambda connection: [webhook_of(row) for row in connection.execute(query)])

    async def change(self, account_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook | None:
        """Change fields of a webhook; returns it as it is then. One that is enabled has no failures.

        With another URL, which comes with its host, it is unconfirmed: it is sent a `webhook.test`, and the rest waits.
        """
        return await self._database.write(lambda connection: _change(connection, account_id, webhook_id, changes))

    async def remove(self, account_id: str, webhook_id: str) -> bool:
        """Remove a webhook with its deliveries; returns whether it existed."""
        removal = delete(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)
        return await self._database.write(lambda connection: connection.execute(removal).rowcount > 0)

    async def rotate(self, account_id: str, webhook_id: str, secret: str, until: datetime) -> Webhook | None:
        """Give a webhook a new secret; the one before signs, too, until a time. Returns the webhook as it is then."""
        changes = {"old_secret": WEBHOOKS.c.secret, "secret": secret, "old_secret_until": until}
        return await self._database.write(lambda connection: _change(connection, account_id, webhook_id, changes))

    @writing()
    def test(self, connection: Connection, webhook: Webhook, time: datetime) -> Delivery | None:
        """Add a `webhook.test` for one webhook; None where it was disabled or removed meanwhile."""
        enabled = select(WEBHOOKS.c.id).where(WEBHOOKS.c.id == webhook.id, WEBHOOKS.c.enabled)
        if not connection.execute(enabled.with_for_update(read=True, key_share=True)).first():
            return None
        event_id = _test(connection, webhook.account_id, webhook.id, time)
        return Delivery(event_id, WebhookTest.type, time, "pending", 0, next_attempt=time)

    async def deliveries(
        self, webhook_id: str, limit: int, before: str | None = None, status: Status | None = None
    ) -> list[Delivery]:
        """The last deliveries of a webhook, newest first; those before an event's id, those of a status."""
        query = _deliveries(webhook_id).order_by(DELIVERIES.c.event_id.desc()).limit(limit)
        if before:
            query = query.where(DELIVERIES.c.event_id < before)
        if status:
            query = query.where(DELIVERIES.c.status == status)
        return await self._database.read_apart(lambda connection: [Delivery(*row) for row in connection.execute(query)])

    @writing()
    def resend(self, connection: Connection, webhook_id: str, event_id: str, time: datetime) -> Delivery | None:
        """Attempt a delivery at this time, and then on the usual schedule; None if it does not exist.

        One of a webhook that is not confirmed waits until it is, unless it is a test.
        """
        change = update(DELIVERIES).where(DELIVERIES.c.webhook_id == webhook_id, DELIVERIES.c.event_id == event_id)
        unleased = change.where(DELIVERIES.c.lease.is_(None))  # else it is attempted now
        agreed = select(WEBHOOKS.c.id).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.confirmed.is_not(None))
        next_attempt = case((or_(IS_TEST, exists(agreed)), literal(time, DELIVERIES.c.next_attempt.type)))
        connection.execute(unleased.values(status="pending", step=0, next_attempt=next_attempt))
        row = connection.execute(_deliveries(webhook_id).where(DELIVERIES.c.event_id == event_id)).first()
        return None if row is None else Delivery(*row)


def _test(connection: Connection, account_id: str, webhook_id: str, time: datetime) -> str:
    return add_event_for(connection, Event(account_id, WebhookTest(webhook=webhook_id), time), [webhook_id])


def _find(connection: Connection, account_id: str, webhook_id: str) -> Webhook | None:
    row = connection.execute(
        select(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)
    ).first()
    return None if row is None else webhook_of(row)


def _change(connection: Connection, account_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook | None:
    values = dict(changes)
    if "events" in values:
        values["events"] = " ".join(values["events"])
    if values.get("enabled"):
        values |= HEALTHY
    change = update(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.account_id == account_id)
    if "url" in values:
        moved = {"url": values.pop("url"), "host": values.pop("host"), "confirmed": None, **FRESH}
        if connection.execute(change.where(WEBHOOKS.c.url != moved["url"]).values(**moved)).rowcount:
            _hold(connection, webhook_id)
            _test(connection, account_id, webhook_id, datetime.now(UTC))
    if values:
        connection.execute(change.values(**values))
    return _find(connection, account_id, webhook_id)


def _hold(connection: Connection, webhook_id: str) -> None:
    """Leave what is pending until the receiver at the new URL has agreed; what is attempted now had another's word."""
    pending = update(DELIVERIES).where(DELIVERIES.c.webhook_id == webhook_id, DELIVERIES.c.status == "pending")
    connection.execute(pending.where(DELIVERIES.c.lease.is_(None), ~IS_TEST).values(next_attempt=None))


def _deliveries(webhook_id: str) -> Select[Any]:
    joined = DELIVERIES.join(EVENTS, DELIVERIES.c.event_id == EVENTS.c.id)
    return select(*SHOWN).select_from(joined).where(DELIVERIES.c.webhook_id == webhook_id)


def webhook_of(row: Row[Any]) -> Webhook:
    """The webhook of a row with the columns of the table."""
    values = {column.name: getattr(row, column.name) for column in WEBHOOKS.c}
    return Webhook(**{**values, "events": tuple(row.events.split())})
