"""The only place where the service meets Scrapy: warm crawlers, one per engine, that answer calls."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import monotonic
from typing import Any

import orjson
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.settings import Settings

from webdata.crawling.engine import EngineSpider
from webdata.crawling.engine_choice import able_engines, ordered_engines
from webdata.crawling.engine_loader import EngineLoader
from webdata.domain.attempts import Attempt, Transport
from webdata.domain.errors import (
    BlockedError,
    FetchError,
    LayoutError,
    OutOfCreditsError,
    OverloadedError,
    PassedOverError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.downloadermiddlewares.blocked import captcha_hook
from webdata.fetching.circuit_breaker import CircuitBreaker
from webdata.fetching.fetch import Fetch
from webdata.fetching.fetch_resources import FetchResources
from webdata.fetching.recording import FetchedPage, fetched_page
from webdata.fetching.retry_policy import first_answer
from webdata.fetching.transports.browser.process import Browser
from webdata.pipelines.envelope import envelope
from webdata.pipelines.validate import validate
from webdata.resources import Resource
from webdata.runtime.process.shares import CallShare, FairQueue

NEXT_ENGINE_AFTER = (BlockedError, LayoutError, UpstreamError)
"""Losses after which the resource's next engine is requested. That a thing does not exist, or that nothing was found,
is an answer."""


@dataclass(frozen=True)
class Call:
    """One on-demand run of a query."""

    resource: Resource
    query: Query
    sandbox: bool
    deadline: float
    """Seconds until the caller gets a reply, with a page or without."""
    account: str = ""
    """The id of the caller's account, which its sessions belong to."""
    share: CallShare | None = field(default=None, compare=False)
    """What it may hold of what all calls have in common."""
    reprice: Callable[[int], Awaitable[None]] | None = field(default=None, compare=False)
    """Reserves what an engine costs before it is asked; raises OutOfCreditsError. None where it is paid for later."""
    engine: str = ""
    """The only engine that is asked; empty: all of the resource, in their order."""
    seen: Callable[[Response], None] | None = field(default=None, compare=False)
    """Is given each page before it is parsed."""
    with_page: bool = field(default=False, compare=False)
    """Whether its answer has the page that it was parsed from."""


@dataclass(frozen=True)
class Answer:
    """A record and how it was obtained.

    `timings` are seconds by phase: `queue`, `fetch` (with the time of engines that were requested in vain), `render`
    (in the browser, where it was used), `parse`, `validate`. `transport` is that of the attempt that fetched the page.
    """

    record: Record
    outcome: Outcome
    transport: Transport
    timings: dict[str, float]
    attempts: Sequence[Attempt] = ()
    """The attempts of all fetches, in the order in which they ended."""
    engine: str = ""
    """The name of the engine that answered."""
    region_mode: str | None = None
    """`proxy` or `parameters`: how the site was given the requested region; None without one."""
    partial: str | None = None
    """Which source the record lacks something for, such as `atom`; None where it is whole."""
    missing_parts: tuple[str, ...] = ()
    """The parts of the record that its engine cannot know."""
    price: int = 1
    """The credits that it costs by its engine."""
    page: FetchedPage | None = field(default=None, compare=False, repr=False)
    """The page that it was parsed from, where its call is one `with_page`; None for one that is a secret."""

    @cached_property
    def json(self) -> bytes:
        """The record as JSON, made once for all who send or cache it."""
        return orjson.dumps(self.record)


@dataclass(frozen=True)
class EngineBudget:
    """An engine's part of a call, in seconds of the monotonic clock."""

    engine: str
    """The name of the engine."""
    call_began: float
    began: float
    """When this engine's part began."""
    deadline: float
    """How long after the call's beginning this engine may take (`first_answer`)."""
    attempts: list[Attempt] = field(default_factory=list)
    """The attempts so far, in the order in which they ended."""


def attempts_of(budgets: Iterable[EngineBudget]) -> list[Attempt]:
    """The attempts of all engines of a call, in the order in which they ended."""
    return [attempt for budget in budgets for attempt in budget.attempts]


Observer = Callable[[str, Call, EngineBudget, Answer | Exception], None]
"""Called when an engine's part of a call has ended: with its name, and its answer or why there is none."""


