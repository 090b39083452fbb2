"""Metrics for Prometheus (https://prometheus.io/docs/concepts/data_model/).

Labels have their values from closed sets alone: engines, outcomes, transports, regions, endpoints, codes, the labels of
proxies. Nothing of a query, a key or a URL is among them.
"""

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
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    values,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget, WarmCrawlers
from webdata.domain.errors import ConfigError, outcome_of
from webdata.domain.proxies import Verdict
from webdata.domain.query import Region
from webdata.stores.webhooks.model import AttemptResult

OPENMETRICS = "application/openmetrics-text"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)
"""Upper bounds in seconds: from a warm call on loopback to one that takes the longest deadline in use."""
REGIONS = frozenset(Region)
NETWORKS = {False: "internet", True: "sandbox"}
"""Where calls go, by whether that is the sandbox."""
MODES = {
    "process_start_time_seconds": "livemin",
    "webdata_canary_round_seconds": "livemax",
    "webdata_engine_drifted": "livemax",
    "python_info": "livemax",
    "webdata_build_info": "livemax",
    "webdata_proxy_open_seconds": "livemax",
    "webdata_proxy_success_ratio": "livemin",
    "webdata_transport_attempt_seconds": "livemax",
    "webdata_transport_open_seconds": "livemax",
    "webdata_transport_success_ratio": "livemin",
}
"""Gauges of which several workers show the worst value of one; all other gauges are added up."""

Row = Mapping[str, Any]
Source = Callable[[], Iterable[Metric]]


