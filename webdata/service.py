"""The service put together: the composition root of what runs.

It takes whatever reactor is installed when it is imported: install the asyncio reactor before this module.
"""

import asyncio
import logging
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from socket import socket
from typing import Any

from scrapy.settings import Settings
from scrapy.utils.defer import deferred_to_future
from twisted.internet import reactor as installed_reactor

from webdata.accounts.access.admission import Admission
from webdata.accounts.access.answer_archive import AnswerArchive
from webdata.accounts.access.api_keys import MANAGE_WEBHOOKS, ApiKeys
from webdata.accounts.access.cache import Cache
from webdata.accounts.access.call_log import CallRecorder
from webdata.accounts.access.credits import Credits
from webdata.accounts.access.files import Files
from webdata.accounts.access.invitations import first_secrets
from webdata.accounts.access.rate_limits import RateLimits
from webdata.accounts.access.upkeep import Upkeep, settle_at_first, settle_old
from webdata.accounts.access.upstream_budgets import UpstreamBudgets
from webdata.accounts.webhooks.notices import Notices
from webdata.accounts.webhooks.urls import WebhookUrls
from webdata.accounts.webhooks.webhooks import Webhooks
from webdata.batches.intake import Intake
from webdata.batches.parts import PartReader, RecordMover
from webdata.batches.submissions import Submissions
from webdata.batches.upkeep import BatchUpkeep
from webdata.config.config import Config
from webdata.crawling.samples import Samples
from webdata.crawling.warm_crawlers import Call, Observer, WarmCrawlers, load_spiders, scrapy_settings
from webdata.faces.api.account import AccountPages
from webdata.faces.api.answers import AnswerPages
from webdata.faces.api.app import Api
from webdata.faces.api.batches import BatchPages
from webdata.faces.api.calls import ApiCalls
from webdata.faces.api.docs_page import documentation
from webdata.faces.api.doors import Door
from webdata.faces.api.files import file_page
from webdata.faces.api.health import Health
from webdata.faces.api.key_pages import KeyPage
from webdata.faces.api.metrics import metrics_page
from webdata.faces.api.problems import code_and_message
from webdata.faces.api.refusals import RefusalReplies
from webdata.faces.api.schedules import SchedulePages
from webdata.faces.api.webhooks import WebhookPages
from webdata.faces.dashboard.address import ServiceAddress
from webdata.faces.dashboard.app import Dashboard
from webdata.faces.dashboard.attempts import Attempts
from webdata.faces.dashboard.batch_form import BatchFormPages
from webdata.faces.dashboard.batches import BatchesPages
from webdata.faces.dashboard.confirmation import Confirmation
from webdata.faces.dashboard.engines import EnginesPages
from webdata.faces.dashboard.invitations import InvitationPages
from webdata.faces.dashboard.keys import KeysPages
from webdata.faces.dashboard.members import MembersPages
from webdata.faces.dashboard.overview import OverviewPages
from webdata.faces.dashboard.passwords import Passwords
from webdata.faces.dashboard.playground.pages import PlaygroundPages
from webdata.faces.dashboard.requests import RequestsPages
from webdata.faces.dashboard.security import SecurityPages
from webdata.faces.dashboard.sessions import FORGOTTEN_EVERY, Sessions
from webdata.faces.dashboard.settings import SettingsPages
from webdata.faces.dashboard.sign_in import SignInPages
from webdata.faces.dashboard.usage import UsagePages
from webdata.faces.dashboard.webhooks import WebhooksPages
from webdata.faces.dialects.calls import DialectCalls
from webdata.faces.dialects.firecrawl import Firecrawl
from webdata.faces.dialects.firecrawl_batches import FirecrawlBatches
from webdata.faces.dialects.openwebui import OpenWebui
from webdata.faces.dialects.pages import PAGES
from webdata.faces.dialects.reader import Reader
from webdata.faces.dialects.searxng import Searxng
from webdata.faces.dialects.serper import Serper
from webdata.faces.gateway.proxy import GatewayProxy
from webdata.faces.gateway.targets import Targets
from webdata.faces.mcp.batch_tools import BatchTools
from webdata.faces.mcp.door import McpDoor
from webdata.fetching.egress.names import NameResolver
from webdata.fetching.egress.reactor_names import ReactorNames
from webdata.observability.logs import log_to_standard_error
from webdata.observability.metrics import Metrics, access_metrics, call_metrics
from webdata.observability.recent_calls import RecentCalls
from webdata.observability.stored_state import StoredState
from webdata.runtime.process.memory import collect_less, tune_heap
from webdata.runtime.process.names import this_process
from webdata.runtime.process.on_demand import OnDemandProcess
from webdata.runtime.process.repeat import repeat, running
from webdata.runtime.process.temporary_files import own_temporary_files
from webdata.runtime.process.workers import TICK, Worker
from webdata.runtime.server.banner import banner, show
from webdata.runtime.server.connections import Connections
from webdata.runtime.server.listening import Listening, room_for
from webdata.runtime.server.plain_http import RedirectSite, own_hosts, secured
from webdata.runtime.server.tls import ServerTLS
from webdata.sandbox.server import Sandbox
from webdata.stores.batches.parts import open_parts
from webdata.stores.ephemeral.ephemeral import CALL_ENDS_WITHIN, EphemeralStores
from webdata.stores.sql_stores import SqlStores
from webdata.watch.canaries import canaries_of
from webdata.watch.filled_fields import FilledFields
from webdata.watch.rounds import CanaryRounds
from webdata.watch.watched import Watched

