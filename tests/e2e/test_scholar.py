"""Scholarly works by warm crawlers, the service and batches against the sandbox, over real sockets."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_twisted
from scrapy.utils.defer import deferred_from_coro

from webdata.crawling.warm_crawlers import Call, WarmCrawlers, load_spiders, scrapy_settings
from webdata.domain.errors import BlockedError, LayoutError, NotFoundError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.pipelines.validate import validate
from webdata.resources.scholar_search import SCHOLAR_SEARCH, ScholarQuery
from webdata.sandbox.server import Sandbox

ROOT = Path(__file__).parents[2]


@pytest_twisted.async_yield_fixture
async def crawlers():
    """New warm crawlers for each test, without open circuits, over their own sandbox."""
    sandbox = Sandbox()
    settings = scrapy_settings()
    settings.set("SANDBOX_URL", await deferred_from_coro(sandbox.start()))
    settings.set("RETRY_TIMES", 0)
    warm = WarmCrawlers(load_spiders(settings), settings, max_calls=4)
    yield warm
    await deferred_from_coro(warm.close(10))
    await deferred_from_coro(sandbox.stop())


def call(q, **fields):
    return Call(SCHOLAR_SEARCH, ScholarQuery(q=q, **fields), sandbox=True, deadline=20)


def index_of(answer):
    return "openalex" if answer.record["articles"][0]["ids"]["openalex"] else "crossref"


@pytest.mark.task
async def test_openalex_returns_two_hundred_works(crawlers):
    """OpenAlex returns two hundred works, without repetitions, in a record with the keys of its schema."""
    answer = await crawlers.answer(call("mills", num=200, start=15))
    assert (answer.outcome, index_of(answer)) == (Outcome.OK, "openalex")
    assert len({article["id"] for article in answer.record["articles"]}) == 200
    assert set(answer.record) == set(SCHOLAR_SEARCH.schema["properties"])


@pytest.mark.task
async def test_crossref_answers_while_the_budget_is_used_up(crawlers):
    """Without OpenAlex's budget Crossref answers this call and the next."""
    assert index_of(await crawlers.answer(call("mills sandbox:budget", num=200))) == "crossref"
    assert index_of(await crawlers.answer(call("mills"))) == "crossref"


@pytest.mark.parametrize("scenario", ["paused", "key", "timeout"])
@pytest.mark.task
async def test_crossref_answers_when_openalex_fails(crawlers, scenario):
    """Crossref answers after any failure of OpenAlex."""
    assert index_of(await crawlers.answer(call(f"mills sandbox:{scenario}"))) == "crossref"


@pytest.mark.task
async def test_a_search_without_works_is_empty(crawlers):
    """An empty answer is not requested from the second index."""
    answer = await crawlers.answer(call("sandbox:empty"))
    assert (answer.outcome, answer.record["total"]) == (Outcome.EMPTY, 0)


@pytest.mark.parametrize(
    ("scenario", "error", "kind"),
    [
        ("limited", BlockedError, "budget"),
        ("denied", BlockedError, "denied"),
        ("notfound", NotFoundError, None),
        ("layout", LayoutError, None),
        ("hollow", UpstreamError, "false_empty"),
        ("error", UpstreamError, "http_500"),
        ("reset", UpstreamError, "reset"),
        ("truncated", UpstreamError, "truncated"),
    ],
)
@pytest.mark.task
async def test_a_failed_fetch_has_its_error(crawlers, scenario, error, kind):
    """Where both indexes fail the first one's error is raised."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"mills sandbox:{scenario}"))
    assert caught.value.kind == kind


def test_the_service_answers(running):
    """The endpoint returns works and names ignored headers; a wrong parameter is a 422, a failure a 502."""
    status, headers, record = running.get("/v1/scholar/q=tidal+mills&num=3&start=5", **{"X-Proxy-Location": "DE"})
    assert (status, headers["x-outcome"], headers["x-ignored-params"]) == (200, "ok", "X-Proxy-Location")
    assert (len(record["articles"]), record["query"], record["device_region"]) == (3, "tidal mills", "DE")
    validate(SCHOLAR_SEARCH, record)
    status, _, body = running.get("/v1/scholar?q=mills&num=200&start=9900")
    assert (status, body["error"]["code"]) == (422, "validation_error")
    status, _, body = running.get("/v1/scholar?q=" + quote("mills sandbox:hollow"))
    assert (status, body["error"]["code"]) == (502, "upstream_failed")
    _, headers, record = running.get("/v1/scholar?q=" + quote("mills sandbox:budget"))
    assert headers["x-outcome"] == "ok"
    assert record["articles"][0]["ids"]["openalex"] is None


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["openalex_works", "crossref_works"])
def test_a_batch_uses_one_index(tmp_path, engine):
    """A batch of either index has a record with all works of each query, and a file of failures."""
    queries = tmp_path / "queries.csv"
    queries.write_text("q,num\nmills,120\nmills sandbox:limited,10\n")
    out = tmp_path / "out.jsonl"
    command = [Path(sys.executable).with_name("scrapy"), "crawl", engine, "-a", f"queries={queries}", "-O", str(out)]
    jobdir = f"JOBDIR={tmp_path / 'job'}"
    subprocess.run([*command, "-s", "SANDBOX=1", "-s", jobdir], cwd=ROOT, check=True, capture_output=True, timeout=60)
    (record,) = map(json.loads, out.read_text().splitlines())
    assert len(record["articles"]) == 120
    (failure,) = map(json.loads, (tmp_path / "out.failures.jsonl").read_text().splitlines())
    assert failure["outcome"] == "blocked"