class Metrics:
    """Counts events; state is collected when it is read.

    A `worker`, by its number, shares them with the others by files in the folder PROMETHEUS_MULTIPROC_DIR, and `text`
    adds up all workers: of others their state when they last called `publish`. The successor of a worker goes on with
    its files, so that counters never fall.
    """

    def __init__(self, worker: int | None = None) -> None:
        disable_created_metrics()  # a second series for each: when it was created
        self._shared = worker is not None
        # A child of a worker shares nothing: it has the folder in its environment, too.
        values.ValueClass = values.MultiProcessValue(lambda: worker) if self._shared else values.MutexValue
        self.registry = CollectorRegistry()
        self._state = StateCollector()
        self._cells = cache(_cell)
        self._calls = self._counter(
            "webdata_calls",
            "Calls, once for each engine that was requested.",
            ("network", "engine", "outcome", "transport", "region"),
        )
        self._attempts = self._counter(
            "webdata_attempts", "Attempts to fetch a page.", ("network", "engine", "transport", "outcome")
        )
        self._answers = self._counter(
            "webdata_answers", "Answers of the API: ok, or the code of an error.", ("endpoint", "code")
        )
        self._passed_on = self._counter(
            "webdata_gateway_requests",
            "Requests to the gateway's prefixes, by the status of the response; 499: the caller has gone.",
            ("prefix", "status"),
        )
        self._webhook_attempts = self._counter(
            "webdata_webhook_attempts",
            "Attempts to deliver an event: delivered, failed with another to follow, given up.",
            ("result",),
        )
        self._batch_rows = self._counter(
            "webdata_batch_rows", "Rows of batches that have ended here.", ("resource", "engine", "outcome")
        )
        seconds = Histogram(
            "webdata_call_duration_seconds",
            "What engines took for calls: all attempts, parsing, validation.",
            ("network", "engine", "transport"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._seconds = cache(seconds.labels)
        self.registry.register(self._state)

    def _counter(self, name: str, help_text: str, labels: Sequence[str]) -> Callable[..., Counter]:
        """Returns the counter for values of the labels, which are from closed sets, so that none need be dropped."""
        return cache(Counter(name, help_text, labels, registry=self.registry).labels)

    def ended(self, engine: str, call: Call, budget: EngineBudget, end: Answer | Exception) -> None:
        """Count an engine's part of a call (`webdata.crawling.warm_crawlers.Observer`)."""
        network, region = NETWORKS[call.sandbox], getattr(call.query, "region", None)
        transport = _transport(budget, end)
        self._calls(network, engine, _outcome(end), transport, region if region in REGIONS else "").inc()
        self._seconds(network, engine, transport).observe(monotonic() - budget.began)
        for attempt in budget.attempts:
            self._attempts(network, engine, attempt["transport"], attempt["outcome"]).inc()

    def answered(self, endpoint: str, code: str) -> None:
        """Count an answer of the API."""
        self._answers(endpoint, code).inc()

    def passed_on(self, prefix: str, status: int) -> None:
        """Count a request to a prefix of the gateway."""
        self._passed_on(prefix, str(status)).inc()

    def webhook_attempted(self, result: AttemptResult) -> None:
        """Count an attempt to deliver an event."""
        self._webhook_attempts(result).inc()

    def row_ended(self, resource: str, engine: str, outcome: str) -> None:
        """Count a row of a batch; its engine is empty where none has answered."""
        self._batch_rows(resource, engine, outcome).inc()

    def collect_from(self, source: Source) -> None:
        """Collect further metrics from this, whenever they are read."""
        self._state.add(source)

    def publish(self) -> None:
        """Have the other workers see the state of this one."""
        for family in self._state.collect():
            for name, labels, value, *_ in family.samples:
                cell, before = self._cells(family.type, family.name, name, tuple(labels.items()), family.documentation)
                cell.set(before + value)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """All of it and its media type: OpenMetrics where that is accepted, else Prometheus' own text."""
        collector: Collector = self.registry
        if self._shared:
            self.publish()
            collector = MultiProcessCollector(None)
        # What else such a header says is left alone: the library fails on versions that it cannot read.
        encode, content_type = choose_encoder(OPENMETRICS if OPENMETRICS in accept.lower() else "")
        return encode(collector), content_type


def _cell(kind: str, family: str, name: str, labels: tuple[tuple[str, str], ...], help_text: str) -> tuple[Any, float]:
    """The place of a sample in this worker's files, and what its predecessor had counted there."""
    names, label_values = [label for label, _ in labels], [value for _, value in labels]
    mode = MODES.get(family, "livesum")
    cell = values.ValueClass(kind, family, name, names, label_values, help_text, multiprocess_mode=mode)
    return cell, cell.get() if kind == "counter" else 0.0


class StateCollector(Collector):
    """State, collected when it is read: nothing is stored twice."""

    def __init__(self) -> None:
        process = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=process)
        self._sources: list[Source] = [_service, process.collect]

    def add(self, source: Source) -> None:
        """Collect from this, too."""
        self._sources.append(source)

    def collect(self) -> Iterator[Metric]:
        for source in self._sources:
            yield from source()


@cache
def _service() -> Sequence[Metric]:
    """What runs, and in how many processes."""
    row = {"version": version("webdata"), "scrapy": version("scrapy"), "python": platform.python_version(), "runs": 1}
    return [
        gauge("webdata_build_info", "What runs.", ("version", "scrapy", "python"), [row], "runs"),
        gauge("webdata_workers", "Processes that serve.", (), [row], "runs"),
    ]


def _outcome(end: Answer | Exception) -> str:
    return end.outcome.value if isinstance(end, Answer) else outcome_of(end)


def _transport(budget: EngineBudget, end: Answer | Exception) -> str:
    """That which fetched the page, else the last that was used; empty where none was."""
    if isinstance(end, Answer):
        return end.transport
    return budget.attempts[-1]["transport"] if budget.attempts else ""


def serve(address: str, metrics: "Metrics") -> Any:
    """The port of a worker on which `GET /metrics` is answered; raises ConfigError for one that cannot be used."""
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


def call_metrics(crawlers: WarmCrawlers) -> Iterator[Metric]:
    """The calls that run now, and the state of the fetch resources of the internet and of the sandbox."""
    rows = [crawlers.snapshot()]
    yield gauge("webdata_calls_in_flight", "Calls that run now.", (), rows, "in_flight")
    yield gauge("webdata_calls_limit", "Calls that there is room for.", (), rows, "limit")
    networks = [(NETWORKS[sandbox], resources) for sandbox, resources in crawlers.fetch_resources.items()]
    yield from _browsers([{"network": network, **of.browser.snapshot()} for network, of in networks])
    yield from _transports(
        [{"network": network, **row} for network, of in networks for row in of.transports.snapshot()]
    )
    yield from _proxies(
        [
            {"network": network, "engine": engine, **row}
            for network, of in networks
            for engine in crawlers.engines
            for row in of.proxies.snapshot(engine)
        ]
    )


def access_metrics(
    snapshot: Callable[[], Mapping[str, Mapping[str, int]]], cache_bytes: Callable[[], int]
) -> Iterator[Metric]:
    """How often the cache had an answer, its size in memory, and the credits that moved."""
    counts = snapshot()
    answers = [{"state": state, "answers": number} for state, number in counts["cache"].items()]
    moved = [{"movement": movement, "credits": amount} for movement, amount in counts["credits"].items()]
    yield _counter("webdata_cache_answers", "Answers by x-cache.", ("state",), answers, "answers")
    size = "Cached answers in this process's memory; 0 where they are in a Redis."
    yield gauge("webdata_cache_bytes", size, (), [{"bytes": cache_bytes()}], "bytes")
    yield _counter("webdata_credits", "Credits of live keys that moved.", ("movement",), moved, "credits")
    ends = [{"end": end, "answers": number} for end, number in counts["archive"].items()]
    help_text = "Answers of calls that were to be archived: archived, refused, lost as they could not be stored."
    yield _counter("webdata_archived_answers", help_text, ("end",), ends, "answers")


def _browsers(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network",)
    yield gauge("webdata_browser_running", "Whether a browser runs.", labels, rows, "running")
    yield gauge("webdata_browser_pages", "Pages that are open in the browser.", labels, rows, "pages")
    yield gauge("webdata_browser_pages_limit", "Pages that may be open in it.", labels, rows, "limit")
    launches = "How often a browser was started: more than once where one has died."
    yield _counter("webdata_browser_launches", launches, labels, rows, "launches")


def _transports(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network", "engine", "region", "transport")
    yield gauge("webdata_transport_success_ratio", "The moving share of pages fetched.", labels, rows, "rate")
    yield gauge("webdata_transport_attempt_seconds", "What an attempt usually takes.", labels, rows, "seconds")
    yield gauge(
        "webdata_transport_open_seconds", "For how long its circuit stays open; 0: it is not.", labels, rows, "open_for"
    )


def _proxies(rows: Sequence[Row]) -> Iterator[Metric]:
    labels = ("network", "proxy", "engine")
    yield gauge("webdata_proxy_success_ratio", "The moving share of good attempts.", labels, rows, "success_rate")
    yield gauge(
        "webdata_proxy_open_seconds", "For how long its circuit stays open; 0: it is not.", labels, rows, "open_for"
    )
    ends = [{**row, "verdict": verdict, "attempts": row[verdict]} for row in rows for verdict in get_args(Verdict)]
    help_text = "Attempts through a proxy: won, lost by the proxy, blocked by the site."
    yield _counter("webdata_proxy_attempts", help_text, (*labels, "verdict"), ends, "attempts")


def gauge(name: str, help_text: str, labels: Sequence[str], rows: Iterable[Row], key: str) -> Metric:
    """A gauge with a sample for each row, whose value is under `key`."""
    return _filled(GaugeMetricFamily(name, help_text, labels=labels), labels, rows, key)


def _counter(name: str, help_text: str, labels: Sequence[str], rows: Iterable[Row], key: str) -> Metric:
    return _filled(CounterMetricFamily(name, help_text, labels=labels), labels, rows, key)


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, labels: Sequence[str], rows: Iterable[Row], key: str
) -> Metric:
    """A metric with a sample for each row, whose value is under `key`."""
    for row in rows:
        family.add_metric([row[label] for label in labels], float(row[key]))
    return family
