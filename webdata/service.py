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
from webdata.access.api_keys import ApiKeys
from webdata.access.cache import Cache
from webdata.access.call_log import CallRecorder
from webdata.access.credits import Credits
from webdata.access.invitations import first_secrets
from webdata.access.key_pages import KeyPage
from webdata.access.rate_limits import RateLimits
from webdata.access.upkeep import Upkeep
from webdata.access.webhook_urls import WebhookUrls
from webdata.access.webhooks import Webhooks
from webdata.api import refusals
from webdata.api.account import KEY_PAGES
from webdata.api.app import Api
from webdata.api.calls import ApiCalls
from webdata.api.docs_page import documentation
from webdata.api.health import Health
from webdata.api.metrics import metrics_page
from webdata.api.problems import problem_of
from webdata.batches import program
from webdata.batches.batch_pages import BatchPages
from webdata.batches.embedded import EmbeddedWorker
from webdata.batches.intake import Intake
from webdata.batches.parts import PartReader
from webdata.batches.schedule_pages import SchedulePages
from webdata.batches.submissions import Submissions
from webdata.batches.upkeep import BatchUpkeep
from webdata.config.config import Config
from webdata.crawling.warm_crawlers import Call, Observer, WarmCrawlers, load_spiders, scrapy_settings
from webdata.dashboard.address import ServiceAddress
from webdata.dashboard.app import Dashboard
from webdata.dashboard.attempts import Attempts
from webdata.dashboard.batches import BatchesPages
from webdata.dashboard.confirmation import Confirmation
from webdata.dashboard.engines import EnginesPages
from webdata.dashboard.invitations import InvitationPages
from webdata.dashboard.keys import KeysPages
from webdata.dashboard.members import MembersPages
from webdata.dashboard.overview import OverviewPages
from webdata.dashboard.passwords import Passwords
from webdata.dashboard.playground.pages import PlaygroundPages
from webdata.dashboard.requests import RequestsPages
from webdata.dashboard.security import SecurityPages
from webdata.dashboard.sessions import FORGOTTEN_EVERY, Sessions
from webdata.dashboard.settings import SettingsPages
from webdata.dashboard.sign_in import SignInPages
from webdata.dashboard.usage import UsagePages
from webdata.dashboard.webhooks import WebhooksPages
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
from webdata.gateway.webhooks import WebhookPages
from webdata.observability.logs import log_to_standard_error
from webdata.observability.metrics import Metrics, access_metrics, call_metrics
from webdata.observability.recent_calls import RecentCalls
from webdata.observability.stored_state import StoredState
from webdata.resources import Resource
from webdata.sandbox.server import Sandbox
from webdata.server.banner import show_banner
from webdata.server.connections import Connections
from webdata.server.listening import Listening, room_for
from webdata.server.memory import collect_less, return_large_blocks
from webdata.server.plain_http import RedirectSite, secured
from webdata.server.repeat import repeat
from webdata.server.tls import ServerTLS
from webdata.server.workers import TICK, Worker
from webdata.stores.database import server_url
from webdata.stores.ephemeral import EphemeralStores
from webdata.stores.interfaces import Ledger
from webdata.stores.parts import open_parts
from webdata.stores.processes import is_dead, this_process
from webdata.stores.sql_stores import SqlStores, attach_deliveries
from webdata.watch.samples import Samples

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


def run_worker(config: Config) -> None:
    """Run batches, without the API, until SIGINT or SIGTERM; raises ConfigError at the start."""
    program.run(worker_settings(config))


def worker_settings(config: Config) -> program.ProgramSettings:
    """What the program that runs batches is started with."""
    return program.ProgramSettings(
        config,
        partial(SqlStores, config.database),
        partial(EphemeralStores, config.redis, config.cache_bytes, config.deadline + CALL_ENDS_WITHIN),
        this_process,
        is_dead,
        partial(open_parts, config.batch_store),
        server_url(config.database),
    )


