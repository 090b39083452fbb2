"""The program that runs batches: `webdata worker`, or a child of `webdata serve`.

It imports what uses the reactor when it runs, after it has installed one.
"""

import asyncio
import logging
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from scrapy.settings.default_settings import TWISTED_REACTOR
from scrapy.utils.reactor import install_reactor

from webdata.batches.intake import Intake
from webdata.batches.submissions import Submissions
from webdata.batches.upkeep import BatchUpkeep
from webdata.batches.upkeep import Stores as UpkeepStores
from webdata.config.config import Config
from webdata.domain.errors import ConfigError
from webdata.observability.logs import log_to_standard_error
from webdata.server.child_process import settings_of_child, tell_parent, when_parent_stops
from webdata.server.memory import collect_less, return_large_blocks
from webdata.stores.interfaces import CacheStore
from webdata.stores.interfaces_batches import PartStore, Result
from webdata.stores.interfaces_webhooks import WebhookStore

if TYPE_CHECKING:
    from webdata.batches.worker import Worker
    from webdata.crawling.warm_crawlers import WarmCrawlers
    from webdata.observability.metrics import Metrics

logger = logging.getLogger(__name__)

NICENESS = 10
"""Of a child of the service, whose own calls go first."""
SWITCH_SECONDS = 0.0005
"""Until a thread lets another one run: one that holds SQLite's lock, for which calls wait, needs to run too."""
MOST_CHUNKS = 16
"""Chunks that one process runs at once."""
SHARE_OF_CALLS = 0.75
"""The part of WEBDATA_MAX_CALLS that rows of batches may take."""


class Stores(UpkeepStores, Protocol):
    """The stores of a database."""

    @property
    def webhooks(self) -> WebhookStore:
        """The webhooks of accounts."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class Ephemeral(Protocol):
    """The stores of what may be lost."""

    cache: CacheStore

    async def open(self) -> None:
        """Connect; raises ConfigError for a server that refuses its password."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


@dataclass(frozen=True)
class ProgramSettings:
    """What the program needs, as values that can be pickled."""

    config: Config
    open_stores: Callable[[], Stores]
    open_ephemeral: Callable[[], Ephemeral]
    process_name: Callable[[], str]
    is_dead: Callable[[str], bool]
    """Whether the process of this name has died."""
    open_parts: Callable[[], PartStore | None]
    """Opens the store of records outside of the database, if there is one."""
    queue_url: str | None
    """Of the PostgreSQL server with the queue of tickets; None for one in memory."""


def main() -> None:
    """Run batches as a child of the service, until it stops."""
    os.nice(NICENESS)
    sys.setswitchinterval(SWITCH_SECONDS)
    run(settings_of_child(), child=True)


def run(settings: ProgramSettings, *, child: bool = False) -> None:
    """Run batches until SIGTERM or SIGINT, a `child` until its parent stops it. Raises ConfigError at the start."""
    log_to_standard_error()
    install_reactor(TWISTED_REACTOR)
    from twisted.internet import reactor as installed  # noqa: PLC0415  # once it is installed

    reactor: Any = installed
    program = Program(settings, tell_parent) if child else Program(settings)
    life = _Life(program, reactor, child=child)
    reactor.callWhenRunning(life.start)
    reactor.run(installSignalHandlers=False)
    if life.failure:
        raise life.failure


class _Life:
    """The life of the process: start, wait for the end, stop once."""

    def __init__(self, program: "Program", reactor: Any, *, child: bool) -> None:
        self._program = program
        self._reactor = reactor
        self._child = child
        self.failure: Exception | None = None

    def start(self) -> None:
        self._running = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        if self._child:
            when_parent_stops(self._program.stop)
        else:
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self._program.stop)
        try:
            await self._program.run()
        except Exception as error:  # noqa: BLE001  # run() raises it, once the reactor has stopped
            self.failure = error
        finally:
            self._reactor.stop()


