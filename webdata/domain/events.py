"""The events that webhooks receive: the type of each and the fields of its data, in one place.

A subclass of EventData is an event: delivery, the OpenAPI document and docs/webhooks.md know it from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field
from ulid import ULID

from webdata.domain.shapes import described

ALL_EVENTS = "*"
"""Stands for every type of event."""

Account = Annotated[str, described("the id of the account", "acc_default")]
Name = Annotated[str, described("its name", "coffee shop")]
KeyId = Annotated[str, described("the id of the key", "key_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]
Prefix = Annotated[str, described("the beginning of the key", "wd_live_AbCd")]
Test = Annotated[bool, Field(description="whether it is a test key")]
BatchId = Annotated[str, described("the id of the batch", "bat_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]
Label = Annotated[str, described("its label", "coffee shops, weekly")]
BatchResource = Annotated[str, described("the endpoint of its queries", "web_search")]
Rows = Annotated[int, described("the number of its queries", 20_000)]
Engine = Annotated[str, described("the name of the engine", "google_web")]


class EventData(BaseModel):
    """The data of one event."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: ClassVar[str]
    """The name of the event."""

    @classmethod
    def summary(cls) -> str:
        """When it happens, in one sentence."""
        return (cls.__doc__ or "").partition("\n")[0]

    @classmethod
    def example(cls) -> Self:
        """An event with the examples of its fields."""
        fields = cls.model_fields.items()
        return cls(**{name: field.examples[0] if field.examples else field.default for name, field in fields})


class CreditsLow(EventData):
    """The account's unspent credits have fallen to the mark of its plan."""

    type = "credits.low"

    account: Account
    credits: Annotated[int, described("credits that are not spent", 100)]
    mark: Annotated[int, described("the mark of the plan", 100)]


class CreditsExhausted(EventData):
    """The account's last credit was spent."""

    type = "credits.exhausted"

    account: Account


class KeyData(EventData):
    """What every event of a key has."""

    id: KeyId
    name: Name
    prefix: Prefix
    test: Test = False


class KeyCreated(KeyData):
    """A key of the account was made."""

    type = "key.created"

    scopes: Annotated[list[str], described("the endpoints that it opens; none: all", ["web_search"])]
    expires: Annotated[datetime | None, Field(description="when it expires; null: never")] = None
    replaces: Annotated[str | None, Field(description="the id of the key whose successor it is, or null")] = None


class KeyRevoked(KeyData):
    """A key of the account was revoked, and opens nothing from now on."""

    type = "key.revoked"


class KeyExpiring(KeyData):
    """A key of the account expires within 7 days."""

    type = "key.expiring"

    expires: Annotated[datetime, described("when it expires", "2026-12-01T12:00:00Z")]
    replaced_by: Annotated[str | None, Field(description="the id of its successor, or null")] = None


class EngineDegraded(EventData):
    """None of the last calls to an engine fetched a page; it goes to every account."""

    type = "engine.degraded"

    engine: Engine
    calls: Annotated[int, described("the last calls, of which all failed", 20)]
    lost: Annotated[dict[str, int], described("their number by the kind of failure", {"captcha": 20})]


class EngineRecovered(EventData):
    """An engine that was degraded has fetched a page again, or one that had drifted is as before; to every account."""

    type = "engine.recovered"

    engine: Engine
    was: Annotated[str, described("`degraded` or `drifted`", "degraded")] = "degraded"


class EngineDrifted(EventData):
    """The pages of an engine lack what they had, beyond what chance explains; it goes to every account."""

    type = "engine.drifted"

    engine: Engine
    lost: Annotated[list[str], described("the fields that are empty or fewer", ["results[].description"])]
    since: Annotated[datetime, described("when canaries first found it so", "2026-11-26T12:00:00Z")]
    sample: Annotated[
        str | None, described("the name of a page that shows it, or null", "google_web-0a1b2c3d4e5f6071")
    ] = None


class UpstreamExhausted(EventData):
    """The last request of a day to an upstream API was sent; others answer until the next day in UTC begins."""

    type = "upstream.exhausted"

    engine: Engine
    requests: Annotated[int, described("the requests of a day that it may be sent", 2000)]


class BatchData(EventData):
    """What every event of a batch has."""

    id: BatchId
    label: Label
    resource: BatchResource
    rows: Rows


class BatchProgress(BatchData):
    """Another tenth of a batch has ended."""

    type = "batch.progress"

    percent: Annotated[int, described("how much of it has ended, in per cent", 60)]


class BatchCompleted(BatchData):
    """The last query of a batch has ended."""

    type = "batch.completed"

    outcomes: Annotated[
        dict[str, int], described("the number of queries by how they have ended", {"ok": 19_900, "blocked": 100})
    ]
    cost: Annotated[int, described("the credits it has cost", 19_900)]


class BatchPaused(BatchData):
    """A batch was paused, its key was revoked, its account stores too much, or has no credits: with some it goes on."""

    type = "batch.paused"

    reason: Annotated[
        str, described("`requested`, `out_of_credits`, `key_revoked` or `quota_exceeded`", "out_of_credits")
    ]


class BatchCancelled(BatchData):
    """A batch was cancelled: no further query begins."""

    type = "batch.cancelled"


class WebhookTest(EventData):
    """Somebody asked for a test of this webhook; it is sent whatever the webhook's events are."""

    type = "webhook.test"

    webhook: Annotated[str, described("the id of the webhook", "whk_01KAGX9Y3QZ8V5M2N7R4T6W0BC")]


def _kinds(of: type[EventData]) -> list[type[EventData]]:
    return [kind for one in of.__subclasses__() for kind in _kinds(one) or [one]]


EVENTS: dict[str, type[EventData]] = {one.type: one for one in _kinds(EventData)}
"""Every event by its type."""


@dataclass(frozen=True)
class Event:
    """An event of an account; of every account where `account_id` is None."""

    account_id: str | None
    data: EventData
    time: datetime
    once: str | None = None
    """What it is about, for an event that several processes may notice: only the first with the same text is kept."""

    def new_id(self) -> str:
        """A fresh id, which sorts by time."""
        return f"msg_{ULID.from_datetime(self.time)}"

    def body(self) -> str:
        """The payload that is signed and sent, as the Standard Webhooks specification has it."""
        payload: dict[str, Any] = {"type": self.data.type, "timestamp": self.time, "data": self.data.model_dump()}
        return orjson.dumps(payload, option=orjson.OPT_UTC_Z).decode()


def wanted(event_type: str, subscribed: Sequence[str]) -> bool:
    """Whether a webhook with these events receives this type."""
    return ALL_EVENTS in subscribed or event_type in subscribed
