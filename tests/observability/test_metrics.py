"""Metrics, and whether docs and dashboard describe them truly."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, values
from prometheus_client.multiprocess import mark_process_dead
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as plain_families

from webdata.crawling.warm_crawlers import Answer, Call, EngineBudget, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import (
    BlockedError,
    LayoutError,
    NotFoundError,
    QueryError,
    RecordError,
    TargetError,
    UnsupportedContentError,
    UpstreamTimeoutError,
)
from webdata.domain.outcome import Outcome
from webdata.domain.proxies import pools
from webdata.domain.query import Region
from webdata.fetching.transport_policy import Scope
from webdata.observability import metrics as metrics_module
from webdata.observability.metrics import OPENMETRICS, Metrics, access_metrics, call_metrics
from webdata.observability.stored_state import StoredState
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery
from webdata.resources.web_search import WEB_SEARCH, WebQuery
from webdata.stores.batches.model import ChunkStates
from webdata.stores.watch.sql import WatchedEngine
from webdata.stores.webhooks.model import WaitingDeliveries
from webdata.watch.filled_fields import FilledFields
from webdata.watch.watched import Watched

DOCS = Path(__file__).parents[2] / "docs"
MONITORING = (DOCS / "monitoring.md").read_text(encoding="utf-8")
DASHBOARD = orjson.loads((DOCS / "grafana-dashboard.json").read_bytes())
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
RULES = re.search(r"```yaml\ngroups:\n(.*?)```", MONITORING, re.DOTALL)[1]
ALERTS = re.findall(r"expr: (?:\|\n)?(.*?)\n        \w", RULES, re.DOTALL)
NAME = re.compile(r"\b(?:webdata|process|python)_\w+")
LABEL = re.compile(r'(\w+)(?:=~|!~|!=|=)"|\b(?:by|on) \(([^)]*)\)')


@pytest.fixture
def metrics():
    return Metrics()


@pytest.fixture
def crawlers():
    """Crawlers that nobody has called yet."""
    settings = scrapy_settings()
    settings.set("PROXIES", pools([("DE", "http://u:secret@proxy.example:1"), ("DE", "http://proxy.example:2")]))
    return WarmCrawlers(load_spiders(settings), settings, 7)


def call(q="coffee", region=None, *, sandbox=False):
    return Call(WEB_SEARCH, WebQuery(q=q, region=region), sandbox, 30.0)


def turn(*attempts, seconds=0.3):
    now = monotonic()
    return EngineBudget("google_web", now - seconds, now - seconds, 30.0, [attempt(*one) for one in attempts])


def attempt(transport, outcome):
    return {"transport": transport, "proxy": None, "outcome": outcome, "kind": None, "seconds": 0.1}


def answer(outcome=Outcome.OK, transport="http"):
    return Answer({}, outcome, transport, {})


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


def test_an_answered_call(metrics):
    """A call counts by engine, outcome, transport and region, and its seconds in a bucket that holds them."""
    metrics.ended("google_web", call(region=Region.DE), turn(("http", "ok")), answer())
    labels = {"network": "internet", "engine": "google_web", "transport": "http"}
    assert value(metrics, "webdata_calls_total", **labels, outcome="ok", region="DE") == 1
    assert value(metrics, "webdata_call_duration_seconds_count", **labels) == 1
    assert value(metrics, "webdata_call_duration_seconds_bucket", **labels, le="0.25") == 0
    assert value(metrics, "webdata_call_duration_seconds_bucket", **labels, le="0.5") == 1


def test_the_sandbox_is_told_apart(metrics):
    """Calls with test keys are not among those to the internet."""
    metrics.ended("google_web", call(sandbox=True), turn(), answer())
    labels = {"engine": "google_web", "outcome": "ok", "transport": "http", "region": ""}
    assert value(metrics, "webdata_calls_total", network="sandbox", **labels) == 1
    assert value(metrics, "webdata_calls_total", network="internet", **labels) is None


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (BlockedError("a captcha", "captcha"), "blocked"),
        (LayoutError("no results"), "layout"),
        (NotFoundError("gone"), "not_found"),
        (UpstreamTimeoutError("late", "timeout"), "upstream"),
        (TargetError("not allowed"), "refused"),
        (UnsupportedContentError("application/pdf"), "refused"),
        (QueryError([]), "refused"),
        (RecordError("a fault"), "internal"),
        (ZeroDivisionError("a fault"), "internal"),
    ],
)
def test_a_call_that_failed(metrics, error, outcome):
    """An error counts as its outcome, `refused` or `internal`, with the transport that was tried last."""
    metrics.ended("google_web", call(), turn(("http", "blocked"), ("browser", "upstream")), error)
    labels = {"network": "internet", "engine": "google_web", "outcome": outcome, "region": ""}
    assert value(metrics, "webdata_calls_total", **labels, transport="browser") == 1


def test_a_call_that_never_set_out(metrics):
    """Without a attempt there is no transport to tell of."""
    metrics.ended("google_web", call(), turn(), ZeroDivisionError("a fault"))
    labels = {"network": "internet", "engine": "google_web", "outcome": "internal", "region": "", "transport": ""}
    assert value(metrics, "webdata_calls_total", **labels) == 1


def test_steps(metrics):
    """Every attempt counts by how it ended, whatever became of the call."""
    metrics.ended("google_web", call(), turn(("http", "blocked"), ("http", "blocked"), ("browser", "ok")), answer())
    labels = {"network": "internet", "engine": "google_web"}
    assert value(metrics, "webdata_attempts_total", **labels, transport="http", outcome="blocked") == 2
    assert value(metrics, "webdata_attempts_total", **labels, transport="browser", outcome="ok") == 1


def test_answers(metrics):
    """What callers heard counts by endpoint and code."""
    metrics.answered("web_search", "overloaded")
    assert value(metrics, "webdata_answers_total", endpoint="web_search", code="overloaded") == 1


def test_an_unknown_region_is_none(metrics):
    """A region outside the closed set, and a query that has none, count as no region."""
    strange = WebQuery.model_construct(q="coffee", region="Atlantis")
    metrics.ended("google_web", Call(WEB_SEARCH, strange, False, 30.0), turn(), answer())
    metrics.ended("google_web", Call(MAPS_SEARCH, MapsQuery(q="coffee"), False, 30.0), turn(), answer())
    labels = {"network": "internet", "engine": "google_web", "outcome": "ok", "transport": "http", "region": ""}
    assert value(metrics, "webdata_calls_total", **labels) == 2


def test_nothing_of_queries_and_proxies_is_told(metrics, crawlers):
    """No word of a query and no proxy's address or password is in the text."""
    metrics.collect_from(partial(call_metrics, crawlers))
    crawlers.fetch_resources[False].proxies.report("google_web", "DE-1", "won", 0.1)
    metrics.ended("google_web", call("pumpernickel"), turn(), answer())
    text = metrics.text()[0].decode()
    assert 'proxy="DE-1"' in text
    assert not re.search("pumpernickel|secret|proxy\\.example", text)