class Program:
    """Sandbox, warm crawlers, cache and worker, started and stopped together.

    `observer` counts every row that has ended, by resource, engine and outcome; None for the metrics of this process.
    """

    def __init__(self, settings: ProgramSettings, observer: Callable[[str, str, str], None] | None = None) -> None:
        self._settings = settings
        self._observer = observer
        self._worker: Worker | None = None
        self._stopping = False

    def stop(self) -> None:
        """Begin no further row; `run` returns when those that run have ended."""
        self._stopping = True
        if self._worker:
            self._worker.stop()

    async def run(self) -> None:
        """Run batches until `stop`."""
        from webdata.crawling.warm_crawlers import WarmCrawlers, load_spiders, scrapy_settings  # noqa: PLC0415
        from webdata.downloadermiddlewares.blocked import captcha_hook  # noqa: PLC0415
        from webdata.observability.metrics import Metrics, call_metrics  # noqa: PLC0415
        from webdata.sandbox.server import Sandbox  # noqa: PLC0415

        config = self._settings.config
        captcha_hook(config.captcha_hook)
        stores, ephemeral = self._settings.open_stores(), self._settings.open_ephemeral()
        await ephemeral.open()
        sandbox, scrapy, metrics = Sandbox(config.sandbox_replay), scrapy_settings(), Metrics()
        scrapy.set("SANDBOX_URL", config.sandbox_url or await sandbox.start(), priority="cmdline")
        crawlers = WarmCrawlers(load_spiders(scrapy), scrapy, config.max_calls, (metrics.ended,))
        metrics.collect_from(lambda: call_metrics(crawlers))
        port = _serve_metrics(config.worker_metrics, metrics)
        collect_less()
        return_large_blocks()
        try:
            self._worker = self._made_worker(stores, ephemeral, crawlers, metrics)
            if not self._stopping:
                upkeep = asyncio.ensure_future(self._made_upkeep(stores, crawlers).run())
                try:
                    await self._worker.run()
                finally:
                    upkeep.cancel()
        finally:
            if port:
                port.stopListening()
            await crawlers.close(config.deadline)
            await ephemeral.close()
            stores.close()
            await sandbox.stop()

    def _made_upkeep(self, stores: Stores, crawlers: "WarmCrawlers") -> BatchUpkeep:
        config = self._settings.config
        intake = Intake(config.intake_folder, {resource.name: resource.query for resource in crawlers.resources})
        submissions = Submissions(intake, stores.batches, stores.webhooks)
        name, parts = self._settings.process_name(), self._settings.open_parts()
        return BatchUpkeep(name, stores, submissions, config.batch_days, parts)

    def _made_worker(
        self, stores: Stores, ephemeral: Ephemeral, crawlers: "WarmCrawlers", metrics: "Metrics"
    ) -> "Worker":
        from webdata.access.cache import Cache  # noqa: PLC0415
        from webdata.batches.rows import RowRunner  # noqa: PLC0415
        from webdata.batches.worker import Worker, WorkerSettings  # noqa: PLC0415

        config, settings = self._settings.config, self._settings
        of_engines: defaultdict[str, list[str]] = defaultdict(list)
        for resource, engine in crawlers.first_engines.items():
            of_engines[engine].append(resource)
        resources = {resource.name: resource for resource in crawlers.resources}
        cache = Cache(ephemeral.cache, config.cache_stale)
        runner = RowRunner(resources, crawlers, cache, config.deadline, config.sandbox == "always")
        worker = WorkerSettings(
            settings.process_name(),
            {engine: config.slots_of(engine) for engine in of_engines},
            of_engines,
            MOST_CHUNKS,
            max(1, int(config.max_calls * SHARE_OF_CALLS)),
            settings.queue_url,
        )

        def ended(resource: str, result: Result) -> None:
            (self._observer or metrics.row_ended)(resource, result.engine, result.outcome)

        return Worker(worker, stores.chunks, runner, settings.is_dead, crawlers.seconds_open, ended)


def _serve_metrics(address: str | None, metrics: "Metrics") -> Any:
    """The port on which `GET /metrics` is answered, if any; raises ConfigError for one that cannot be used."""
    if address is None:
        return None
    from prometheus_client.twisted import MetricsResource  # noqa: PLC0415
    from twisted.internet import reactor as installed  # noqa: PLC0415
    from twisted.internet.error import CannotListenError  # noqa: PLC0415
    from twisted.web.resource import Resource  # noqa: PLC0415
    from twisted.web.server import Site  # noqa: PLC0415

    reactor: Any = installed
    host, _, port = address.rpartition(":")
    root = Resource()
    root.putChild(b"metrics", MetricsResource(metrics.registry))
    try:
        return reactor.listenTCP(int(port), Site(root), interface=host.strip("[]"))
    except CannotListenError as error:
        raise ConfigError(
            f"WEBDATA_WORKER_METRICS cannot be {address}, which is taken or not of this machine: give another, or off"
        ) from error
