"""What the service notices by itself, again and again: engines that degrade, keys that expire, events that are old."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from webdata.domain.events import EngineDegraded
from webdata.runtime.process.repeat import in_steps, repeat
from webdata.stores.webhooks.deliveries import DeliveryStore
from webdata.stores.webhooks.events import EventStore

ENGINES_EVERY = 10.0
"""Seconds between two looks at the engines."""
UNSEEN = timedelta(seconds=30)
"""An engine that another process saw degraded so lately has not recovered."""
EXPIRING_WITHIN = timedelta(days=7)
KEPT_DAYS = timedelta(days=30)
"""How long events and their deliveries are stored."""
HOURLY = 3600.0
STEP = 500
"""Events that are removed in one transaction, which other writers wait for."""


class Engines(Protocol):
    """How the last calls to each engine ended (`webdata.observability.recent_calls`)."""

    def degraded(self) -> Sequence[EngineDegraded]: ...

    def won_ago(self) -> dict[str, float]: ...


class Notices:
    """Looks for them again and again."""

    def __init__(self, engines: Engines, events: EventStore, deliveries: DeliveryStore) -> None:
        self._engines = engines
        self._events = events
        self._deliveries = deliveries

    async def run(self, *, hourly: bool) -> None:
        """Look until it is cancelled; the `hourly` work is that of one process of a machine."""
        works = [repeat("events of engines", self.look_at_engines, ENGINES_EVERY)]
        if hourly:
            works += [
                repeat("events of keys", self.look_at_keys, HOURLY),
                repeat("old events", self.remove_old, HOURLY),
            ]
        await asyncio.gather(*works)

    async def look_at_engines(self) -> None:
        """Add the events of engines that have degraded or recovered."""
        now, degraded = datetime.now(UTC), self._engines.degraded()
        await self._events.see_degraded(degraded, now)
        won_ago = self._engines.won_ago()
        before = set(await self._events.degraded()) - {one.engine for one in degraded} if won_ago else ()
        won = {engine: now - timedelta(seconds=won_ago[engine]) for engine in before if engine in won_ago}
        await self._events.see_recovered(won, now, UNSEEN)

    async def look_at_keys(self) -> None:
        """Add the events of keys that expire soon."""
        now = datetime.now(UTC)
        await self._events.announce_expiring_keys(now, now + EXPIRING_WITHIN)

    async def remove_old(self) -> None:
        """Remove old events, in small steps."""
        before = datetime.now(UTC) - KEPT_DAYS
        await in_steps(partial(self._deliveries.remove_old, before), STEP)
