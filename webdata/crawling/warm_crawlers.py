"""The only place where the service meets Scrapy: warm crawlers, one per engine, that answer calls."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Any, Protocol

import orjson
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from webdata.crawling.fair_queue import Turns
from webdata.domain.errors import (
    BlockedError,
    FetchError,
    LayoutError,
    OverloadedError,
    UpstreamError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.query import Query
from webdata.domain.records import Record
from webdata.fetching.fetch import Ways, transport_of
from webdata.fetching.transport_policy import Step
from webdata.pipelines.envelope import envelope
from webdata.pipelines.validate import validate
from webdata.resources import Resource
from webdata.spiders.base import EngineSpider

PASSED_ON = (BlockedError, LayoutError, UpstreamError)
"""Ends of a fetch after which the resource's next engine is asked. That a thing does not exist, or that nothing was
found, is an answer."""


@dataclass(frozen=True)
class Call:
    """One on-demand run of a query."""

    resource: Resource
    query: Query
    sandbox: bool
    deadline: float
    """Seconds until the caller is answered, with a page or without."""


@dataclass(frozen=True)
class Answer:
    """A record and how it was won.

    `timings` are seconds by phase: `queue`, `fetch` (what engines asked in vain took is in it), `render` (in the
    browser, where it was used), `parse`, `validate`. `transport` is that of the step which won the page.
    """

    record: Record
    outcome: Outcome
    transport: str
    timings: dict[str, float]
    steps: Sequence[Step] = ()
    """The attempts of all fetches, in the order in which they ended."""
    region_mode: str | None = None
    """`proxy` or `parameters`: how the site was told the region that was asked for; None where none was."""
    partial: str | None = None
    """Which way to the record does not tell all of it; None where it is whole."""

    @cached_property
    def json(self) -> bytes:
        """The record as JSON, made once for all who send or keep it."""
        return orjson.dumps(self.record)


@dataclass(frozen=True)
class Turn:
    """An engine's part of a call, in seconds of the monotonic clock."""

    begun: float
    """When the call set out."""
    set_out: float
    """When this engine did."""
    deadline: float
    """How long after the call this engine may take: its equal share of what was left, so that the next has a turn."""
    steps: list[Step] = field(default_factory=list)
    """The attempts so far, in the order in which they ended."""


Told = Callable[[str, Call, Turn, Answer | Exception], None]
"""Who is told how each engine's part of a call ended: by its name, with what it gave or why it gave nothing."""


class Calls(Protocol):
    """Whoever answers calls."""

    async def answer(self, call: Call) -> Answer:
        """Run the call; raises FetchError when no page was won, OverloadedError when there is no room."""
        ...


LOG_COUNT = "scrapy.extensions.logcount.LogCount"
"""Counts the lines of the whole process, once for each crawler: measured, 6 us a line and crawler."""


def scrapy_settings() -> Settings:
    """The project's Scrapy settings."""
    settings = Settings()
    settings.setmodule("webdata.settings", priority="project")
    return settings


def load_spiders(settings: Settings | None = None) -> list[type[EngineSpider]]:
    """Every engine that the spider loader finds, in the order of their names."""
    loader = SpiderLoader.from_settings(settings or scrapy_settings())
    spiders = [loader.load(name) for name in sorted(loader.list())]
    return [spider for spider in spiders if issubclass(spider, EngineSpider)]


def own_settings(settings: Settings, sandbox: bool, max_calls: int) -> Settings:
    """The settings of the warm crawlers that talk to the sandbox, or to the internet.

    A site gets as many requests at once as there may be calls: one that is slow has nobody wait in line.
    """
    own = settings.copy()
    own.set("EXTENSIONS", {**own.getdict("EXTENSIONS"), LOG_COUNT: None}, priority="cmdline")
    at_once = {"CONCURRENT_REQUESTS": max_calls, "CONCURRENT_REQUESTS_PER_DOMAIN": max_calls}
    own.setdict({"ON_DEMAND": True, "SANDBOX": sandbox, **at_once}, priority="cmdline")
    return own


