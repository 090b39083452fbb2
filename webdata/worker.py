"""The program that runs batches, put together: `webdata worker`, or a child of `webdata serve`.

It imports what uses the reactor when it runs, after it has installed one.
"""

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from webdata.batches.intake import Intake
from webdata.batches.parts import RecordMover
from webdata.batches.submissions import Submissions
from webdata.batches.upkeep import BatchUpkeep
from webdata.config.config import Config
from webdata.observability.logs import log_to_standard_error
from webdata.runtime.process.child_process import run_child, tell_parent, when_parent_stops
from webdata.runtime.process.disk import lacks_room
from webdata.runtime.process.memory import collect_less, tune_heap
from webdata.runtime.process.names import is_dead, this_process
from webdata.runtime.process.reactor import install_reactor
from webdata.runtime.process.repeat import running
from webdata.runtime.process.temporary_files import own_temporary_files
from webdata.stores.batches.model import RowResult
from webdata.stores.batches.parts import open_parts
from webdata.stores.database.database import server_url
from webdata.stores.ephemeral.ephemeral import CALL_ENDS_WITHIN, EphemeralStores
from webdata.stores.sql_stores import SqlStores

if TYPE_CHECKING:
    from webdata.batches.worker import BatchWorker
    from webdata.crawling.warm_crawlers import WarmCrawlers
    from webdata.observability.metrics import Metrics

NICENESS = 10
"""The niceness of a child of the service, whose own calls go first."""
SWITCH_SECONDS = 0.0005
"""Until a thread lets another one run: one that holds SQLite's lock, for which calls wait, needs to run too."""
MOST_CHUNKS = 16
"""Chunks that one process runs at once."""
SHARE_OF_CALLS = 0.75
"""The part of WEBDATA_MAX_CALLS that rows of batches may take."""


def main() -> None:
    """Run batches as a child of the service, until it stops."""
    os.nice(NICENESS)
    sys.setswitchinterval(SWITCH_SECONDS)
    run_child("The process that runs batches", partial(run, child=True))


def run(config: Config, *, child: bool = False) -> None:
    """Run batches until SIGTERM or SIGINT, a `child` until its parent stops it. Raises ConfigError at the start."""
    log_to_standard_error()
    install_reactor()
    from twisted.internet import reactor as installed  # noqa: PLC0415  # once it is installed

    reactor: Any = installed
    program = Program(config, tell_parent) if child else Program(config)
    life = _Life(program, reactor, child=child)
    reactor.callWhenRunning(life.start)
    own_temporary_files()
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

    def __init__(self, config: Config, observer: Callable[[str, str, str], None] | None = None) -> None:
        self._config = config
        self._observer = observer
        self._worker: BatchWorker | None = None
        self._stopping = False

    def stop(self) -> None:
        """Begin no further row; `run` returns when those that run have ended."""
        self._stopping = True
        if self._worker:
            self._worker.stop()

    async def run(self) -> None:
        """Run batches until `stop`."""
        from webdata.accounts.access.upstream_budgets import UpstreamBudgets  # noqa: PLC0415
        from webdata.crawling.warm_crawlers import WarmCrawlers, load_spiders, scrapy_settings  # noqa: PLC0415
        from webdata.observability.metrics import Metrics, call_metrics, serve  # noqa: PLC0415
        from webdata.sandbox.server import Sandbox  # noqa: PLC0415

        config = self._config
        async with AsyncExitStack() as opened:
            sandbox, scrapy, metrics = Sandbox(config.sandbox_replay), scrapy_settings(), Metrics()
            opened.push_async_callback(sandbox.stop)
            stores = opened.enter_context(SqlStores(config.database))
            ephemeral = EphemeralStores(config.redis, config.cache_bytes, config.deadline + CALL_ENDS_WITHIN)
            opened.push_async_callback(ephemeral.close)
            await ephemeral.open()
            scrapy.set("SANDBOX_URL", config.sandbox_url or await sandbox.start(), priority="cmdline")
            reserve = UpstreamBudgets(config.upstreams, stores.upstream_requests).reserve
            crawlers = WarmCrawlers(load_spiders(scrapy), scrapy, config.max_calls, (metrics.ended,), reserve)
            opened.push_async_callback(crawlers.close, config.deadline)
            metrics.collect_from(lambda: call_metrics(crawlers))
            if config.worker_metrics is not None:
                opened.callback(serve(config.worker_metrics, metrics).stopListening)
            collect_less()
            tune_heap()
            self._worker = self._made_worker(stores, ephemeral, crawlers, metrics)
            if not self._stopping:
                async with running(self._made_upkeep(stores, crawlers).run()):
                    await self._worker.run()

    def _made_upkeep(self, stores: SqlStores, crawlers: "WarmCrawlers") -> BatchUpkeep:
        config = self._config
        intake = Intake(config.intake_folder, {resource.name: resource.query for resource in crawlers.resources})
        submissions = Submissions(intake, stores.batches, stores.webhooks, config.batch_folders)
        parts = open_parts(config.batch_store)
        return BatchUpkeep(
            this_process(),
            stores.batches,
            stores.chunks,
            stores.schedules,
            submissions,
            config.batch_days,
            RecordMover(stores.batches, stores.moves, parts) if parts else None,
        )

    def _made_worker(
        self, stores: SqlStores, ephemeral: EphemeralStores, crawlers: "WarmCrawlers", metrics: "Metrics"
    ) -> "BatchWorker":
        from webdata.accounts.access.cache import Cache  # noqa: PLC0415
        from webdata.batches.row_answers import RowArchive  # noqa: PLC0415
        from webdata.batches.rows import RowRunner  # noqa: PLC0415
        from webdata.batches.worker import BatchWorker, WorkerSettings  # noqa: PLC0415

        config = self._config
        of_engines: defaultdict[str, list[str]] = defaultdict(list)
        for resource, engine in crawlers.first_engines.items():
            of_engines[engine].append(resource)
        resources = {resource.name: resource for resource in crawlers.resources}
        cache = Cache(ephemeral.cache, config.cache_stale)
        archive = RowArchive(stores.keys)
        runner = RowRunner(resources, crawlers, cache, config.deadline, config.sandbox == "always", archive)
        slots = config.slots_of(crawlers.engines)
        worker = WorkerSettings(
            this_process(),
            {engine: slots[engine] for engine in of_engines},
            of_engines,
            MOST_CHUNKS,
            max(1, int(config.max_calls * SHARE_OF_CALLS)),
            server_url(config.database),
        )

        def ended(resource: str, result: RowResult) -> None:
            (self._observer or metrics.row_ended)(resource, result.engine, result.outcome)

        lacks_disk = partial(lacks_room, config.batch_folders)
        return BatchWorker(worker, stores.chunks, runner, is_dead, crawlers.seconds_open, ended, lacks_disk)
