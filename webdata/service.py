"""The service put together: the composition root of what runs.

It takes whatever reactor is installed when it is imported: install the asyncio reactor before this module.
"""

import asyncio
import logging
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from socket import socket
from typing import Any

from scrapy.settings import Settings
from scrapy.utils.defer import deferred_to_future
from twisted.internet import reactor as installed_reactor
from twisted.internet.task import LoopingCall

from webdata.access.admission import Admission
from webdata.access.api_keys import ApiKeys, first_keys
from webdata.access.cache import Cache
from webdata.access.credits import Credits
from webdata.access.key_pages import KeyPage
from webdata.access.rate_limits import RateLimits
from webdata.api import refusals
from webdata.api.account import KEY_PAGES
from webdata.api.app import Api
from webdata.api.docs_page import documentation
from webdata.api.health import Health
from webdata.api.metrics import metrics_page
from webdata.config.config import Config
from webdata.crawling.warm_crawlers import WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import ConfigError, DatabaseAwayError
from webdata.downloadermiddlewares.blocked import captcha_hook
from webdata.egress.guard import Guard
from webdata.egress.names import NameResolver
from webdata.egress.reactor_names import ReactorNames
from webdata.egress.rule import Rule
from webdata.gateway.delivery_process import DeliveryProcess, DeliverySettings
from webdata.gateway.notices import Notices
from webdata.gateway.proxy import Proxy
from webdata.gateway.targets import Targets
from webdata.gateway.webhook_urls import WebhookUrls
from webdata.gateway.webhooks import WebhookPages
from webdata.observability.logs import log_to_standard_error
from webdata.observability.metrics import Metrics, access_metrics, call_metrics
from webdata.observability.recent_calls import RecentCalls
from webdata.sandbox.server import Sandbox
from webdata.server.banner import show_banner
from webdata.server.connections import Connections
from webdata.server.listening import Listening, room_for
from webdata.server.memory import collect_less, return_large_blocks
from webdata.server.plain_http import RedirectSite, secured
from webdata.server.tls import ServerTLS
from webdata.server.workers import TICK, Worker
from webdata.stores.ephemeral import EphemeralStores
from webdata.stores.interfaces import Ledger
from webdata.stores.processes import is_dead, this_process
from webdata.stores.sql_stores import SqlStores, attach_deliveries

logger = logging.getLogger(__name__)
LONGEST_CALL = timedelta(hours=1)
"""Longer than any call can take: a credit that was reserved before is from a process that died."""
SETTLED_EVERY = 60.0
"""Seconds between two checks for such credits."""
CALL_ENDS_WITHIN = 60.0
"""Seconds after its deadline in which a call has ended, however slow the database is."""
PUBLISHED_EVERY = 5.0
"""Seconds between two times that a worker publishes its state for the metrics of all."""
reactor: Any = installed_reactor  # its type is an interface, which mypy cannot call


def run(config: Config, listening: Listening, worker: Worker | None = None) -> None:
    """Serve until SIGINT or SIGTERM, a `worker` also until its supervisor dies; raises ConfigError at the start."""
    log_to_standard_error(worker.number if worker else None)
    main = _Main(Service(config, listening, scrapy_settings(), worker))
    collect_less()
    return_large_blocks()
    reactor.installNameResolver(ReactorNames(NameResolver(search=True)))
    reactor.callWhenRunning(main.start)
    reactor.run(installSignalHandlers=False)
    if main.failure:
        raise main.failure


class _Main:
    """The life of the process: start, wait for a signal, stop once."""

    def __init__(self, service: "Service"):
        self.service = service
        self.worker = service.worker
        self.failure: Exception | None = None
        self.stopping: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.starting = asyncio.ensure_future(self._start())

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.stop)
        if not self.worker:
            loop.add_signal_handler(signal.SIGINT, self.stop)
        try:
            await self.service.start()
        except Exception as error:  # noqa: BLE001  # run() raises it, once the reactor has stopped
            self.failure = error
            self.stop()
        else:
            if self.worker:
                self._beat(self.worker)

    def _beat(self, worker: Worker) -> None:
        worker.beat()
        if worker.orphaned:
            self.stop()
        asyncio.get_running_loop().call_later(TICK, self._beat, worker)

    def stop(self) -> None:
        """Stop gracefully; the second time, at once. A worker is ended at once by its supervisor."""
        if not self.stopping:
            self.stopping = asyncio.ensure_future(self._stop())
        elif not self.worker:
            reactor.stop()

    async def _stop(self) -> None:
        try:
            await self.service.stop()
        finally:
            reactor.stop()


