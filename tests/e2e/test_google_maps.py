"""Places by warm crawlers, the service and batches against the sandbox, over real sockets."""

import json
import subprocess
import sys
from pathlib import Path
from time import monotonic
from urllib.parse import quote

import pytest

from webdata.crawling.warm_crawlers import Call
from webdata.domain.errors import BlockedError, LayoutError, UpstreamError
from webdata.domain.outcome import Outcome
from webdata.pipelines.validate import validate
from webdata.resources.maps_search import MAPS_SEARCH, MapsQuery

pytestmark = pytest.mark.task

ROOT = Path(__file__).parents[2]


def call(q, **fields):
    return Call(MAPS_SEARCH, MapsQuery(q=q, **fields), sandbox=True, deadline=20)


async def test_a_call_is_answered_with_a_record(crawlers):
    """The record has the keys of its schema."""
    answer = await crawlers.answer(call("cafes in Porto", num=5, hl="pt", gl="pt"))
    assert answer.outcome is Outcome.OK
    assert answer.record["query"] == "cafes in Porto"
    assert answer.record["result_count"] == len(answer.record["places"]) == 5
    assert answer.record["metadata"]["country"] == "pt"
    assert set(answer.record) == set(MAPS_SEARCH.schema["properties"])


@pytest.mark.timed
async def test_two_hundred_places_of_a_slow_site(crawlers):
    """With 100 ms a page two hundred places take at most 1.5 s, in order and without repetitions."""
    await crawlers.answer(call("coffee"))
    begun = monotonic()
    answer = await crawlers.answer(call("coffee sandbox:slow=0.1", num=200))
    assert monotonic() - begun < 1.5
    assert [int(place["name"].rpartition(" ")[2]) for place in answer.record["places"]] == list(range(1, 201))
    assert len({place["data_id"] for place in answer.record["places"]}) == 200


@pytest.mark.parametrize(("scenario", "count"), [("few", 27), ("loop", 27), ("empty", 0), ("huge", 20)])
async def test_lists_may_have_other_lengths(crawlers, scenario, count):
    """Short lists, lists that start over, empty ones and huge pages have their number of places."""
    answer = await crawlers.answer(call(f"coffee sandbox:{scenario}", num=20 if scenario == "huge" else 60))
    assert len(answer.record["places"]) == count
    assert answer.outcome is (Outcome.OK if count else Outcome.EMPTY)


@pytest.mark.parametrize(
    ("scenario", "error", "kind"),
    [
        ("captcha", BlockedError, "captcha"),
        ("limited", BlockedError, "captcha"),
        ("enablejs", BlockedError, "javascript"),
        ("consent", BlockedError, "consent"),
        ("denied", BlockedError, "denied"),
        ("layout", LayoutError, None),
        ("html", LayoutError, None),
        ("error", UpstreamError, "http_500"),
        ("reset", UpstreamError, "reset"),
        ("truncated", UpstreamError, "truncated"),
    ],
)
async def test_a_failed_fetch_has_its_error(crawlers, scenario, error, kind):
    """Each kind of failure has its own error."""
    with pytest.raises(error) as caught:
        await crawlers.answer(call(f"coffee sandbox:{scenario}"))
    assert caught.value.kind == kind


def test_the_service_answers(running):
    """The endpoint returns places; a wrong parameter is a 400, a failure a 502."""
    status, headers, record = running.get("/v1/maps/search/cafes%20in%20Porto?num=30", **{"X-Proxy-Location": "DE"})
    assert (status, headers["x-outcome"], headers["x-ignored-params"]) == (200, "ok", "X-Proxy-Location")
    assert record["result_count"] == 30
    validate(MAPS_SEARCH, record)

    status, _, body = running.get("/v1/maps/search/cafes?num=500")
    assert (status, body["error"]["code"]) == (400, "bad_request")
    status, headers, body = running.get("/v1/maps/search/" + quote("cafes sandbox:layout"))
    assert (status, body["error"]["code"], headers["x-outcome"]) == (502, "layout_changed", "layout")


def test_a_batch_has_all_pages(tmp_path):
    """A batch writes a record with all pages of each query, and its failures."""
    queries = tmp_path / "queries.csv"
    queries.write_text("q,num\ncafes,45\nbakeries sandbox:few,200\nmuseums sandbox:captcha,5\n")
    out = tmp_path / "out.jsonl"
    command = [
        Path(sys.executable).with_name("scrapy"),
        "crawl",
        "google_maps",
        "-a",
        f"queries={queries}",
        "-O",
        str(out),
    ]
    subprocess.run([*command, "-s", "SANDBOX=1"], cwd=ROOT, check=True, capture_output=True, timeout=60)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert {record["query"]: record["result_count"] for record in records} == {"cafes": 45, "bakeries sandbox:few": 27}
    (failure,) = map(json.loads, (tmp_path / "out.failures.jsonl").read_text().splitlines())
    assert (failure["outcome"], failure["kind"]) == ("blocked", "captcha")