LOG_COUNT = "scrapy.extensions.logcount.LogCount"
"""Counts the lines of the whole process, once for each crawler: measured, 6 us a line and crawler."""


def scrapy_settings() -> Settings:
    """The project's Scrapy settings."""
    settings = Settings()
    settings.setmodule("webdata.settings", priority="project")
    return settings


def load_spiders(settings: Settings | None = None) -> list[type[EngineSpider]]:
    """Every engine that can be asked, in the order of their names; raises ConfigError for an upstream's setting."""
    loader = EngineLoader.from_settings(settings or scrapy_settings())
    spiders = [loader.load(name) for name in sorted(loader.list())]
    return [spider for spider in spiders if issubclass(spider, EngineSpider)]


def known_spiders() -> list[type[EngineSpider]]:
    """Every engine that is found, with the kinds of upstreams, whether they are set up or not."""
    settings = scrapy_settings()
    settings.set("UPSTREAMS", None, priority="cmdline")
    return load_spiders(settings)


def own_settings(settings: Settings, sandbox: bool, max_calls: int) -> Settings:
    """The settings of the warm crawlers that talk to the sandbox, or to the internet.

    A site gets as many requests at once as there may be calls: none waits for another site's slow answer.
    """
    own = settings.copy()
    own.set("EXTENSIONS", {**own.getdict("EXTENSIONS"), LOG_COUNT: None}, priority="cmdline")
    at_once = {"CONCURRENT_REQUESTS": max_calls, "CONCURRENT_REQUESTS_PER_DOMAIN": max_calls}
    own.setdict({"ON_DEMAND": True, "SANDBOX": sandbox, **at_once}, priority="cmdline")
    return own