class Service:
    """Sandbox, warm crawlers, keys and API, started and stopped together."""

    def __init__(self, config: Config, listening: Listening, settings: Settings, worker: Worker | None):
        self.config = config
        self.listening = listening
        self.settings = settings
        self.worker = worker
        self.settling: asyncio.Task[None] | None = None
        self.notices: Notices | None = None
        self.delivery: DeliveryProcess | None = None
        self.sandbox = Sandbox(config.sandbox_replay)
        self.ports: list[Any] = []
        self.connections = Connections(room_for(config.max_connections))
        self.stores: SqlStores | None = None
        self.ephemeral = EphemeralStores(config.redis, config.cache_bytes, config.deadline + CALL_ENDS_WITHIN)

    async def start(self) -> None:
        """Start everything and listen. Raises ConfigError for a setting that cannot be used."""
        captcha_hook(self.config.captcha_hook)  # crawlers open at their first call, too late for a mistake
        stores = self.stores = SqlStores(self.config.database, ledger_process=True)
        await _settle_at_first(stores.ledger)
        await self.ephemeral.open()
        self.settings.set("SANDBOX_URL", self.config.sandbox_url or await self.sandbox.start(), priority="cmdline")
        metrics = Metrics(self.worker.number if self.worker else None)
        always = self.config.sandbox == "always"
        spiders = load_spiders(self.settings)
        recent = RecentCalls({spider.name for spider in spiders if spider.any_site}, sandbox_always=always)
        observers = (metrics.ended, recent.ended)
        self.crawlers = WarmCrawlers(spiders, self.settings, self.config.max_calls, observers)
        metrics.collect_from(partial(call_metrics, self.crawlers))
        self.admission = self._admission(stores)
        metrics.collect_from(partial(access_metrics, self.admission.snapshot, lambda: self.ephemeral.cache_bytes))
        self.health = Health(
            self.crawlers,
            stores.keys,
            self.config.transports,
            recent,
            sandbox_always=always,
            warnings=lambda: (*stores.warnings(), *self.ephemeral.warnings()),
            folders=self.config.growing_folders,
            worker=self.worker,
        )
        key_pages = [*KEY_PAGES, *self._webhook_pages(stores)]
        self.proxy = self._proxy()
        pages = [*self.health.pages(), *([metrics_page(metrics)] if self.config.metrics else [])]
        self.api = Api(
            self.crawlers.resources,
            self.admission,
            pages=[*pages, *documentation(self.crawlers.resources, pages, key_pages)],
            observer=metrics.answered,
            connections=self.connections,
            key_pages=key_pages,
            proxy=self.proxy,
            cors_origins=self.config.cors_origins,
        )
        self.settling = asyncio.ensure_future(_settle_now_and_then(stores.ledger))
        self._start_webhooks(stores, recent)
        if self.worker:
            LoopingCall(metrics.publish).start(PUBLISHED_EVERY)
            with self.listening.of_its_own() as listening:  # the ports have copies
                self._listen(listening, metrics)
        else:
            self._listen(self.listening, metrics)
            show_banner(self.listening, self.config, await first_keys(stores.keys, stores.ledger))

    def _admission(self, stores: SqlStores) -> Admission:
        return Admission(
            ApiKeys(stores.keys),
            RateLimits(self.ephemeral.limits, self.ephemeral.shared_limits),
            Cache(self.ephemeral.cache, self.config.cache_stale),
            Credits(stores.ledger),
            self.crawlers,
            self.config.deadline,
            sandbox_always=self.config.sandbox == "always",
        )

    def _webhook_pages(self, stores: SqlStores) -> list[KeyPage]:
        config = self.config
        guard = Guard(Rule(frozenset(config.egress_ports), config.egress_allow), NameResolver())
        return WebhookPages(stores.webhooks, WebhookUrls(guard, http=config.webhooks_http)).pages()

    def _start_webhooks(self, stores: SqlStores, recent: RecentCalls) -> None:
        """Notice events; the first of several workers has the process that delivers them."""
        is_first = self.worker is None or self.worker.number == 1
        self.notices = Notices(recent, stores.events, stores.deliveries)
        self.notices.start(hourly=is_first)
        if is_first:
            config = self.config
            store = partial(attach_deliveries, config.database)
            self.delivery = DeliveryProcess(
                DeliverySettings(
                    store, this_process, is_dead, config.egress_ports, config.egress_allow, config.webhooks_http
                )
            )
            self.delivery.start(stores.deliveries)

    def _proxy(self) -> Proxy:
        config, admission = self.config, self.admission
        targets = Targets(config.gateway, config.gateway_secret, required=config.gateway_secret_required)
        return Proxy(targets, admission.api_keys, admission.rate_limits, admission.credits)

    def _listen(self, listening: Listening, metrics: Metrics) -> None:
        config = self.config
        if config.tls:
            factory: Any = secured(self.api.site(config.hsts), ServerTLS(config))
        else:
            factory = self.api.site()
        self._serve(listening.api, factory)
        if listening.redirect:
            port = None if config.public_url else listening.port
            refuse_keys, key_sent = config.http_keys == "refuse", partial(metrics.answered, "plain_http")
            redirect = RedirectSite(listening.url, port, self.connections, refusals, refuse_keys, key_sent)
            self._serve(listening.redirect, redirect)

    def _serve(self, listening: socket, factory: Any) -> None:
        self.ports.append(reactor.adoptStreamPort(listening.fileno(), listening.family, factory))

    async def stop(self) -> None:
        """Refuse new calls by 503 while those in flight finish, then close everything."""
        if self.ports:
            logger.info("stopping: no new calls are taken, those in flight are finished")
            self.health.stop()
            if self.worker and self.worker.orphaned:
                await self._close_ports()  # for another start, which may come at once
            await self.api.drain(self.config.deadline)
            await self._close_ports()
            await self.proxy.close()
            await self.crawlers.close(self.config.deadline)
            await self.admission.close(self.config.deadline)
        await self.ephemeral.close()
        if self.settling:
            self.settling.cancel()
        if self.notices:
            self.notices.stop()
        if self.delivery:
            await self.delivery.stop()
        if self.stores:
            await self.stores.ledger.flush()
            self.stores.close()
        await self.sandbox.stop()

    async def _close_ports(self) -> None:
        while self.ports:
            await deferred_to_future(self.ports.pop().stopListening())


async def _settle_at_first(ledger: Ledger) -> None:
    """Release the credits that dead processes of this machine had reserved; raises ConfigError."""
    try:
        await _settle(ledger, is_dead)
    except DatabaseAwayError as error:
        raise ConfigError(f"the database does not answer ({error}): start again when it does") from error


async def _settle_now_and_then(ledger: Ledger) -> None:
    """Release the credits of calls that are older than LONGEST_CALL, whose machine may be gone."""
    while True:
        await asyncio.sleep(SETTLED_EVERY)
        try:
            await _settle(ledger, lambda _: False)
        except DatabaseAwayError as error:
            logger.warning("the database does not answer: %s", error)
        except Exception:  # the next attempt may succeed
            logger.exception("credits of calls that were lost could not be given back yet")


async def _settle(ledger: Ledger, dead: Callable[[str], bool]) -> None:
    """Release the credits of calls whose process has died."""
    lost = await ledger.settle(dead, datetime.now(UTC) - LONGEST_CALL)
    if lost:
        logger.warning("credits of %d calls were given back: their process had died", lost)
