"""What is counted and shown to Prometheus (https://prometheus.io/docs/concepts/data_model/).

Labels have their values from closed sets alone: engines, outcomes, transports, regions, endpoints, codes, the labels of
proxies. Nothing of a query, a key or a URL is among them.
"""

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from time import monotonic
from typing import Any, get_args

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from webdata.crawling.warm_crawlers import Answer, Call, Turn, WarmCrawlers
from webdata.domain.errors import AccessError, FetchError, OverloadedError, QueryError, UnsupportedContentError
from webdata.domain.query import Region
from webdata.fetching.fetch import Ways
from webdata.fetching.proxy_pool import Verdict

OPENMETRICS = "application/openmetrics-text"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)
"""Upper bounds in seconds: from a warm call on loopback to one that takes the longest deadline in use."""
REGIONS = frozenset(Region)
NETWORKS = {False: "internet", True: "sandbox"}
"""Where calls go, by whether that is the sandbox."""

Row = Mapping[str, Any]
Shows = Callable[[], Iterable[Metric]]


class Metrics:
    """Counts what happens; what things know of themselves is asked for when somebody reads."""

    def __init__(self) -> None:
        disable_created_metrics()  # a second series for each: when it began, which nobody plots
        self.registry = CollectorRegistry()
        self._shown = Shown()
        self._calls = self._counter(
            "webdata_calls",
            "Calls, once for each engine that was asked.",
            ("network", "engine", "outcome", "transport", "region"),
        )
        self._steps = self._counter(
            "webdata_steps", "Attempts to win a page.", ("network", "engine", "transport", "outcome")
        )
        self._answers = self._counter(
            "webdata_answers", "Answers of the API: ok, or the code of an error.", ("endpoint", "code")
        )
        seconds = Histogram(
            "webdata_call_duration_seconds",
            "What engines took for calls: all steps, parsing, validation.",
            ("network", "engine", "transport"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._seconds = cache(seconds.labels)
        Info("webdata_build", "What runs.", registry=self.registry).info(_build())
        self.registry.register(self._shown)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def _counter(self, name: str, told: str, labels: Sequence[str]) -> Callable[..., Counter]:
        """Gives the counter for values of the labels. They come from closed sets, so that none need be forgotten."""
        return cache(Counter(name, told, labels, registry=self.registry).labels)

    def ended(self, engine: str, call: Call, turn: Turn, end: Answer | Exception) -> None:
        """Count an engine's part of a call (`webdata.crawling.warm_crawlers.Told`)."""
        network, region = NETWORKS[call.sandbox], getattr(call.query, "region", None)
        transport = _transport(turn, end)
        self._calls(network, engine, outcome(end), transport, region if region in REGIONS else "").inc()
        self._seconds(network, engine, transport).observe(monotonic() - turn.set_out)
        for step in turn.steps:
            self._steps(network, engine, step["transport"], step["outcome"]).inc()

    def answered(self, endpoint: str, code: str) -> None:
        """Count an answer of the API."""
        self._answers(endpoint, code).inc()

    def show(self, shows: Shows) -> None:
        """Ask something for its metrics, whenever somebody reads."""
        self._shown.add(shows)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """All of it and its media type: OpenMetrics where that is accepted, else Prometheus' own text."""
        return _text(self.registry, accept)

    def packed(self) -> bytes:
        """All of it for another process, which reads this in a tenth of the time that Prometheus' text would take."""
        return json.dumps([_packed(family) for family in self.registry.collect()]).encode()


class AllWorkers(Collector):
    """What several workers have counted, by their numbers and as `packed`; None where one did not tell.

    Each sample has the label `worker`.
    """

    def __init__(self, told: Mapping[int, bytes | None]) -> None:
        self._told = told

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """As that of `Metrics`."""
        return _text(self, accept)

    def collect(self) -> Iterator[Metric]:
        rows = [{"worker": str(worker), "up": told is not None} for worker, told in self._told.items()]
        yield _gauge("webdata_worker_up", "Whether a worker has told its metrics.", ("worker",), rows, "up")
        families: dict[str, Metric] = {}
        for worker, told in self._told.items():
            for name, documentation, kind, unit, samples in json.loads(told or b"[]"):
                family = families.setdefault(name, Metric(name, documentation, kind, unit))
                family.samples += [
                    Sample(of, {**labels, "worker": str(worker)}, value) for of, labels, value in samples
                ]
        yield from families.values()


def _packed(family: Metric) -> tuple[Any, ...]:
    samples = [(sample.name, sample.labels, sample.value) for sample in family.samples]
    return family.name, family.documentation, family.type, family.unit, samples


def _text(collector: Collector, accept: str) -> tuple[bytes, str]:
    # What else such a header says is left alone: the library fails on versions that it cannot read.
    encode, content_type = choose_encoder(OPENMETRICS if OPENMETRICS in accept.lower() else "")
    return encode(collector), content_type


class Shown(Collector):
    """What things know of themselves, asked for when it is read: nothing is kept twice."""

    def __init__(self) -> None:
        self._all: list[Shows] = []

    def add(self, shows: Shows) -> None:
        """Ask this too."""
        self._all.append(shows)

    def collect(self) -> Iterator[Metric]:
        for shows in self._all:
            yield from shows()


def outcome(end: Answer | Exception) -> str:
    """How an engine's part of a call ended: an outcome, `refused` for what may not be run, `internal` for a fault."""
    if isinstance(end, Answer | FetchError):
        return end.outcome.value
    refusals = AccessError | OverloadedError | QueryError | UnsupportedContentError
    return "refused" if isinstance(end, refusals) else "internal"


def _transport(turn: Turn, end: Answer | Exception) -> str:
    """That which won the page, else the last that was tried; empty where none was."""
    if isinstance(end, Answer):
        return end.transport
    return turn.steps[-1]["transport"] if turn.steps else ""


def _build() -> dict[str, str]:
    return {"version": version("webdata"), "scrapy": version("scrapy"), "python": platform.python_version()}


def calls(crawlers: WarmCrawlers) -> Iterator[Metric]:
    """The calls that run now, and how the ways to pages are, those of the internet and of the sandbox."""
    rows = [crawlers.snapshot()]
    yield _gauge("webdata_calls_in_flight", "Calls that run now.", (), rows, "in_flight")
    yield _gauge("webdata_calls_limit", "Calls that there is room for.", (), rows, "limit")
    networks = [(NETWORKS[sandbox], ways) for sandbox, ways in crawlers.ways.items()]
    yield from _browsers([{"network": network, **ways.browser.snapshot()} for network, ways in networks])
    yield from _ladders([{"network": network, **row} for network, ways in networks for row in ways.ladder.snapshot()])
    yield from _proxies([row for network, ways in networks for row in _proxy_rows(network, ways, crawlers.engines)])


def money(shown: Callable[[], Mapping[str, Mapping[str, int]]], cache_bytes: Callable[[], int]) -> Iterator[Metric]:
    """How often the cache had an answer, what it takes in memory, and the credits that moved."""
    told = shown()
    asked = [{"state": state, "calls": calls} for state, calls in told["cache"].items()]
    moved = [{"movement": movement, "credits": amount} for movement, amount in told["credits"].items()]
    yield _counter("webdata_cache_answers", "Answers by x-cache.", ("state",), asked, "calls")
    size = "What answers take in this process's memory; 0 where they are in a Redis."
    yield _gauge("webdata_cache_bytes", size, (), [{"bytes": cache_bytes()}], "bytes")
    yield _counter("webdata_credits", "Credits of live keys that moved.", ("movement",), moved, "credits")


def _browsers(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network",)
    yield _gauge("webdata_browser_running", "Whether a browser runs.", labels, rows, "running")
    yield _gauge("webdata_browser_pages", "Pages that are open in the browser.", labels, rows, "pages")
    yield _gauge("webdata_browser_pages_limit", "Pages that may be open in it.", labels, rows, "limit")
    launches = "How often a browser was started: more than once where one has died."
    yield _counter("webdata_browser_launches", launches, labels, rows, "launches")


def _ladders(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network", "engine", "region", "transport")
    yield _gauge("webdata_ladder_success_ratio", "The moving share of pages won.", labels, rows, "rate")
    yield _gauge("webdata_ladder_step_seconds", "What a step usually takes.", labels, rows, "seconds")
    yield _gauge("webdata_ladder_rest_seconds", "For how long it rests; 0: awake.", labels, rows, "rests")


def _proxies(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network", "proxy", "engine")
    yield _gauge("webdata_proxy_success_ratio", "The moving share of good steps.", labels, rows, "success_rate")
    yield _gauge("webdata_proxy_rest_seconds", "For how long it rests; 0: awake.", labels, rows, "rests_for")
    ends = [{**row, "verdict": verdict, "steps": row[verdict]} for row in rows for verdict in get_args(Verdict)]
    told = "Steps through a proxy: won, lost by the proxy, blocked by the site."
    yield _counter("webdata_proxy_steps", told, (*labels, "verdict"), ends, "steps")


def _proxy_rows(network: str, ways: Ways, engines: Iterable[str]) -> Iterator[Row]:
    for engine in engines:
        for row in ways.proxies.snapshot(engine):
            yield {"network": network, "engine": engine, **row}


def _gauge(name: str, told: str, labels: Sequence[str], rows: Iterable[Row], key: str) -> Metric:
    return _filled(GaugeMetricFamily(name, told, labels=labels), labels, rows, key)


def _counter(name: str, told: str, labels: Sequence[str], rows: Iterable[Row], key: str) -> Metric:
    return _filled(CounterMetricFamily(name, told, labels=labels), labels, rows, key)


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, labels: Sequence[str], rows: Iterable[Row], key: str
) -> Metric:
    """A metric with a sample for each row, whose value is under `key`."""
    for row in rows:
        family.add_metric([row[label] for label in labels], float(row[key]))
    return family