class WarmCrawlers:
    """Answers calls with crawlers that are opened on first use and stay open.

    So connections, TLS sessions and cookies stay warm, and a call costs no crawler start. Calls that go to the sandbox
    have crawlers of their own: nothing of theirs mixes with the internet's.

    `reserve` counts the request that an engine of this name is about to send to the internet, and raises
    PassedOverError where it may not be asked.

    A resource's engines are requested in the order of their rank, each when those before it fetched no page. One whose
    upstream wants no more requests for a while is left out for so long; one that cannot honour the query is passed
    over.
    """

    def __init__(
        self,
        spiders: Iterable[type[EngineSpider]],
        settings: Settings,
        max_calls: int,
        observers: Iterable[Observer] = (),
        reserve: Callable[[str], Awaitable[None]] | None = None,
    ):
        self._engines: defaultdict[str, list[type[EngineSpider]]] = defaultdict(list)
        self._resources: dict[str, Resource] = {}
        for spider in sorted(spiders, key=lambda spider: (spider.rank, spider.name)):
            for resource in spider.resources:
                self._engines[resource.name].append(spider)
                self._resources[resource.name] = resource
        for resource, names in settings.getdict("ENGINE_ORDERS").items():
            self._engines[resource] = ordered_engines(resource, names, self._engines)
        captcha_hook(settings["CAPTCHA_HOOK"])  # crawlers open at their first call, too late for a mistake
        self._settings = {sandbox: own_settings(settings, sandbox, max_calls) for sandbox in (False, True)}
        self.fetch_resources = {
            sandbox: FetchResources.from_settings(own, Browser.from_settings(own))
            for sandbox, own in self._settings.items()
        }
        self._breakers: defaultdict[tuple[str, bool], CircuitBreaker] = defaultdict(CircuitBreaker)
        self._max_calls = max_calls
        self._observers = tuple(observers)
        self._reserved = reserve
        self._opened: dict[tuple[str, bool], asyncio.Task[WarmCrawler]] = {}
        self._running: set[asyncio.Task[Answer]] = set()

    @property
    def resources(self) -> list[Resource]:
        """The resources that have an engine."""
        return list(self._resources.values())

    @property
    def engines_of(self) -> dict[str, list[str]]:
        """The engines that are requested, in their order, by the name of the resource."""
        return {name: [spider.name for spider in spiders] for name, spiders in self._engines.items()}

    @property
    def first_engines(self) -> dict[str, str]:
        """The engine that is requested first, by the name of the resource."""
        return {name: spiders[0].name for name, spiders in self._engines.items()}

    @property
    def in_flight(self) -> int:
        """How many calls run now, those included whose caller has a reply already."""
        return len(self._running)

    @property
    def engines(self) -> list[str]:
        """The names of all engines, in their order."""
        return sorted({spider.name for spiders in self._engines.values() for spider in spiders})

    def batch_arguments(self, resource: Resource) -> list[str]:
        """The first arguments of `scrapy crawl` for a resource, with its first engine."""
        return self._engines[resource.name][0].batch_arguments(resource)

    def snapshot(self) -> dict[str, Any]:
        """How many calls run and how many may, for health and metrics."""
        return {"in_flight": self.in_flight, "limit": self._max_calls}

    def seconds_open(self, resource: str, sandbox: bool) -> float:
        """For how long every engine of a resource is to be left alone; 0 where one is not."""
        engines = self._engines.get(resource, ())
        return min((self._breakers[one.name, sandbox].seconds_open for one in engines), default=0.0)

    async def answer(self, call: Call) -> Answer:
        """Run the call. Raises FetchError, OverloadedError, and RecordError for a fault of ours.

        At its deadline a call ends for its caller, but it is never cancelled: its download ends by itself.
        """
        if self.in_flight >= self._max_calls:
            raise OverloadedError(
                f"{self._max_calls} calls are in flight, which is all there is room for", retry_after=1
            )
        began, budgets = monotonic(), list[EngineBudget]()
        engines = first_answer(
            able_engines(call.query, call.resource, self._asked(call)),
            lambda spider: self._breakers[spider.name, call.sandbox],
            partial(self._run_on, call, began, budgets),
            call.deadline,
            NEXT_ENGINE_AFTER,
        )
        task = asyncio.create_task(engines)
        self._running.add(task)
        task.add_done_callback(self._forget)
        done, _ = await asyncio.wait({task}, timeout=call.deadline)
        try:
            if not done:
                raise UpstreamTimeoutError(f"no answer within {call.deadline:g} seconds", "timeout")
            answer = task.result()
            return answer if len(budgets) == 1 else replace(answer, attempts=attempts_of(budgets))
        except FetchError as error:
            if isinstance(error.__cause__, OutOfCreditsError):
                raise error.__cause__ from None
            error.attempts = attempts_of(budgets)
            error.seconds = monotonic() - began
            region = getattr(call.query, "region", None)
            error.region_mode = region and self.fetch_resources[call.sandbox].proxies.region_mode(region)
            raise

    def _asked(self, call: Call) -> list[type[EngineSpider]]:
        engines = self._engines[call.resource.name]
        return [one for one in engines if one.name == call.engine] if call.engine else engines

    async def close(self, seconds: float) -> None:
        """Let running calls finish for up to so many seconds, then close every crawler."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        for opened in list(self._opened.values()):  # a call that goes on may open others
            with contextlib.suppress(Exception):  # one that never opened has nothing to close
                await (await opened).close()
        self._opened.clear()
        for resources in self.fetch_resources.values():
            await resources.close()

    def _forget(self, task: "asyncio.Task[Answer]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # read, or asyncio complains about those whose caller is gone

    async def _run_on(
        self, call: Call, began: float, budgets: list[EngineBudget], spider: type[EngineSpider], seconds: float
    ) -> Answer:
        """The answer of one engine, within so many seconds."""
        await self._reserve(call, spider)
        now = monotonic()
        budget = EngineBudget(spider.name, began, now, now - began + seconds)
        budgets.append(budget)
        try:
            crawler = await self._warm(spider, call.sandbox)
            answer = await crawler.run(call, budget)
        except Exception as error:
            if isinstance(error, NEXT_ENGINE_AFTER):
                self._breakers[spider.name, call.sandbox].open_for(error.retry_after)
            self._observe(spider.name, call, budget, error)
            raise
        for lost in budgets[:-1]:  # what another engine answers was no fault of the query, nor of our network
            self._breakers[lost.engine, call.sandbox].lose()
        self._observe(spider.name, call, budget, answer)
        return answer

    async def _reserve(self, call: Call, spider: type[EngineSpider]) -> None:
        """Reserve the price of an engine, then its request of the day.

        Raises PassedOverError where it may not be asked; one whose day is used up has an open circuit until the next.
        """
        try:
            if call.reprice:
                await call.reprice(spider.price)
            if self._reserved and not call.sandbox:
                await self._reserved(spider.name)
        except OutOfCreditsError as error:
            raise PassedOverError("its price is more than the account has", "price") from error
        except PassedOverError as error:
            self._breakers[spider.name, call.sandbox].open_for(error.retry_after)
            raise

    def _observe(self, engine: str, call: Call, budget: EngineBudget, end: Answer | Exception) -> None:
        for observer in self._observers:
            observer(engine, call, budget, end)

    async def _warm(self, spider: type[EngineSpider], sandbox: bool) -> "WarmCrawler":
        key = (spider.name, sandbox)
        if key not in self._opened:
            opening = WarmCrawler.open(spider, self._settings[sandbox].copy(), self.fetch_resources[sandbox])
            self._opened[key] = asyncio.create_task(opening)
        opened = self._opened[key]
        try:
            return await opened
        except Exception:
            if self._opened.get(key) is opened:  # else another call has tried anew already
                del self._opened[key]
            raise


class WarmCrawler:
    """A crawler that stays open while it is idle."""

    def __init__(self, crawler: Crawler):
        self._crawler = crawler
        self._queue = FairQueue()
        self._ended: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, spider: type[EngineSpider], settings: Settings, resources: FetchResources) -> "WarmCrawler":
        """Start a crawler and wait until it takes requests."""
        crawler = Crawler(spider, settings)
        crawler.fetch_resources = resources  # type: ignore[attr-defined]  # ours
        warm = cls(crawler)
        await warm._start()
        return warm

    async def _start(self) -> None:
        opened = asyncio.Event()

        def spider_opened() -> None:
            opened.set()

        self._crawler.signals.connect(spider_opened, signals.spider_opened)
        self._crawler.signals.connect(self._stay_open, signals.spider_idle)
        self._ended = asyncio.create_task(self._crawler.crawl_async())
        waiting = asyncio.create_task(opened.wait())
        await asyncio.wait({self._ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.is_set():
            waiting.cancel()
            self._ended.result()  # raises the error that prevented it
            raise RuntimeError(f"{self._crawler.spidercls.name} closed before it opened")

    def _stay_open(self) -> None:
        raise DontCloseSpider

    async def close(self) -> None:
        """Stop the crawler and wait until everything of it is closed."""
        await self._crawler.stop_async()
        if self._ended:
            await self._ended

    async def run(self, call: Call, budget: EngineBudget) -> Answer:
        """Fetch, parse and validate; raises FetchError, and RecordError for a fault of ours."""
        spider = self._crawler.spider
        assert isinstance(spider, EngineSpider)
        account = call.share.account if call.share else ""
        await self._queue.wait(account)
        if call.share:
            call.share.check_caller()
        run = spider.query_run(call.query, call.account)
        run.started_at, run.deadline, run.attempts = budget.call_began, budget.deadline, budget.attempts
        run.share, run.seen = call.share, call.seen
        request = spider.prepared(call.query, run)
        ready = monotonic()
        response = await spider.download(request)
        fetched = monotonic()
        await self._queue.wait(account)
        found, response = await spider.answer(response, call.query)
        parsed = monotonic()
        record = envelope(found)
        validate(call.resource, record)
        validated = monotonic()
        fetch = Fetch.of(response)
        fetched = max(fetched, fetch.ended)  # later where the query was run again
        render = sum(attempt["seconds"] for attempt in budget.attempts if attempt["transport"] == "browser")
        timings = {
            "queue": ready - budget.began,
            "fetch": fetched - ready + budget.began - budget.call_began - render,
            **({"render": render} if render else {}),
            "parse": parsed - fetched,
            "validate": validated - parsed,
        }
        return Answer(
            record,
            found.outcome,
            fetch.transport,
            timings,
            budget.attempts,
            spider.name,
            fetch.region_mode,
            found.partial,
            spider.missing(response, call.resource),
            spider.price,
            _page_of(response, spider) if call.with_page else None,
        )


def _page_of(response: Response, spider: EngineSpider) -> FetchedPage | None:
    return fetched_page(response, spider.kind or spider.name, spider.resources, spider.keys)
