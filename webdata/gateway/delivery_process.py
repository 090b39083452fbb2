"""A child process that delivers webhooks while some are due, so that the service's own calls lose nothing to it.

It has a low priority, and ends when nothing was due for a while: a service without webhooks never starts it.
"""

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any

from webdata.domain.errors import DatabaseAwayError
from webdata.observability.logs import log_to_standard_error
from webdata.stores.interfaces_webhooks import DeliveryStore

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""Between two looks whether deliveries are due, while no process runs."""
IDLE = timedelta(minutes=5)
"""After which a process ends that has nothing to deliver."""
STOP_SECONDS = 5.0
"""How long attempts in flight may take when the service stops; those that take longer are repeated later."""
NICENESS = 10
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a terminal or a service manager sends to all processes; the parent handles them and stops the child."""
CODE = f"import sys; sys.path.append(sys.argv[1]); from {__name__} import main; main()"
ROOT = str(Path(__file__).parents[2])
"""The folder of this package, which is not on the path of a new interpreter where the package is not installed."""


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
    """Starts the process when something is due, and again when it has died, until `stop`."""

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self._watching: asyncio.Task[None] | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, store: DeliveryStore) -> None:
        """Begin to look for what is due."""
        self._watching = asyncio.get_running_loop().create_task(self._watch(store))

    async def stop(self) -> None:
        """Stop the process, after its attempts in flight."""
        if self._watching:
            self._watching.cancel()
        if self.process:
            await asyncio.to_thread(_stop, self.process)

    async def _watch(self, store: DeliveryStore) -> None:
        while True:
            try:
                died = self.process is not None and self.process.poll() not in (None, 0)
                if died:
                    logger.error("the process that delivers webhooks has ended: another begins")
                is_running = self.process is not None and self.process.poll() is None
                if died or (not is_running and await store.is_due(datetime.now(UTC))):
                    _close_pipe(self.process)
                    self.process = _started(self._settings)
            except DatabaseAwayError as error:
                logger.warning("the database does not answer: %s", error)
            except Exception:  # the next look may succeed
                logger.exception("the process that delivers webhooks could not begin")
            await asyncio.sleep(WATCH_SECONDS)


def _started(settings: DeliverySettings) -> "subprocess.Popen[bytes]":
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # the child inherits the mask
    try:
        process = subprocess.Popen(  # noqa: S603  # it is this program
            [sys.executable, "-P", "-c", CODE, ROOT],  # -P: modules in the current folder must not be imported
            stdin=subprocess.PIPE,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert process.stdin
    with contextlib.suppress(OSError):  # it has died already: the next look sees that
        process.stdin.write(pickle.dumps(settings))  # arguments would be visible to every user
        process.stdin.flush()  # it stays open: its end stops the child
    return process


def _close_pipe(process: "subprocess.Popen[bytes] | None") -> None:
    if process and process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    _close_pipe(process)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main() -> None:
    """Deliver until standard input ends, which the parent closes by its death at the latest, or nothing is left."""
    os.nice(NICENESS)
    log_to_standard_error()
    settings = pickle.load(sys.stdin.buffer)  # noqa: S301  # from the parent
    from scrapy.utils.reactor import install_reactor  # noqa: PLC0415  # imports below use the installed reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor as installed  # noqa: PLC0415

    reactor: Any = installed
    reactor.callWhenRunning(lambda: asyncio.ensure_future(_run(settings, reactor)))
    reactor.run(installSignalHandlers=False)


async def _run(settings: DeliverySettings, reactor: Any) -> None:
    # Imported here because they use the reactor that `main` has installed.
    from webdata.egress.guard import Guard  # noqa: PLC0415
    from webdata.egress.names import NameResolver  # noqa: PLC0415
    from webdata.egress.rule import Rule  # noqa: PLC0415
    from webdata.gateway.delivery import Delivery  # noqa: PLC0415
    from webdata.gateway.webhook_sender import WebhookSender  # noqa: PLC0415
    from webdata.gateway.webhook_urls import WebhookUrls  # noqa: PLC0415

    guard = Guard(Rule(frozenset(settings.ports), settings.allow), NameResolver())
    store = settings.open_store()
    sender = WebhookSender(reactor, WebhookUrls(guard, http=settings.http))
    delivery = Delivery(store, sender, settings.process_name(), lease=settings.lease)
    try:
        with contextlib.suppress(DatabaseAwayError):
            await store.release(settings.is_dead, datetime.now(UTC))
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _stop_at_end, delivery)
        await delivery.run(IDLE)
    finally:
        store.close()
        reactor.stop()


def _stop_at_end(delivery: Any) -> None:
    if not os.read(sys.stdin.fileno(), 1):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        delivery.stop()