def test_what_things_show(metrics, crawlers):
    """Ladder, proxies, browsers and calls are asked when somebody reads, not before."""
    metrics.collect_from(partial(call_metrics, crawlers))
    ways = crawlers.fetch_resources[False]
    for _ in range(3):
        ways.transports.report(Scope("google_web", "DE", ("http",)), "http", won=False, seconds=0.0)
        ways.proxies.report("google_web", "DE-2", "lost", 0.1)
    place = {"network": "internet", "engine": "google_web"}
    assert value(metrics, "webdata_calls_limit") == 7
    assert value(metrics, "webdata_calls_in_flight") == 0
    assert value(metrics, "webdata_browser_pages_limit", network="internet") == ways.browser.limit
    assert value(metrics, "webdata_transport_success_ratio", **place, region="DE", transport="http") == 0.41
    assert value(metrics, "webdata_transport_open_seconds", **place, region="DE", transport="http") > 1
    assert value(metrics, "webdata_proxy_success_ratio", **place, proxy="DE-2") == 0.512
    assert value(metrics, "webdata_proxy_open_seconds", **place, proxy="DE-2") > 1
    assert value(metrics, "webdata_proxy_attempts_total", **place, proxy="DE-2", verdict="lost") == 3
    assert value(metrics, "webdata_proxy_attempts_total", **place, proxy="DE-1", verdict="won") is None


@pytest.mark.parametrize(
    ("accept", "content_type", "families"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8", plain_families),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8", plain_families),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
            open_families,
        ),
    ],
)
def test_both_forms_are_readable(metrics, crawlers, accept, content_type, families):
    """The text is what its media type says, and a reader of that finds the metrics."""
    metrics.collect_from(partial(call_metrics, crawlers))
    metrics.ended("google_web", call(), turn(("http", "ok")), answer())
    text, told = metrics.text(accept)
    samples = {sample.name for family in families(text.decode()) for sample in family.samples}
    assert told == content_type
    assert {"webdata_calls_total", "webdata_build_info", "process_resident_memory_bytes"} <= samples


SHARED = Metrics()


@given(st.one_of(st.text(), st.from_regex(r"application/openmetrics-text(;[a-z]+=[^,]*)*(,.*)?")))
def test_any_accept_is_answered(accept):
    """Whatever a client accepts, it gets one of the two forms."""
    assert SHARED.text(accept)[1].split(";")[0] in ("text/plain", "application/openmetrics-text")


