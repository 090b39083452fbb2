"""The outbox: events are written in the transaction of what happened, so that none is lost and none invented.

With an event are written its deliveries, one for each webhook that wants it. An event that no webhook wants is not
written at all. One host gets an event once; a receiver that has not agreed yet gets it after it has.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, insert, select, text

from webdata.domain.events import Event, WebhookTest, wanted
from webdata.stores.accounts.tables import DELIVERIES, WEBHOOKS, Moment

ADD_EVENT = text(
    "INSERT INTO events (id, type, created, body, once) VALUES (:id, :type, :created, :body, :once) "
    "ON CONFLICT DO NOTHING"
).bindparams(bindparam("created", type_=Moment))
ENABLED = select(WEBHOOKS).where(WEBHOOKS.c.enabled)
ENABLED = ENABLED.order_by(WEBHOOKS.c.confirmed.is_(None), WEBHOOKS.c.created, WEBHOOKS.c.id)
"""Webhooks whose receivers have agreed come first, then the oldest."""


def add_events(connection: Connection, events: Iterable[Event]) -> None:
    """Write events for the webhooks that are enabled and want them."""
    for event in events:
        query = ENABLED if event.account_id is None else ENABLED.where(WEBHOOKS.c.account_id == event.account_id)
        by_host: dict[tuple[str, str], str] = {}
        for row in connection.execute(query):
            if wanted(event.data.type, row.events.split()):
                by_host.setdefault((row.account_id, row.host), row.id)
        if by_host:
            add_event_for(connection, event, list(by_host.values()))


def add_event_for(connection: Connection, event: Event, webhooks: Sequence[str]) -> str:
    """Write an event for these webhooks, unless it was there before; returns its id."""
    event_id = event.new_id()
    agreed = select(WEBHOOKS.c.id, WEBHOOKS.c.confirmed).where(WEBHOOKS.c.id.in_(webhooks)).order_by(WEBHOOKS.c.id)
    agreed = agreed.with_for_update(read=True, key_share=True)  # a receiver that agrees meanwhile gets what is written
    row = {"id": event_id, "type": event.data.type, "created": event.time, "body": event.body(), "once": event.once}
    if connection.execute(ADD_EVENT, row).rowcount:
        is_test = event.data.type == WebhookTest.type
        pending = {"event_id": event_id, "status": "pending", "attempts": 0, "step": 0}
        deliveries = [
            {**pending, "webhook_id": row.id, "next_attempt": event.time if is_test or row.confirmed else None}
            for row in connection.execute(agreed)
        ]
        if deliveries:
            connection.execute(insert(DELIVERIES), deliveries)
    return event_id
