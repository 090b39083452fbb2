"""What callers send to `/api/v1/webhooks`, and what they get."""

from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from webdata.domain.events import ALL_EVENTS, EVENTS
from webdata.domain.query import Query, explained
from webdata.domain.query_schema import an_object
from webdata.stores.webhooks.model import Delivery, Status, Webhook

MOST_DESCRIPTION = 500
MOST_LISTED = 100

Id = Annotated[str, Field(description="the id of the webhook", examples=["whk_01KAGX9Y3QZ8V5M2N7R4T6W0BC"])]
DeliveryId = Annotated[
    str,
    Field(
        description="the id of the delivery, which is that of its event", examples=["msg_01KAGX9Y3QZ8V5M2N7R4T6W0BC"]
    ),
]


def _known(events: list[str]) -> list[str]:
    for name in events:
        if name != ALL_EVENTS and name not in EVENTS:
            shown = name if len(name) <= 60 else f"{name[:60]}…"
            nearest = get_close_matches(name, EVENTS, 1, 0)[0]
            raise explained(
                f"has an unknown event, {shown!r}: the nearest is {nearest!r}; the events are {', '.join(EVENTS)}, "
                f"and {ALL_EVENTS!r} for all"
            )
    return list(dict.fromkeys(events))


URL: Any = Field(
    description="an https:// URL of a public host, such as https://shop.example/webhook",
    examples=["https://shop.example/webhook"],
)
EVENT_TYPES: Any = Field(
    min_length=1,
    max_length=100,
    description='a list of types of events, such as ["key.created"], or ["*"] for all',
    examples=[["credits.low", "key.created"]],
)
DESCRIPTION: Any = Field(max_length=MOST_DESCRIPTION, description="what it is for", examples=["the shop's alerts"])
ENABLED: Any = Field(description="false: no deliveries; true: also where it was disabled", examples=[True])
Url = Annotated[str, URL]
Events = Annotated[list[str], EVENT_TYPES, AfterValidator(_known)]
Description = Annotated[str, DESCRIPTION]


class AllQuery(Query):
    """Nothing is asked for."""


class NewWebhook(Query):
    """A webhook to be made."""

    url: Url
    events: Events
    description: Description = ""


class WebhookQuery(Query):
    """The id of one webhook."""

    id: Id


class ChangedWebhook(WebhookQuery):
    """The fields of a webhook that change."""

    url: Annotated[str | None, URL] = None
    events: Annotated[list[str] | None, EVENT_TYPES, AfterValidator(_known)] = None
    description: Annotated[str | None, DESCRIPTION] = None
    enabled: Annotated[bool | None, ENABLED] = None


class ReplacedWebhook(WebhookQuery):
    """All that its owner can say of a webhook."""

    url: Url
    events: Events
    description: Description = ""
    enabled: Annotated[bool, ENABLED] = True


class DeliveriesQuery(WebhookQuery):
    """Some of the deliveries of a webhook."""

    limit: Annotated[
        int, Field(ge=1, le=MOST_LISTED, description=f"how many, from 1 to {MOST_LISTED}", examples=[20])
    ] = 20
    before: Annotated[
        str | None,
        Field(
            description="the `next` of the page before: older deliveries", examples=["msg_01KAGX9Y3QZ8V5M2N7R4T6W0BC"]
        ),
    ] = None
    status: Annotated[
        Status | None, Field(description="pending, delivered or failed: those alone", examples=["failed"])
    ] = None


class DeliveryQuery(WebhookQuery):
    """The ids of one delivery and its webhook."""

    delivery: DeliveryId


def webhook_record(webhook: Webhook) -> dict[str, Any]:
    """A webhook as its owner sees it, without its secret."""
    return {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "description": webhook.description,
        "created": webhook.created.isoformat(),
        "status": webhook.status,
        "confirmed": webhook.confirmed and webhook.confirmed.isoformat(),
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason,
        "failures": webhook.failures,
        "failing_since": webhook.failing_since and webhook.failing_since.isoformat(),
        "paused_until": webhook.paused_until and webhook.paused_until.isoformat(),
        "old_secret_until": webhook.old_secret_until and webhook.old_secret_until.isoformat(),
    }


def delivery_record(delivery: Delivery) -> dict[str, Any]:
    """A delivery as its owner sees it."""
    response = {"status": delivery.response_status, "body": delivery.response_body}
    return {
        "id": delivery.event_id,
        "type": delivery.type,
        "created": delivery.created.isoformat(),
        "status": delivery.status,
        "attempts": delivery.attempts,
        "last_attempt": delivery.last_attempt and delivery.last_attempt.isoformat(),
        "response": None if delivery.response_status is None else response,
        "error": delivery.error,
        "next_attempt": delivery.next_attempt and delivery.next_attempt.isoformat(),
    }


TEXT = {"type": "string"}
TEXT_OR_NULL = {"type": ["string", "null"]}
COUNT = {"type": "integer", "minimum": 0}
TIME = {"type": "string", "format": "date-time"}
TIME_OR_NULL = {"type": ["string", "null"], "format": "date-time"}
SECRET = {**TEXT, "description": "what verifies the signatures; it is shown this once"}
WEBHOOK_FIELDS = {
    "id": TEXT,
    "url": TEXT,
    "events": {"type": "array", "items": TEXT},
    "description": TEXT,
    "created": TIME,
    "status": {
        "enum": ["unconfirmed", "active", "disabled"],
        "description": (
            "unconfirmed: nothing but `webhook.test` is sent until the receiver has answered one with 2xx; one is sent "
            "when the webhook is made or gets another URL, and by POST …/test; what else there is waits"
        ),
    },
    "confirmed": {**TIME_OR_NULL, "description": "when the receiver at this URL has agreed by such an answer"},
    "enabled": {"type": "boolean", "description": "whether events are sent to it"},
    "disabled_reason": {**TEXT_OR_NULL, "description": "why the service has disabled it"},
    "failures": {**COUNT, "description": "attempts that failed since the last success"},
    "failing_since": {**TIME_OR_NULL, "description": "the first of them"},
    "paused_until": {**TIME_OR_NULL, "description": "the last `Retry-After` of the receiver: nothing is sent before"},
    "old_secret_until": {**TIME_OR_NULL, "description": "until when the secret before the last rotation signs, too"},
}
WEBHOOK = an_object(**WEBHOOK_FIELDS)
WEBHOOK_WITH_SECRET = an_object(**WEBHOOK_FIELDS, secret=SECRET)
WEBHOOKS = an_object(webhooks={"type": "array", "items": WEBHOOK})
REMOVED = an_object(id=TEXT, deleted={"const": True})
DELIVERY = an_object(
    id={**TEXT, "description": "that of the event: the header `webhook-id`"},
    type={"enum": list(EVENTS)},
    created={**TIME, "description": "when it happened"},
    status={"enum": ["pending", "delivered", "failed"]},
    attempts=COUNT,
    last_attempt=TIME_OR_NULL,
    response={
        "anyOf": [
            an_object(status={"type": "integer"}, body={**TEXT_OR_NULL, "description": "its first 1,024 bytes"}),
            {"type": "null"},
        ],
        "description": "the receiver's last answer",
    },
    error={**TEXT_OR_NULL, "description": "why the last attempt failed"},
    next_attempt=TIME_OR_NULL,
)
DELIVERIES = an_object(
    deliveries={"type": "array", "items": DELIVERY},
    next={**TEXT_OR_NULL, "description": "`before` of the next page; null on the last"},
)