def test_what_else_is_counted(metrics):
    """Requests of the gateway, attempts of webhooks and rows of batches count by their labels."""
    metrics.passed_on("files", 502)
    metrics.webhook_attempted("given_up")
    metrics.row_ended("web_search", "google_web", "blocked")
    assert value(metrics, "webdata_gateway_requests_total", prefix="files", status="502") == 1
    assert value(metrics, "webdata_webhook_attempts_total", result="given_up") == 1
    row = {"resource": "web_search", "engine": "google_web", "outcome": "blocked"}
    assert value(metrics, "webdata_batch_rows_total", **row) == 1


def test_each_has_its_own_registry(metrics):
    """Two of them in a process count apart, and apart from the library's own registry."""
    metrics.answered("web_search", "ok")
    assert isinstance(metrics.registry, CollectorRegistry)
    assert value(Metrics(), "webdata_answers_total", endpoint="web_search", code="ok") is None


MOVED = {
    "cache": {"HIT": 2, "MISS": 1},
    "credits": {"reserved": 3, "committed": 2, "released": 1},
    "archive": {"archived": 4},
}


def test_money(metrics):
    """What the cache answered, what it takes, and the credits that moved are told."""
    metrics.collect_from(partial(access_metrics, lambda: MOVED, lambda: 7))
    text = lines(metrics)

    assert 'webdata_cache_answers_total{state="HIT"} 2.0' in text
    assert "webdata_cache_bytes 7.0" in text
    assert 'webdata_credits_total{movement="released"} 1.0' in text
    assert 'webdata_archived_answers_total{end="archived"} 4.0' in text


