"""What callers send to `/api/v1/webhooks`."""

from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from webdata.domain.events import ALL_EVENTS, EVENTS
from webdata.domain.query import Query, explained
from webdata.stores.webhooks.model import Status

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