logger = logging.getLogger(__name__)
SETTLED_EVERY = 60.0
"""Seconds between two checks for credits that a process which died had reserved."""
ORPHANS_STOP_WITHIN = 0.4
"""Seconds for a worker to finish what it can, when its supervisor has died."""
ORPHANS_END_WITHIN = 0.9
"""Seconds after which one that hangs is ended."""
DELIVERER = "webdata.deliverer"
BATCH_WORKER = "webdata.worker"
"""Programs that the service starts, and does not import: one needs libraries that few services do."""
ATTEMPTS_END_WITHIN = 5.0
"""Seconds for deliveries in flight when the service stops; those that take longer are repeated later."""
STORED_READ_EVERY = 10.0
"""Seconds between two times that the database is asked for what metrics tell of it: to read them never waits for it."""
PUBLISHED_EVERY = 5.0
"""Seconds between two times that a worker publishes its state for the metrics of all."""
reactor: Any = installed_reactor  # its type is an interface, which mypy cannot call


def run(config: Config, listening: Listening, worker: Worker | None = None) -> None:
    """Serve until SIGINT or SIGTERM, a `worker` also until its supervisor dies; raises ConfigError at the start."""
    log_to_standard_error(worker.number if worker else None)
    main = _Main(Service(config, listening, scrapy_settings(), worker))
    collect_less()
    tune_heap()
    reactor.installNameResolver(ReactorNames(NameResolver(search=True)))
    reactor.callWhenRunning(main.start)
    own_temporary_files()
    reactor.run(installSignalHandlers=False)
    if main.failure:
        raise main.failure


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
        if self.worker and self.worker.orphaned and not signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, ORPHANS_END_WITHIN)
        if not self.stopping:
            self.stopping = asyncio.ensure_future(self._stop())
        elif not self.worker:
            reactor.stop()

    async def _stop(self) -> None:
        within = ORPHANS_STOP_WITHIN if self.worker and self.worker.orphaned else None
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await asyncio.shield(self.service.stop())  # cancelled, it would close the rest before it ends
        finally:
            reactor.stop()