class WarmCrawlers:
    """Answers calls with crawlers that are opened on first use and stay open.

    So connections, TLS sessions and cookies stay warm, and a call costs no crawler start. Calls that go to
    the sandbox have crawlers of their own: nothing of theirs mixes with what goes out to the internet.

    A resource's engines are asked in the order of their rank, each when those before it won no page. One whose
    upstream asks to be left alone is passed over for so long.
    """

    def __init__(
        self, spiders: Iterable[type[EngineSpider]], settings: Settings, max_calls: int, told: Told | None = None
    ):
        self._engines: defaultdict[str, list[type[EngineSpider]]] = defaultdict(list)
        self._resources: dict[str, Resource] = {}
        for spider in sorted(spiders, key=lambda spider: (spider.rank, spider.name)):
            for resource in spider.resources:
                self._engines[resource.name].append(spider)
                self._resources[resource.name] = resource
        self._rested: dict[tuple[str, bool], float] = {}
        self._settings = settings
        own = {sandbox: own_settings(settings, sandbox, max_calls) for sandbox in (False, True)}
        self.ways = {sandbox: Ways.from_settings(own[sandbox]) for sandbox in own}
        self._max_calls = max_calls
        self._told = told
        self._opened: dict[tuple[str, bool], asyncio.Task[WarmCrawler]] = {}
        self._running: set[asyncio.Task[Answer]] = set()

    @property
    def resources(self) -> list[Resource]:
        """The resources that have an engine."""
        return list(self._resources.values())

    @property
    def in_flight(self) -> int:
        """How many calls run now, those included whose caller has been answered already."""
        return len(self._running)

    @property
    def engines(self) -> list[str]:
        """The names of all engines, in their order."""
        return sorted({spider.name for spiders in self._engines.values() for spider in spiders})

    def snapshot(self) -> dict[str, Any]:
        """How many calls run and how many may, for health and metrics."""
        return {"in_flight": self.in_flight, "limit": self._max_calls}

    async def answer(self, call: Call) -> Answer:
        """Run the call. Raises FetchError, OverloadedError, and RecordError for a fault of ours.

        A call that is over its deadline is answered, but never cancelled: its download ends by itself.
        """
        if self.in_flight >= self._max_calls:
            raise OverloadedError(
                f"{self._max_calls} calls are in flight, which is all there is room for", retry_after=1
            )
        begun, turns = monotonic(), list[Turn]()
        task = asyncio.create_task(self._run(call, begun, turns))
        self._running.add(task)
        task.add_done_callback(self._forget)
        done, _ = await asyncio.wait({task}, timeout=call.deadline)
        try:
            if not done:
                raise UpstreamTimeoutError(f"no answer within {call.deadline:g} seconds", "timeout")
            return task.result()
        except FetchError as error:
            error.steps = [step for turn in turns for step in turn.steps]
            error.seconds = monotonic() - begun
            error.region_mode = self._region_mode(call)
            raise

    def _region_mode(self, call: Call) -> str | None:
        region = getattr(call.query, "region", None)
        return region and self.ways[call.sandbox].proxies.region_mode(region)

    async def close(self, seconds: float) -> None:
        """Let running calls finish for up to so many seconds, then close every crawler."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        for opened in self._opened.values():
            with contextlib.suppress(Exception):  # one that never opened has nothing to close
                await (await opened).close()
        self._opened.clear()
        for ways in self.ways.values():
            await ways.close()

    def _forget(self, task: "asyncio.Task[Answer]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # read, or asyncio complains about those whose caller is gone

    async def _run(self, call: Call, begun: float, turns: list[Turn]) -> Answer:
        engines = self._awake(call, begun)
        lost: list[FetchError] = []
        for left, spider in zip(range(len(engines), 0, -1), engines, strict=True):
            try:
                return await self._asked(spider, call, begun, left, turns)
            except PASSED_ON as error:
                self._rested[spider.name, call.sandbox] = monotonic() + error.retry_after
                lost.append(error)
        raise lost[0]

    def _awake(self, call: Call, now: float) -> list[type[EngineSpider]]:
        """The engines to ask, in their order; where all are to be left alone, all the same."""
        engines = self._engines[call.resource.name]
        return [spider for spider in engines if self._rested.get((spider.name, call.sandbox), 0) <= now] or engines

    async def _asked(
        self, spider: type[EngineSpider], call: Call, begun: float, left: int, turns: list[Turn]
    ) -> Answer:
        """What one engine answers, of so many that are left."""
        set_out = monotonic()
        taken = set_out - begun
        turn = Turn(begun, set_out, taken + (call.deadline - taken) / left)
        turns.append(turn)
        try:
            crawler = await self._warm(spider, call.sandbox)
            answer = await crawler.run(call, turn)
        except Exception as error:
            self._tell(spider.name, call, turn, error)
            raise
        self._tell(spider.name, call, turn, answer)
        return answer

    def _tell(self, engine: str, call: Call, turn: Turn, end: Answer | Exception) -> None:
        if self._told:
            self._told(engine, call, turn, end)

    async def _warm(self, spider: type[EngineSpider], sandbox: bool) -> "WarmCrawler":
        key = (spider.name, sandbox)
        if key not in self._opened:
            own = own_settings(self._settings, sandbox, self._max_calls)
            own.set("WAYS", self.ways[sandbox], priority="cmdline")
            self._opened[key] = asyncio.create_task(WarmCrawler.open(spider, own))
        try:
            return await self._opened[key]
        except Exception:
            self._opened.pop(key, None)  # the next call tries anew
            raise


class WarmCrawler:
    """A crawler that is held open while it is idle."""

    def __init__(self, crawler: Crawler):
        self._crawler = crawler
        self._turns = Turns()
        self._ended: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, spider: type[EngineSpider], settings: Settings) -> "WarmCrawler":
        """Start a crawler and wait until it takes requests."""
        warm = cls(Crawler(spider, settings))
        await warm._start()
        return warm

    async def _start(self) -> None:
        opened = asyncio.Event()

        def spider_opened() -> None:
            opened.set()

        self._crawler.signals.connect(spider_opened, signals.spider_opened)
        self._crawler.signals.connect(self._hold, signals.spider_idle)
        self._ended = asyncio.create_task(self._crawler.crawl_async())
        waiting = asyncio.create_task(opened.wait())
        await asyncio.wait({self._ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.is_set():
            waiting.cancel()
            self._ended.result()  # raises what kept it from opening
            raise RuntimeError(f"{self._crawler.spidercls.name} closed before it opened")

    def _hold(self) -> None:
        raise DontCloseSpider

    async def close(self) -> None:
        """Stop the crawler and wait until everything of it is closed."""
        await self._crawler.stop_async()
        if self._ended:
            await self._ended

    async def run(self, call: Call, turn: Turn) -> Answer:
        """Fetch, parse and validate; raises FetchError, and RecordError for a fault of ours."""
        spider = self._crawler.spider
        assert isinstance(spider, EngineSpider)
        await self._turns.come()
        request = spider.prepared(call.query)
        request.meta.update(started_at=turn.begun, deadline=turn.deadline, steps=turn.steps)
        ready = monotonic()
        response = await spider.download(request)
        fetched = monotonic()
        await self._turns.come()
        found, response = await spider.won(response, call.query)
        parsed = monotonic()
        record = envelope(found)
        validate(call.resource, record)
        validated = monotonic()
        way, steps = response.meta.get("way"), turn.steps
        fetched = max(fetched, way.ended) if way else fetched  # later where the query was run again
        render = sum(step["seconds"] for step in steps if step["transport"] == "browser")
        timings = {
            "queue": ready - turn.set_out,
            "fetch": fetched - ready + turn.set_out - turn.begun - render,
            **({"render": render} if render else {}),
            "parse": parsed - fetched,
            "validate": validated - parsed,
        }
        transport, mode = transport_of(response.meta), response.meta.get("region_mode")
        return Answer(record, found.outcome, transport, timings, steps, mode, found.partial)
