"""What callers read about webhooks and their deliveries."""

from typing import Annotated, TypedDict

from pydantic import Field

from webdata.domain.events import EVENTS
from webdata.domain.in_schema import InSchema
from webdata.domain.shapes import Natural, Time, time_or_null
from webdata.stores.webhooks.model import Delivery, Status, Webhook, WebhookStatus


@InSchema(closed=True)
class WebhookRecord(TypedDict):
    """A webhook as its owner sees it, without its secret."""

    id: str
    url: str
    events: list[str]
    description: str
    created: Time
    status: WebhookStatus
    """Unconfirmed: nothing but `webhook.test` is sent until the receiver has answered one with 2xx.

    One is sent when the webhook is made or gets another URL, and by POST …/test; what else there is waits.
    """
    confirmed: Time | None
    """When the receiver at this URL has agreed by such an answer."""
    enabled: bool
    """Whether events are sent to it."""
    disabled_reason: str | None
    """Why the service has disabled it."""
    failures: Natural
    """Attempts that failed since the last success."""
    failing_since: Time | None
    """The first of them."""
    paused_until: Time | None
    """The last `Retry-After` of the receiver: nothing is sent before."""
    old_secret_until: Time | None
    """Until when the secret before the last rotation signs, too."""


@InSchema(closed=True)
class NewWebhookRecord(WebhookRecord):
    """A webhook with its secret."""

    secret: str
    """What verifies the signatures; it is shown this once."""


@InSchema(closed=True)
class WebhooksRecord(TypedDict):
    """The webhooks of an account."""

    webhooks: list[WebhookRecord]


@InSchema(closed=True)
class ResponseRecord(TypedDict):
    """What a receiver has answered."""

    status: int
    body: str | None
    """Its first 1,024 bytes."""


@InSchema(closed=True)
class DeliveryRecord(TypedDict):
    """A delivery as its owner sees it."""

    id: str
    """That of the event: the header `webhook-id`."""
    type: Annotated[str, Field(json_schema_extra={"enum": [*EVENTS]})]
    created: Time
    """When it happened."""
    status: Status
    attempts: Natural
    last_attempt: Time | None
    response: ResponseRecord | None
    """The receiver's last answer."""
    error: str | None
    """Why the last attempt failed."""
    next_attempt: Time | None


@InSchema(closed=True)
class DeliveriesRecord(TypedDict):
    """Some deliveries of a webhook."""

    deliveries: list[DeliveryRecord]
    next: str | None
    """`before` of the next page; null on the last."""


def webhook_record(webhook: Webhook) -> WebhookRecord:
    """A webhook as its owner sees it, without its secret."""
    return {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "description": webhook.description,
        "created": webhook.created.isoformat(),
        "status": webhook.status,
        "confirmed": time_or_null(webhook.confirmed),
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason,
        "failures": webhook.failures,
        "failing_since": time_or_null(webhook.failing_since),
        "paused_until": time_or_null(webhook.paused_until),
        "old_secret_until": time_or_null(webhook.old_secret_until),
    }


def delivery_record(delivery: Delivery) -> DeliveryRecord:
    """A delivery as its owner sees it."""
    return {
        "id": delivery.event_id,
        "type": delivery.type,
        "created": delivery.created.isoformat(),
        "status": delivery.status,
        "attempts": delivery.attempts,
        "last_attempt": time_or_null(delivery.last_attempt),
        "response": _response(delivery),
        "error": delivery.error,
        "next_attempt": time_or_null(delivery.next_attempt),
    }


def _response(delivery: Delivery) -> ResponseRecord | None:
    if delivery.response_status is None:
        return None
    return {"status": delivery.response_status, "body": delivery.response_body}