class Service:
    """Sandbox, warm crawlers, keys and API, started and stopped together."""

    def __init__(self, config: Config, listening: Listening, settings: Settings, worker: Worker | None):
        self.config = config
        self.listening = listening
        self.settings = settings
        self.worker = worker
        self.opened = AsyncExitStack()
        """Closes what was opened, the last first."""
        self.batches: OnDemandProcess | None = None
        self.sandbox = Sandbox(config.sandbox_replay)
        self.ports: list[Any] = []
        self.connections = Connections(room_for(config.max_connections))
        self.ephemeral = EphemeralStores(config.redis, config.cache_bytes, config.deadline + CALL_ENDS_WITHIN)
        is_found_again = worker is None or self.ephemeral.files.shared  # by whichever worker is asked
        self.files = Files(self.ephemeral.files) if is_found_again else None

    async def start(self) -> None:
        """Start everything and listen. Raises ConfigError for a setting that cannot be used."""
        self.opened.push_async_callback(self.sandbox.stop)
        stores = self.opened.enter_context(SqlStores(self.config.database, ledger_process=True))
        self.opened.push_async_callback(stores.ledger.flush)
        await settle_at_first(stores.ledger)
        self.opened.push_async_callback(self.ephemeral.close)
        await self.ephemeral.open()
        self.settings.set("SANDBOX_URL", self.config.sandbox_url or await self.sandbox.start(), priority="cmdline")
        metrics = Metrics(self.worker.number if self.worker else None)
        self._make_crawlers(stores, metrics)
        self._make_pages(stores, metrics)
        await self._start_background(stores, metrics)
        if self.worker:
            with self.listening.of_its_own() as listening:  # the ports have copies
                self._listen(listening, metrics)
        else:
            first = await first_secrets(stores.keys, stores.ledger, stores.members)
            text = banner(self.listening, self.config, first)
            self._listen(self.listening, metrics)
            show(text)

    def _make_crawlers(self, stores: SqlStores, metrics: Metrics) -> None:
        """Make the warm crawlers, and what observes their calls."""
        spiders = load_spiders(self.settings)
        any_site = {spider.name for spider in spiders if spider.any_site}
        self.recent = RecentCalls(any_site, sandbox_always=self.config.sandbox == "always")
        """How the last calls ended, for health, notices and the dashboard."""
        filled = FilledFields()
        metrics.collect_from(filled.metrics)
        observers = (metrics.ended, self.recent.ended, filled.ended, _collect_less_after_first_calls())
        self.canaries = canaries_of(spiders, self.config.given_canaries)
        self.budgets = UpstreamBudgets(self.config.upstreams, stores.upstream_requests)
        self.crawlers = WarmCrawlers(spiders, self.settings, self.config.max_calls, observers, self.budgets.reserve)
        self.config.slots_of(self.crawlers.engines)  # the process that runs batches starts too late for a mistake
        self.resources = {resource.name: resource for resource in self.crawlers.resources}
        metrics.collect_from(partial(call_metrics, self.crawlers))

    def _make_pages(self, stores: SqlStores, metrics: Metrics) -> None:
        """Make all that answers: the API, the gateway and the dashboard."""
        self.admission = self._admission(stores)
        metrics.collect_from(partial(access_metrics, self.admission.snapshot, lambda: self.ephemeral.cache_bytes))
        self.watched = Watched(stores.watch)
        metrics.collect_from(self.watched.metrics)
        self.health = self._health(stores)
        self.stored_state = StoredState(stores.chunks, stores.deliveries)
        metrics.collect_from(self.stored_state.metrics)
        self.webhooks = self._webhooks(stores)
        self.parts = open_parts(self.config.batch_store)
        self.part_reader = PartReader(self.parts) if self.parts else None
        self.submissions = self._submissions(stores)
        self.proxy = self._proxy(metrics)
        self.api_calls = ApiCalls(self.admission, metrics.answered)
        self.mcp = self._mcp(stores) if self.config.mcp else None
        doors = [*([self.mcp.door()] if self.mcp else []), *self._dialects(stores)]
        key_pages = [
            *AccountPages(stores.batches.stored).pages(),
            *WebhookPages(self.webhooks).pages(),
            *self._batch_pages(stores),
            *([file_page(self.files)] if self.files else []),
            *AnswerPages(stores.answers).pages(),
        ]
        pages = [*self.health.pages(), *([metrics_page(metrics)] if self.config.metrics else [])]
        self.api = Api(
            self.crawlers.resources,
            self.admission,
            pages=[*pages, *documentation(self.crawlers.resources, pages, key_pages, doors)],
            observer=metrics.answered,
            connections=self.connections,
            key_pages=key_pages,
            proxy=self.proxy,
            cors_origins=self.config.cors_origins,
            dashboard=self._dashboard(stores, [prefix for door in doors for prefix in door.prefixes]),
            doors=doors,
        )

    async def _start_background(self, stores: SqlStores, metrics: Metrics) -> None:
        """Start what runs beside the calls; most of it in the first of several workers alone."""

        async def publish() -> None:
            metrics.publish()

        is_first = self.worker is None or self.worker.number == 1
        if is_first:
            delivery = self._delivery(stores, metrics)
            self.opened.push_async_callback(self._stop_child, delivery)
            delivery.start()
            if self.config.worker:
                self.batches = self._batch_worker(stores, metrics)
                self.batches.start()
        works = [
            repeat("credits of lost calls", partial(settle_old, stores.ledger), SETTLED_EVERY),
            repeat("old sessions", self.sessions.forget_old, FORGOTTEN_EVERY),
            Notices(self.recent, stores.events, stores.deliveries).run(hourly=is_first),
        ]
        if self.worker:
            works.append(repeat("metrics of a worker", publish, PUBLISHED_EVERY))
        if self.config.canaries != "off":
            works.append(repeat("drifts of engines", self.watched.read, STORED_READ_EVERY))
        if self.config.canaries != "off" and is_first:
            rounds = self._canary_rounds(stores)
            works.append(repeat("canaries", rounds.run_due, rounds.looked_every))
        if is_first:
            works += [
                repeat("metrics of batches and webhooks", self.stored_state.read, STORED_READ_EVERY),
                Upkeep(stores.calls, stores.history, stores.answers, self.config.calls_days).run(),
                self._batch_upkeep(stores).run(),
            ]
        await self.opened.enter_async_context(running(*works))

    def _batch_upkeep(self, stores: SqlStores) -> BatchUpkeep:
        return BatchUpkeep(
            this_process(),
            stores.batches,
            stores.chunks,
            stores.schedules,
            self.submissions,
            self.config.batch_days,
            RecordMover(stores.batches, stores.moves, self.parts) if self.parts else None,
        )

    def _canary_rounds(self, stores: SqlStores) -> CanaryRounds:
        config = self.config
        return CanaryRounds(
            self.canaries,
            self.crawlers,
            stores.watch,
            Samples(config.samples) if config.samples else None,
            sandbox=config.canaries == "sandbox" or config.sandbox == "always",
            seconds=config.given_canaries.seconds,
            deadline=config.deadline,
        )

    def _admission(self, stores: SqlStores) -> Admission:
        return Admission(
            ApiKeys(stores.keys),
            RateLimits(self.ephemeral.limits, self.ephemeral.shared_limits),
            Cache(self.ephemeral.cache, self.config.cache_stale, files=self.files),
            Credits(stores.ledger),
            self.crawlers,
            self.config.deadline,
            sandbox_always=self.config.sandbox == "always",
            recorder=CallRecorder(stores.calls, code_and_message),
            archive=AnswerArchive(stores.answers),
        )

    def _health(self, stores: SqlStores) -> Health:
        return Health(
            self.crawlers,
            stores.check,
            self.config.transports,
            self.recent,
            sandbox_always=self.config.sandbox == "always",
            warnings=lambda: (
                *stores.warnings(),
                *self.ephemeral.warnings(),
                *self.budgets.warnings(),
                *self.watched.warnings(),
            ),
            folders=self.config.growing_folders,
            worker=self.worker,
        )

    def _webhooks(self, stores: SqlStores) -> Webhooks:
        config = self.config
        urls = WebhookUrls.guarded(config.egress_ports, config.egress_allow, http=config.webhooks_http)
        return Webhooks(stores.webhooks, urls)

    def _batch_pages(self, stores: SqlStores) -> list[KeyPage]:
        schedules = SchedulePages(stores.schedules, self.submissions)
        batches = BatchPages(self.submissions, stores.batches, self.resources, self.part_reader)
        return [*batches.pages(), *schedules.pages()]

    def _submissions(self, stores: SqlStores) -> Submissions:
        intake = Intake(self.config.intake_folder, {name: one.query for name, one in self.resources.items()})
        return Submissions(intake, stores.batches, stores.webhooks, self.config.batch_folders)

    def _delivery(self, stores: SqlStores, metrics: Metrics) -> OnDemandProcess:
        return OnDemandProcess(
            "the process that delivers webhooks",
            DELIVERER,
            lambda: self.config,
            lambda: stores.deliveries.is_due(datetime.now(UTC)),
            ATTEMPTS_END_WITHIN,
            metrics.webhook_attempted,
        )

    def _batch_worker(self, stores: SqlStores, metrics: Metrics) -> OnDemandProcess:
        """In a process of its own, so that calls do not wait for the parsing of a batch's pages."""

        async def are_batches() -> object:
            return await stores.chunks.resume_paid() or await stores.chunks.active()

        return OnDemandProcess(
            "the process that runs batches",
            BATCH_WORKER,
            lambda: self.config,
            are_batches,
            self.config.deadline,
            metrics.row_ended,
        )

    def _dialects(self, stores: SqlStores) -> list[Door]:
        calls = DialectCalls(self.api_calls, self.crawlers.resources)
        known = [Searxng(calls, self.crawlers.engines_of).door(), Serper(calls).door()]
        if PAGES in calls.resources:
            known += self._page_dialects(stores, calls)
        return [door for door in known if door.prefixes[0] in self.config.dialects]

    def _page_dialects(self, stores: SqlStores, calls: DialectCalls) -> list[Door]:
        batches = FirecrawlBatches(
            self.submissions,
            stores.batches,
            calls.resources[PAGES],
            self.part_reader,
            days=self.config.batch_days,
            public_url=self.config.public_url,
        )
        return [
            OpenWebui(calls).door(),
            Reader(calls).door(),
            Firecrawl(calls, batches.routes()).door(),
        ]

    def _proxy(self, metrics: Metrics) -> GatewayProxy:
        config, admission = self.config, self.admission
        targets = Targets(config.gateway, config.gateway_secret, required=config.gateway_secret_required)
        return GatewayProxy(targets, admission.api_keys, admission.rate_limits, admission.credits, metrics.passed_on)

    def _mcp(self, stores: SqlStores) -> McpDoor:
        origins = {*self.config.cors_origins, *self.config.urls}
        batches = BatchTools(self.submissions, stores.batches, self.part_reader)
        return McpDoor(self.crawlers.resources, self.admission, self.api_calls, origins, batches)

    def _dashboard(self, stores: SqlStores, prefixes: Sequence[str]) -> Dashboard:
        members, passwords = stores.members, Passwords()
        samples = Samples(self.config.samples) if self.config.samples else None
        sessions = self.sessions = Sessions(members, plain=self.config.answers_plain)
        attempts = Attempts(self.admission.rate_limits, members)
        confirmation, address = Confirmation(passwords, attempts), self._address()
        return Dashboard(
            sessions,
            [
                SignInPages(members, sessions, passwords, attempts),
                InvitationPages(members, sessions, passwords),
                OverviewPages(stores.calls, stores.history, stores.keys, stores.batches, address, prefixes),
                RequestsPages(
                    stores.calls, stores.history, stores.keys, self.crawlers.engines, sorted(self.resources), samples
                ),
                UsagePages(stores.history, stores.keys),
                KeysPages(stores.keys, self._endpoints(), address, prefixes, self.crawlers.engines),
                SettingsPages(stores.accounts, members, confirmation),
                MembersPages(members, confirmation, address),
                SecurityPages(members, passwords, confirmation),
                WebhooksPages(self.webhooks),
                EnginesPages(self.health.snapshot, self.recent.rates, self.budgets.rows, self.watched.rows),
                self._playground(stores, address),
                BatchesPages(stores.batches, stores.schedules, self.resources, self.part_reader),
                BatchFormPages(self.submissions, stores.keys, self.resources),
            ],
        )

    def _endpoints(self) -> dict[str, str]:
        """What keys can be limited to: endpoints, prefixes of the gateway and webhooks, with a summary of each."""
        resources = sorted((resource.name, resource.summary) for resource in self.crawlers.resources)
        prefixes = ((route.prefix, f"passed on to /{route.prefix}") for route in self.config.gateway)
        return dict([*resources, *prefixes, (MANAGE_WEBHOOKS, "make, read and change webhooks; live keys alone")])

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
            crawlers.engines_of,
            sandbox_always=self.config.sandbox == "always",
        )

    def _listen(self, listening: Listening, metrics: Metrics) -> None:
        config, certificate = self.config, listening.certificate
        site = self.api.site(config.sent_hsts, own_hosts(certificate) if config.answers_plain else None)
        self.opened.push_async_callback(self._finish_calls)
        self._serve(listening.api, secured(site, ServerTLS(config)) if certificate else site)
        if listening.plain:
            self._serve(listening.plain, site if config.answers_plain else self._redirect(listening, metrics))

    def _redirect(self, listening: Listening, metrics: Metrics) -> RedirectSite:
        port = None if self.config.public_url else listening.port
        refuse_keys, key_sent = self.config.http_keys == "refuse", partial(metrics.answered, "plain_http")
        return RedirectSite(listening.url, port, self.connections, RefusalReplies(), refuse_keys, key_sent)

    def _serve(self, listening: socket, factory: Any) -> None:
        self.ports.append(reactor.adoptStreamPort(listening.fileno(), listening.family, factory))

    async def stop(self) -> None:
        """Refuse new calls by 503 while those in flight finish, and rows of batches too, then close everything."""
        await asyncio.gather(self._stop_child(self.batches), self.opened.aclose())

    async def _stop_child(self, child: OnDemandProcess | None) -> None:
        if child and not self._orphaned:  # else it ends with this process
            await child.stop()

    @property
    def _orphaned(self) -> bool:
        return self.worker is not None and self.worker.orphaned

    async def _finish_calls(self) -> None:
        logger.info("stopping: no new calls are taken, those in flight are finished")
        self.health.stop()
        if self._orphaned:
            await self._close_ports()  # for another start, which may come at once
        await self.api.drain(self.config.deadline)
        await self._close_ports()
        if self.mcp:
            await self.mcp.close()
        await self.proxy.close()
        await self.crawlers.close(self.config.deadline)
        await self.admission.close(self.config.deadline)

    async def _close_ports(self) -> None:
        while self.ports:
            await deferred_to_future(self.ports.pop().stopListening())
