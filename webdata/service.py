"""The service put together: the composition root of what runs.

Klein takes whatever reactor is installed when it is imported: install the asyncio reactor before this module.
"""

import asyncio
import gc
import logging
import signal
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from scrapy.settings import Settings
from twisted.internet import reactor as installed_reactor

from webdata.access import Access
from webdata.api.admission import Admission
from webdata.api.app import Api
from webdata.api.docs_page import documentation
from webdata.api.health import Health
from webdata.api.metrics import metrics_page
from webdata.api.recent import Recent
from webdata.cache import Cache
from webdata.config import Config
from webdata.crawl import Answer, Call, Told, Turn, WarmCrawlers, load_spiders, scrapy_settings
from webdata.downloadermiddlewares.blocked import captcha_hook
from webdata.greeting import greet
from webdata.limits import Limits
from webdata.listening import Listening
from webdata.metrics import Metrics, calls, money
from webdata.sandbox.server import Sandbox
from webdata.stores.interfaces import Ledger
from webdata.stores.passing import PassingStores
from webdata.stores.processes import is_dead
from webdata.stores.sql_stores import SqlStores

logger = logging.getLogger(__name__)
LONGEST_CALL = timedelta(hours=1)
"""Longer than any call can take: what was set aside before is left from a process that died, wherever it ran."""
CALL_ENDS_WITHIN = 60.0
"""Seconds after its deadline in which a call has ended, however slow the database is."""
reactor: Any = installed_reactor  # its type is an interface, which mypy cannot call


def run(config: Config, listening: Listening, settings: Settings | None = None) -> None:
    """Serve until SIGINT or SIGTERM; raises ConfigError when the service cannot start.

    `settings` are Scrapy's, by default the project's own.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for noisy in ("scrapy", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    main = _Main(Service(config, listening, settings or scrapy_settings()))
    _collect_less()
    reactor.callWhenRunning(main.start)
    reactor.run(installSignalHandlers=False)
    if main.failure:
        raise main.failure


def _collect_less() -> None:
    """Let the garbage collector look less often, and never at what was there from the start.

    Nearly all of a call's objects die with their last reference, yet each page makes enough of them for the default
    thresholds to search the whole heap: measured, a tenth of the throughput on a page of 670 KB.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


class _Main:
    """The life of the process: start, wait for a signal, stop once."""

    def __init__(self, service: "Service"):
        self.service = service
        self.failure: Exception | None = None
        self.stopping: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.starting = asyncio.ensure_future(self._start())

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        try:
            await self.service.start()
        except Exception as error:  # noqa: BLE001  # run() raises it, once the reactor has stopped
            self.failure = error
            self.stop()

    def stop(self) -> None:
        """Stop gracefully; asked a second time, at once."""
        if self.stopping:
            reactor.stop()
        else:
            self.stopping = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        try:
            await self.service.stop()
        finally:
            reactor.stop()


class Service:
    """Sandbox, warm crawlers, keys and API, started and stopped together."""

    def __init__(self, config: Config, listening: Listening, settings: Settings):
        self.config = config
        self.listening = listening
        self.settings = settings
        self.sandbox = Sandbox(config.sandbox_replay)
        self.port: Any = None
        self.stores: SqlStores | None = None
        self.passing = PassingStores(config.redis, config.cache_bytes, config.deadline + CALL_ENDS_WITHIN)

    async def start(self) -> None:
        """Start everything and listen. Raises ConfigError for a setting that cannot be used."""
        captcha_hook(self.config.captcha_hook)  # crawlers open at their first call, which is late for a mistake
        stores = self.stores = SqlStores(self.config.database)
        await _settle(stores.ledger)
        await self.passing.open()
        self.settings.set("SANDBOX_URL", self.config.sandbox_url or await self.sandbox.start(), priority="cmdline")
        metrics, always = Metrics(), self.config.sandbox == "always"
        spiders = load_spiders(self.settings)
        recent = Recent({spider.name for spider in spiders if spider.any_site}, sandbox_always=always)
        told = _all_told(metrics.ended, recent.ended)
        self.crawlers = WarmCrawlers(spiders, self.settings, self.config.max_calls, told)
        metrics.show(partial(calls, self.crawlers))
        self.admission = self._admission(stores)
        metrics.show(partial(money, self.admission.shown, lambda: self.passing.cache_bytes))
        self.health = Health(
            self.crawlers,
            stores.keys,
            self.config.transports,
            recent,
            sandbox_always=always,
            warned=self.passing.warnings,
        )
        pages = [*self.health.pages(), *([metrics_page(metrics)] if self.config.metrics else [])]
        self.api = Api(
            resources=self.crawlers.resources,
            admission=self.admission,
            deadline=self.config.deadline,
            sandbox_always=always,
            pages=[*pages, *documentation(self.crawlers.resources, pages)],
            told=metrics.answered,
        )
        self.port = self._listen()
        await greet(self.listening.url, stores, self.config)

    def _admission(self, stores: SqlStores) -> Admission:
        limits = Limits(self.passing.limits, self.passing.shared_limits)
        cache = Cache(self.passing.cache, self.config.cache_stale)
        return Admission(Access(stores.keys), limits, cache, stores.ledger, self.crawlers)

    def _listen(self) -> Any:
        listens = self.listening.api
        return reactor.adoptStreamPort(listens.fileno(), listens.family, self.api.site())

    async def stop(self) -> None:
        """Take no new calls, let those in flight finish, close everything.

        The port listens until they have finished: who asks hears that the service stops.
        """
        if self.port:
            logger.info("stopping: no new calls are taken, those in flight are finished")
            self.health.stop()
            await self.api.drain(self.config.deadline)
            await self.port.stopListening()
            await self.crawlers.close(self.config.deadline)
            await self.admission.close(self.config.deadline)
        await self.passing.close()
        if self.stores:
            self.stores.close()
        await self.sandbox.stop()


def _all_told(*all_of: Told) -> Told:
    """Tells each of them."""

    def told(engine: str, call: Call, turn: Turn, end: Answer | Exception) -> None:
        for one in all_of:
            one(engine, call, turn, end)

    return told


async def _settle(ledger: Ledger) -> None:
    """Give back the credits of calls whose process has died."""
    lost = await ledger.settle(is_dead, datetime.now(UTC) - LONGEST_CALL)
    if lost:
        logger.warning("credits of %d calls were given back: their process had died", lost)