def _collect_less_after_first_calls() -> Observer:
    """What an engine's first call has imported and opened stays, as what the start has made."""
    warm: set[tuple[str, bool]] = set()

    def ended(engine: str, call: Call, *_: object) -> None:
        if (engine, call.sandbox) not in warm:
            warm.add((engine, call.sandbox))
            collect_less()

    return ended


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
            collect_less()  # what the start has made stays, too
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
        self.tasks: list[asyncio.Task[None]] = []
        """What runs until the service stops."""
        self.notices: Notices | None = None
        self.delivery: DeliveryProcess | None = None
        self.upkeep: Upkeep | None = None
        self.batches: EmbeddedWorker | None = None
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
        recent = self._make_crawlers(metrics)
        self._make_pages(stores, metrics, recent)
        self._start_background(stores, metrics, recent)
        if self.worker:
            LoopingCall(metrics.publish).start(PUBLISHED_EVERY)
            with self.listening.of_its_own() as listening:  # the ports have copies
                self._listen(listening, metrics)
        else:
            self._listen(self.listening, metrics)
            show_banner(self.listening, self.config, await first_secrets(stores.keys, stores.ledger, stores.members))

    def _make_crawlers(self, metrics: Metrics) -> RecentCalls:
        """Make the warm crawlers; returns what remembers their last calls."""
        spiders = load_spiders(self.settings)
        any_site = {spider.name for spider in spiders if spider.any_site}
        recent = RecentCalls(any_site, sandbox_always=self.config.sandbox == "always")
        observers = (metrics.ended, recent.ended, _collect_less_after_first_calls())
        self.crawlers = WarmCrawlers(spiders, self.settings, self.config.max_calls, observers)
        metrics.collect_from(partial(call_metrics, self.crawlers))
        return recent

    def _make_pages(self, stores: SqlStores, metrics: Metrics, recent: RecentCalls) -> None:
        """Make all that answers: the API, the gateway and the dashboard."""
        self.admission = self._admission(stores)
        metrics.collect_from(partial(access_metrics, self.admission.snapshot, lambda: self.ephemeral.cache_bytes))
        self.health = self._health(stores, recent)
        self.stored_state = StoredState(stores.chunks, stores.deliveries)
        metrics.collect_from(self.stored_state.metrics)
        self.webhooks = self._webhooks(stores)
        self.parts = open_parts(self.config.batch_store)
        self.submissions = self._submissions(stores)
        self.proxy = self._proxy(metrics)
        self.api_calls = ApiCalls(self.admission, metrics.answered)
        key_pages = [*KEY_PAGES, *WebhookPages(self.webhooks).pages(), *self._batch_pages(stores)]
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
            dashboard=self._dashboard(stores),
        )

    def _start_background(self, stores: SqlStores, metrics: Metrics, recent: RecentCalls) -> None:
        """Start what runs beside the calls; most of it in the first of several workers alone."""
        self.tasks = [
            asyncio.ensure_future(repeat("credits of lost calls", partial(_settle_old, stores.ledger), SETTLED_EVERY)),
            asyncio.ensure_future(repeat("old sessions", self.sessions.forget_old, FORGOTTEN_EVERY)),
        ]
        is_first = self.worker is None or self.worker.number == 1
        self.notices = Notices(recent, stores.events, stores.deliveries)
        self.notices.start(hourly=is_first)
        if not is_first:
            return
        self.tasks.append(asyncio.ensure_future(self.stored_state.run()))
        self.delivery = self._delivery(metrics)
        self.delivery.start(stores.deliveries)
        self.upkeep = Upkeep(stores.calls, stores.history, self.config.calls_days)
        self.upkeep.start()
        batch_upkeep = BatchUpkeep(this_process(), stores, self.submissions, self.config.batch_days, self.parts)
        self.tasks.append(asyncio.ensure_future(batch_upkeep.run()))
        if self.config.worker:
            settings = partial(worker_settings, self.config)
            self.batches = EmbeddedWorker(settings, self.config.deadline, metrics.row_ended)
            self.batches.start(stores.chunks)

    def _admission(self, stores: SqlStores) -> Admission:
        return Admission(
            ApiKeys(stores.keys),
            RateLimits(self.ephemeral.limits, self.ephemeral.shared_limits),
            Cache(self.ephemeral.cache, self.config.cache_stale),
            Credits(stores.ledger),
            self.crawlers,
            self.config.deadline,
            sandbox_always=self.config.sandbox == "always",
            recorder=CallRecorder(stores.calls, _described),
        )

    def _health(self, stores: SqlStores, recent: RecentCalls) -> Health:
        return Health(
            self.crawlers,
            stores.keys,
            self.config.transports,
            recent,
            sandbox_always=self.config.sandbox == "always",
            warnings=lambda: (*stores.warnings(), *self.ephemeral.warnings()),
            folders=self.config.growing_folders,
            worker=self.worker,
        )

    def _webhooks(self, stores: SqlStores) -> Webhooks:
        config = self.config
        guard = Guard(Rule(frozenset(config.egress_ports), config.egress_allow), NameResolver())
        return Webhooks(stores.webhooks, WebhookUrls(guard, http=config.webhooks_http))

    def _batch_pages(self, stores: SqlStores) -> list[KeyPage]:
        schedules = SchedulePages(stores.schedules, self.submissions)
        batches = BatchPages(self.submissions, stores.batches, self._resources(), self._part_reader())
        return [*batches.pages(), *schedules.pages()]

    def _submissions(self, stores: SqlStores) -> Submissions:
        intake = Intake(self.config.intake_folder, {name: one.query for name, one in self._resources().items()})
        return Submissions(intake, stores.batches, stores.webhooks)

    def _resources(self) -> dict[str, Resource]:
        return {resource.name: resource for resource in self.crawlers.resources}

    def _part_reader(self) -> PartReader | None:
        """Reads the records of batches that are outside of the database."""
        return PartReader(self.parts) if self.parts else None

    def _delivery(self, metrics: Metrics) -> DeliveryProcess:
        config = self.config
        store = partial(attach_deliveries, config.database)
        settings = DeliverySettings(
            store, this_process, is_dead, config.egress_ports, config.egress_allow, config.webhooks_http
        )
        return DeliveryProcess(settings, metrics.webhook_attempted)

    def _proxy(self, metrics: Metrics) -> Proxy:
        config, admission = self.config, self.admission
        targets = Targets(config.gateway, config.gateway_secret, required=config.gateway_secret_required)
        return Proxy(targets, admission.api_keys, admission.rate_limits, admission.credits, metrics.passed_on)

    def _dashboard(self, stores: SqlStores) -> Dashboard:
        members, passwords = stores.members, Passwords()
        samples = Samples(self.config.samples) if self.config.samples else None
        sessions = self.sessions = Sessions(members)
        attempts = Attempts(self.admission.rate_limits, members)
        confirmation, address = Confirmation(passwords, attempts), self._address()
        return Dashboard(
            sessions,
            [
                SignInPages(members, sessions, passwords, attempts),
                InvitationPages(members, sessions, passwords),
                OverviewPages(stores.calls, stores.history, stores.keys),
                RequestsPages(stores.calls, stores.history, stores.keys, self.crawlers.engines, samples),
                UsagePages(stores.history, stores.keys),
                KeysPages(stores.keys, self._endpoints(), address),
                SettingsPages(stores.accounts, members, confirmation),
                MembersPages(members, address),
                SecurityPages(members, passwords, confirmation),
                WebhooksPages(self.webhooks),
                EnginesPages(self.health.snapshot),
                self._playground(stores, address),
                BatchesPages(stores.batches, self._resources(), self._part_reader()),
            ],
        )

    def _endpoints(self) -> dict[str, str]:
        """What keys can be limited to: the endpoints and the prefixes of the gateway, with a summary of each."""
        resources = sorted((resource.name, resource.summary) for resource in self.crawlers.resources)
        prefixes = ((route.prefix, f"passed on to /{route.prefix}") for route in self.config.gateway)
        return dict([*resources, *prefixes])

    def _address(self) -> ServiceAddress:
        certificate = self.listening.certificate
        made = certificate.cert_file if certificate and certificate.made else None
        return ServiceAddress(self.config.public_url, made)

    def _playground(self, stores: SqlStores, address: ServiceAddress) -> PlaygroundPages:
        crawlers = self.crawlers
        return PlaygroundPages(
            crawlers.resources,
            self.api_calls,
            crawlers.batch_arguments,
            stores.keys,
            stores.calls,
            address,
            sandbox_always=self.config.sandbox == "always",
        )

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
        batches = asyncio.ensure_future(self.batches.stop()) if self.batches else None
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
        for task in self.tasks:
            task.cancel()
        if self.notices:
            self.notices.stop()
        if self.upkeep:
            self.upkeep.stop()
        if self.delivery:
            await self.delivery.stop()
        if batches:
            await batches
        if self.stores:
            await self.stores.ledger.flush()
            self.stores.close()
        await self.sandbox.stop()

    async def _close_ports(self) -> None:
        while self.ports:
            await deferred_to_future(self.ports.pop().stopListening())


def _described(error: Exception, resource: Resource) -> tuple[str, str]:
    """The code of an error, and what its caller reads about it."""
    problem = problem_of(error, resource)
    return problem.code, problem.message


async def _settle_at_first(ledger: Ledger) -> None:
    """Release the credits that dead processes of this machine had reserved; raises ConfigError."""
    try:
        await _settle(ledger, is_dead)
    except DatabaseAwayError as error:
        raise ConfigError(f"the database does not answer ({error}): start again when it does") from error


async def _settle_old(ledger: Ledger) -> None:
    """Release the credits of calls that are older than LONGEST_CALL, whose machine may be gone."""
    await _settle(ledger, lambda _: False)


async def _settle(ledger: Ledger, dead: Callable[[str], bool]) -> None:
    """Release the credits of calls whose process has died."""
    lost = await ledger.settle(dead, datetime.now(UTC) - LONGEST_CALL)
    if lost:
        logger.warning("credits of %d calls were given back: their process had died", lost)
