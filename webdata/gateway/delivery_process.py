"""A child process that delivers webhooks while some are due, so that the service's own calls lose nothing to it.

It has a low priority, and ends when nothing was due for a while: a service without webhooks never starts it.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from webdata.domain.errors import DatabaseAwayError
from webdata.observability.logs import log_to_standard_error
from webdata.server.child_process import ChildProcess, settings_of_child, tell_parent, when_parent_stops
from webdata.server.repeat import repeat
from webdata.stores.interfaces_webhooks import AttemptResult, DeliveryStore

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""Between two looks whether deliveries are due, while no process runs."""
IDLE = timedelta(minutes=5)
"""After which a process ends that has nothing to deliver."""
STOP_SECONDS = 5.0
"""How long attempts in flight may take when the service stops; those that take longer are repeated later."""
NICENESS = 10


@dataclass(frozen=True)
class DeliverySettings:
    """What the process needs, as values that can be pickled."""

    open_store: Callable[[], DeliveryStore]
    process_name: Callable[[], str]
    is_dead: Callable[[str], bool]
    """Whether the process of this name has died."""
    ports: tuple[int, ...]
    allow: tuple[IPv4Network | IPv6Network, ...]
    http: bool
    lease: timedelta = timedelta(seconds=60)


class DeliveryProcess:
    """Starts the process when something is due, and again when it has died, until `stop`.

    `observer` is called with the result of every attempt.
    """

    def __init__(self, settings: DeliverySettings, observer: Callable[[AttemptResult], None] = lambda _: None) -> None:
        self._settings = settings
        self._watching: asyncio.Task[None] | None = None
        self.child = ChildProcess(__name__, observer)

    def start(self, store: DeliveryStore) -> None:
        """Begin to look for what is due."""
        looking = repeat("the process that delivers webhooks", partial(self._look, store), WATCH_SECONDS)
        self._watching = asyncio.ensure_future(looking)

    async def stop(self) -> None:
        """Stop the process, after its attempts in flight."""
        if self._watching:
            self._watching.cancel()
        await self.child.stop(STOP_SECONDS)

    async def _look(self, store: DeliveryStore) -> None:
        if self.child.has_died:
            logger.error("the process that delivers webhooks has ended: another begins")
            self.child.start(self._settings)
        elif not self.child.runs and await store.is_due(datetime.now(UTC)):
            self.child.start(self._settings)


def main() -> None:
    """Deliver until the parent stops this process, or nothing is left."""
    os.nice(NICENESS)
    log_to_standard_error()
    settings = settings_of_child()
    from scrapy.utils.reactor import install_reactor  # noqa: PLC0415  # imports below use the installed reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor as installed  # noqa: PLC0415

    reactor: Any = installed
    reactor.callWhenRunning(lambda: asyncio.ensure_future(_run(settings, reactor)))
    reactor.run(installSignalHandlers=False)


async def _run(settings: DeliverySettings, reactor: Any) -> None:
    # Imported here because they use the reactor that `main` has installed.
    from webdata.access.webhook_urls import WebhookUrls  # noqa: PLC0415
    from webdata.egress.guard import Guard  # noqa: PLC0415
    from webdata.egress.names import NameResolver  # noqa: PLC0415
    from webdata.egress.rule import Rule  # noqa: PLC0415
    from webdata.gateway.delivery import Delivery  # noqa: PLC0415
    from webdata.gateway.webhook_sender import WebhookSender  # noqa: PLC0415

    guard = Guard(Rule(frozenset(settings.ports), settings.allow), NameResolver())
    store = settings.open_store()
    sender = WebhookSender(reactor, WebhookUrls(guard, http=settings.http))
    delivery = Delivery(store, sender, settings.process_name(), lease=settings.lease, observer=tell_parent)
    try:
        with contextlib.suppress(DatabaseAwayError):
            await store.release(settings.is_dead, datetime.now(UTC))
        when_parent_stops(delivery.stop)
        await delivery.run(IDLE)
    finally:
        store.close()
        reactor.stop()
