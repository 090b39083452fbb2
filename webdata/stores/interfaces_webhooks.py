"""The interfaces of the stores of webhooks, events and deliveries. Times are aware, in UTC."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol

from webdata.domain.events import EngineDegraded

Status = Literal["pending", "delivered", "failed"]
"""Of a delivery: `pending` while attempts are ahead, `failed` after the last one."""

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
    webhook: Webhook
    body: str
    step: int
    """Attempts before this one, since the event or since it was sent again."""


@dataclass(frozen=True)
class Attempt:
    """The end of an attempt. Without an `error` it was a success."""

    event_id: str
    webhook_id: str
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

    @property
    def result(self) -> AttemptResult:
        """How it ended."""
        if self.error is None:
            return "delivered"
        return "failed" if self.next_attempt else "given_up"


class Waiting(NamedTuple):
    """The deliveries that wait for an attempt, of webhooks that are enabled."""

    number: int
    """At most MOST_WAITING are counted."""
    oldest: datetime | None
    """When the event of the oldest was written."""


class WebhookStore(Protocol):
    """The webhooks of accounts, and their deliveries. A webhook of another account is one that does not exist."""

    async def add(self, webhook: Webhook, most: int) -> bool:
        """Add a webhook; returns False where the account has `most` already."""
        ...

    async def find(self, account_id: str, webhook_id: str) -> Webhook | None:
        """The webhook with this id."""
        ...

    async def all(self, account_id: str) -> list[Webhook]:
        """The webhooks of an account, oldest first."""
        ...

    async def change(self, account_id: str, webhook_id: str, changes: Mapping[str, Any]) -> Webhook | None:
        """Change fields of a webhook; returns it as it is then. One that is enabled has no failures."""
        ...

    async def remove(self, account_id: str, webhook_id: str) -> bool:
        """Remove a webhook with its deliveries; returns whether it existed."""
        ...

    async def test(self, webhook: Webhook, time: datetime) -> Delivery:
        """Add a `webhook.test` for one webhook."""
        ...

    async def deliveries(
        self, webhook_id: str, limit: int, before: str | None = None, status: Status | None = None
    ) -> list[Delivery]:
        """The last deliveries of a webhook, newest first; those before an event's id, those of a status."""
        ...

    async def resend(self, webhook_id: str, event_id: str, time: datetime) -> Delivery | None:
        """Attempt a delivery at this time, and then on the usual schedule; None if it does not exist."""
        ...


class EventStore(Protocol):
    """Adds events that are noticed, rather than done, by the service. Several processes may notice the same."""

    async def announce_expiring_keys(self, now: datetime, until: datetime) -> None:
        """Add a `key.expiring`, once, for each key that is not revoked and expires between the two times."""
        ...

    async def see_degraded(self, engines: Collection[EngineDegraded], now: datetime) -> None:
        """Store that engines are degraded now; adds an `engine.degraded` for those that were not before."""
        ...

    async def degraded(self) -> Collection[str]:
        """The engines that are degraded."""
        ...

    async def see_recovered(self, won: Mapping[str, datetime], now: datetime, unseen: timedelta) -> None:
        """Add an `engine.recovered` for engines that have fetched a page since they were last seen degraded.

        `won` has the time of the last page of each engine. An engine that was seen degraded within the time `unseen`
        stays so: another process sees it differently.
        """
        ...


class DeliveryStore(Protocol):
    """The deliveries that are due. Each is leased by one process at a time."""

    async def is_due(self, now: datetime) -> bool:
        """Whether a delivery is due."""
        ...

    async def lease(
        self, process: str, now: datetime, until: datetime, free: Callable[[str, int], int], most: int
    ) -> Sequence[DueDelivery]:
        """Take due deliveries, at most `most`, which no other process takes before `until`.

        `free` has how many of a webhook may be taken, from its id and its failures.
        """
        ...

    async def finish(self, attempt: Attempt) -> None:
        """Store the end of an attempt, unless the lease was lost meanwhile."""
        ...

    async def release(self, dead: Callable[[str], bool], now: datetime) -> int:
        """Make the leases of dead processes due; returns how many."""
        ...

    async def waiting(self) -> Waiting:
        """The deliveries that are due or will be, for metrics."""
        ...

    async def remove_old(self, before: datetime, most: int) -> int:
        """Remove at most `most` events from before a time, with their deliveries; returns how many."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...
