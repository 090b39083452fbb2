"""The outbox: events are written in the transaction of what happened, so that none is lost and none invented.

With an event are written its deliveries, one for each webhook that wants it. An event that no webhook wants is not
written at all.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, insert, select, text

from webdata.domain.events import Event, wanted
from webdata.stores.tables import DELIVERIES, WEBHOOKS, Moment

ADD_EVENT = text(
    "INSERT INTO events (id, type, created, body, once) VALUES (:id, :type, :created, :body, :once) "
    "ON CONFLICT DO NOTHING"
).bindparams(bindparam("created", type_=Moment))
ENABLED = select(WEBHOOKS.c.id, WEBHOOKS.c.events).where(WEBHOOKS.c.enabled)


def add_events(on: Connection, events: Iterable[Event]) -> None:
    """Write events for the webhooks that are enabled and want them."""
    for event in events:
        query = ENABLED if event.account_id is None else ENABLED.where(WEBHOOKS.c.account_id == event.account_id)
        webhooks = [row.id for row in on.execute(query) if wanted(event.data.type, row.events.split())]
        if webhooks:
            add_event_for(on, event, webhooks)


def add_event_for(on: Connection, event: Event, webhooks: Sequence[str]) -> str:
    """Write an event for these webhooks, unless it was there before; returns its id."""
    event_id = event.new_id()
    row = {"id": event_id, "type": event.data.type, "created": event.time, "body": event.body(), "once": event.once}
    if on.execute(ADD_EVENT, row).rowcount:
        pending = {"event_id": event_id, "status": "pending", "attempts": 0, "step": 0, "next_attempt": event.time}
        on.execute(insert(DELIVERIES), [{**pending, "webhook_id": webhook} for webhook in webhooks])
    return event_id