@pytest.fixture
def worker(monkeypatch, tmp_path):
    """Makes the metrics of a worker, which counts alone until the next is made."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    yield Metrics
    values.close_all_multiprocess_files()


def lines(metrics):
    return metrics.text()[0].decode().splitlines()


def test_the_metrics_of_any_worker_are_those_of_all(worker):
    """They are the sum of what the workers counted, with the state that each published last."""
    rows = iter(
        [{"cache": {"HIT": 3}, "credits": {}, "archive": {}}, {"cache": {"HIT": 4}, "credits": {}, "archive": {}}]
    )
    for number, cached in ((1, 100), (2, 20)):
        metrics = worker(number)
        metrics.collect_from(partial(access_metrics, partial(next, rows), partial(int, cached)))
        metrics.answered("web_search", "ok")
        metrics.ended("google_web", call(region=Region.DE), turn(("http", "ok")), answer())
        text = lines(metrics)
    assert {
        'webdata_answers_total{code="ok",endpoint="web_search"} 2.0',
        'webdata_attempts_total{engine="google_web",network="internet",outcome="ok",transport="http"} 2.0',
        'webdata_call_duration_seconds_bucket{engine="google_web",le="0.25",network="internet",transport="http"} 0.0',
        'webdata_call_duration_seconds_bucket{engine="google_web",le="0.5",network="internet",transport="http"} 2.0',
        'webdata_call_duration_seconds_count{engine="google_web",network="internet",transport="http"} 2.0',
        "webdata_cache_bytes 120.0",
        'webdata_cache_answers_total{state="HIT"} 7.0',
        "webdata_workers 2.0",
    } <= set(text)
    types = [line for line in text if line.startswith("# TYPE")]
    assert len(types) == len(set(types))


def test_a_child_of_a_worker_counts_alone(worker, tmp_path):
    """What a child of a worker counts, which has the same environment, is not among what all workers counted."""
    values.ValueClass = values.MultiProcessValue()  # as prometheus_client begins in such an environment
    child = worker()
    child.row_ended("web_search", "google_web", "ok")
    assert not list(tmp_path.iterdir())
    metrics = worker(1)
    metrics.row_ended("web_search", "google_web", "ok")
    assert 'webdata_batch_rows_total{engine="google_web",outcome="ok",resource="web_search"} 1.0' in lines(metrics)


def test_a_state_that_cannot_be_added_up(worker, crawlers):
    """Of shares and times the metrics of all workers have the worst."""
    for number, share in ((1, 0.25), (2, 0.75)):
        metrics = worker(number)
        metrics.collect_from(partial(transport_rows, share))
        text = lines(metrics)
    place = 'engine="google_web",network="internet",region="",transport="http"'
    assert f"webdata_transport_success_ratio{{{place}}} 0.25" in text
    assert f"webdata_transport_attempt_seconds{{{place}}} 0.75" in text


def transport_rows(share):
    place = {"engine": "google_web", "network": "internet", "region": "", "transport": "http"}
    yield from metrics_module._transports([{**place, "rate": share, "seconds": share, "open_for": 0.0}])


def test_the_metrics_of_a_worker_that_died(worker, tmp_path):
    """What it counted stays, its state does not, and its successor goes on counting."""
    for _ in range(2):
        first = worker(1)
        first.collect_from(partial(access_metrics, lambda: MOVED, lambda: 7))
        first.answered("web_search", "ok")
        first.publish()
        mark_process_dead(1, tmp_path)
    text = lines(worker(2))
    assert 'webdata_answers_total{code="ok",endpoint="web_search"} 2.0' in text
    assert 'webdata_credits_total{movement="reserved"} 6.0' in text
    assert "webdata_workers 1.0" in text
    assert not [line for line in text if line.startswith("webdata_cache_bytes")]


def test_openmetrics_of_several_workers(worker, crawlers):
    """A reader of OpenMetrics finds the same metrics as of one process."""
    found = []
    for metrics in (Metrics(), worker(1)):
        metrics.collect_from(partial(call_metrics, crawlers))
        metrics.ended("google_web", call(), turn(("http", "ok")), answer())
        metrics.answered("web_search", "ok")
        families = open_families(metrics.text(OPENMETRICS)[0].decode())
        found.append({(family.name, family.type, sample.name) for family in families for sample in family.samples})
    assert found[0] == found[1]


def stored_state():
    """What an empty database holds."""
    state = StoredState(None, None)
    state._batches, state._waiting = ChunkStates({}, 0, None), WaitingDeliveries(0, None)
    return state


def watched():
    """An engine with canaries that has not drifted."""
    found = Watched(None)
    found._engines = [WatchedEngine("google_web", "internet", datetime.now(UTC), None)]
    return found


def names_and_labels(metrics, crawlers):
    """Every name that an expression may have, and every label."""
    metrics.collect_from(partial(call_metrics, crawlers))
    metrics.collect_from(partial(access_metrics, lambda: MOVED, lambda: 7))
    metrics.ended("google_web", call(region=Region.DE), turn(("http", "ok")), answer())
    metrics.collect_from(stored_state().metrics)
    metrics.collect_from(watched().metrics)
    fields = FilledFields()
    fields.ended("google_web", call(), turn(("http", "ok")), replace(answer(), record={"query": "coffee"}))
    metrics.collect_from(fields.metrics)
    metrics.answered("web_search", "ok")
    metrics.passed_on("files", 200)
    metrics.webhook_attempted("delivered")
    metrics.row_ended("web_search", "google_web", "ok")
    crawlers.fetch_resources[False].proxies.report("google_web", "DE-1", "won", 0.1)
    crawlers.fetch_resources[False].transports.report(Scope("google_web"), "http", won=True, seconds=0.1)
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    return {sample.name for sample in samples}, {label for sample in samples for label in sample.labels}


def test_expressions_use_existing_metrics(metrics, crawlers):
    """The metrics and labels in the dashboard's panels and variables and in the docs' alerts exist."""
    names, labels = names_and_labels(metrics, crawlers)
    variables = [one["definition"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
    for expression in [*EXPRESSIONS, *variables, *ALERTS]:
        used = {label.strip() for pair in LABEL.findall(expression) for label in ",".join(pair).split(",")} - {""}
        assert NAME.findall(expression), expression
        assert set(NAME.findall(expression)) <= names, expression
        assert used <= labels | {"instance"}, expression


def test_the_docs_name_every_metric(metrics, crawlers):
    """The table of metrics in docs/monitoring.md is complete, and names nothing else."""
    names, _ = names_and_labels(metrics, crawlers)
    table = re.search(r"\| metric \| labels.*?\n\n", MONITORING, re.DOTALL)[0]
    ours = {re.sub(r"_(bucket|count|sum)$", "", name) for name in names if name.startswith("webdata_")}
    assert set(re.findall(r"webdata_\w+", table)) == ours


def test_the_dashboard_can_be_imported():
    """It has a schema version, a variable for the data source, and panels that use it and do not overlap."""
    kinds = {one["name"]: one["type"] for one in DASHBOARD["templating"]["list"]}
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    assert DASHBOARD["schemaVersion"] >= 36
    assert DASHBOARD["id"] is None
    assert kinds["datasource"] == "datasource"
    assert (
        len({(place["x"], place["y"]) for place in places}) == len({panel["id"] for panel in DASHBOARD["panels"]}) > 10
    )
    assert len(places) == len(DASHBOARD["panels"])
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in DASHBOARD["panels"])
    assert all(set(re.findall(r"\$(\w+)", expr)) <= {*kinds, "__rate_interval"} for expr in EXPRESSIONS)


def test_there_are_alerts():
    """The docs have six alerts."""
    assert len(ALERTS) == RULES.count("alert:") == 6
