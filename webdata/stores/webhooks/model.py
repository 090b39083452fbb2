"""Webhooks, events and deliveries. Times are aware, in UTC."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

Status = Literal["pending", "delivered", "failed"]
"""The state of a delivery: `pending` while attempts are ahead, `failed` after the last one."""

WebhookStatus = Literal["unconfirmed", "active", "disabled"]
"""`unconfirmed` is sent tests alone, until one succeeds; what else there is waits."""

AttemptResult = Literal["delivered", "failed", "given_up"]
"""`failed` where another attempt follows, `given_up` where none does."""

MOST_FAILURES = 20
FAILING_FOR = timedelta(days=3)
"""A webhook with so many failed attempts in a row, over so long a time, is disabled."""
MOST_WAITING = 10_000
"""Deliveries that are counted, at most, so that to count them takes some milliseconds."""


@dataclass(frozen=True)
class Webhook:
    """Where events of an account are sent."""

    id: str
    account_id: str
    url: str
    events: tuple[str, ...]
    """Types of events; `*` for all."""
    description: str
    secret: str = field(repr=False)
    created: datetime
    old_secret: str | None = field(default=None, repr=False)
    """The secret before the last rotation, which signs too until `old_secret_until`."""
    old_secret_until: datetime | None = None
    enabled: bool = True
    disabled_reason: str | None = None
    failures: int = 0
    """Failed attempts since the last success."""
    failing_since: datetime | None = None
    paused_until: datetime | None = None
    """Until when the receiver wants nothing."""
    host: str = ""
    """The host of the URL: it gets an event once, however many webhooks of the account lead there."""
    confirmed: datetime | None = None
    """When the receiver at this URL agreed, by a success of a test; None: it is sent nothing but tests."""

    @property
    def status(self) -> WebhookStatus:
        """What is sent to it."""
        if not self.enabled:
            return "disabled"
        return "active" if self.confirmed else "unconfirmed"

    def secrets(self, now: datetime) -> tuple[str, ...]:
        """The secrets that sign now, the newest first."""
        if self.old_secret and self.old_secret_until and now < self.old_secret_until:
            return self.secret, self.old_secret
        return (self.secret,)


@dataclass(frozen=True)
class Delivery:
    """An event on its way to a webhook; its id is that of the event."""

    event_id: str
    type: str
    created: datetime
    """The time of the event."""
    status: Status
    attempts: int
    last_attempt: datetime | None = None
    response_status: int | None = None
    response_body: str | None = None
    """The beginning of the last answer."""
    error: str | None = None
    """Why the last attempt failed."""
    next_attempt: datetime | None = None


@dataclass(frozen=True)
class DueDelivery:
    """A delivery that this process alone attempts now."""

    event_id: str
    type: str
    """The type of its event."""
    webhook: Webhook
    body: str
    step: int
    """Attempts before this one, since the event or since it was sent again."""


@dataclass(frozen=True)
class DeliveryAttempt:
    """The end of an attempt. Without an `error` it was a success."""

    event_id: str
    webhook_id: str
    url: str
    """That of the webhook, to which it was sent."""
    process: str
    time: datetime
    response_status: int | None = None
    response_body: str | None = None
    error: str | None = None
    next_attempt: datetime | None = None
    """None after a success and after the last attempt."""
    disable: str | None = None
    """Why the webhook is disabled, if it is."""
    pause_until: datetime | None = None
    """Until when the receiver wants no delivery at all."""
    confirms: bool = False
    """Whether the receiver has agreed by it."""

    @property
    def result(self) -> AttemptResult:
        """How the attempt ended."""
        if self.error is None:
            return "delivered"
        return "failed" if self.next_attempt else "given_up"


class WaitingDeliveries(NamedTuple):
    """The deliveries that wait for an attempt, of webhooks that are enabled."""

    number: int
    """At most MOST_WAITING are counted."""
    oldest: datetime | None
    """When the event of the oldest was written."""
