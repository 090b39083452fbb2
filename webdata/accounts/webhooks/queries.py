"""What callers send to `/api/v1/webhooks`."""

from typing import Annotated, Any

from pydantic import AfterValidator

from webdata.domain.events import ALL_EVENTS, EVENTS
from webdata.domain.nearest_name import nearest_name
from webdata.domain.query import Query, explained
from webdata.domain.shapes import described
from webdata.stores.webhooks.model import Status

MOST_DESCRIPTION = 500
MOST_LISTED = 100

Id = Annotated[str, described("the id of the webhook", "whk_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]
DeliveryId = Annotated[
    str, described("the id of the delivery, which is that of its event", "msg_01KAGX9Y3QZ8V5M2N7R4T6W0BC")
]


def _known(events: list[str]) -> list[str]:
    for name in events:
        if name != ALL_EVENTS and name not in EVENTS:
            shown = name if len(name) <= 60 else f"{name[:60]}…"
            nearest = nearest_name(name, EVENTS)
            raise explained(
                f"has an unknown event, {shown!r}: the nearest is {nearest!r}; the events are {', '.join(EVENTS)}, "
                f"and {ALL_EVENTS!r} for all"
            )
    return list(dict.fromkeys(events))


URL: Any = described(
    "an https:// URL of a public host, such as https://shop.example/webhook", "https://shop.example/webhook"
)
EVENT_TYPES: Any = described(
    'a list of types of events, such as ["key.created"], or ["*"] for all',
    ["credits.low", "key.created"],
    min_length=1,
    max_length=100,
)
DESCRIPTION: Any = described("what it is for", "the shop's alerts", max_length=MOST_DESCRIPTION)
ENABLED: Any = described("false: no deliveries; true: also where it was disabled", True)
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

    limit: Annotated[int, described(f"how many, from 1 to {MOST_LISTED}", 20, ge=1, le=MOST_LISTED)] = 20
    before: Annotated[
        str | None, described("the `next` of the page before: older deliveries", "msg_01KAGX9Y3QZ8V5M2N7R4T6W0BC")
    ] = None
    status: Annotated[Status | None, described("pending, delivered or failed: those alone", "failed")] = None


class DeliveryQuery(WebhookQuery):
    """The ids of one delivery and its webhook."""

    delivery: DeliveryId
