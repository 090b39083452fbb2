"""News by the service against the sandbox, over real sockets."""

import subprocess
import time
from pathlib import Path
from sys import executable

import orjson
import pytest

from webdata.pipelines.validate import validate
from webdata.resources.news_search import NEWS_SEARCH

SCRAPY = Path(executable).with_name("scrapy")
SITE = "https://news.google.com/"
MOST_SECONDS = 3.0
"""Seconds in which a hundred links are resolved by an aggregator that takes 300 ms a reply."""


def all_links(record):
    for entry in record["entries"]:
        yield entry["link"]
        yield from (link["href"] for link in entry["links"])
        yield from (article["url"] for article in entry["sub_articles"])


@pytest.mark.parametrize(
    "path", ["/v1/news/q=coffee+shops", "/v1/news/?q=coffee+shops&ceid=us:EN", "/v1/news?q=coffee%20shops"]
)
def test_every_form_of_a_news_search_gives_the_same_articles(running, path):
    """All forms of a packed call give the aggregator's links, in feed.entries and in entries."""
    status, headers, record = running.get(path)
    assert (status, headers["x-outcome"], record["query"]) == (200, "ok", "coffee shops")
    assert len(record["entries"]) == 100
    assert record["feed"]["entries"] == record["entries"]
    assert record["feed"]["link"].endswith("ceid=US%3Aen")
    assert all(link.startswith(SITE) for link in all_links(record))
    assert not {"aggregator_link", "link_resolved"} & record["entries"][0].keys()
    assert "links_resolved" not in record
    validate(NEWS_SEARCH, record)


def test_the_edition_follows_the_region(running):
    """Without ceid the region's edition is requested."""
    _, _, record = running.get("/v1/news/q=coffee", **{"X-Proxy-Location": "br"})
    assert (record["feed"]["language"], record["device_region"]) == ("pt-BR", "BR")


@pytest.mark.parametrize("kind", ["", "+sandbox:old_links"])
def test_links_of_both_kinds_are_resolved(running, kind):
    """Old ids are decoded, new ones requested, and every link is that of the publisher."""
    status, _, record = running.get(f"/v1/news/?q=coffee{kind}&resolve_links=true")
    assert (status, record["links_resolved"]) == (200, 100)
    assert not any(link.startswith(SITE) for link in all_links(record))
    assert not any(SITE in entry["summary"] for entry in record["entries"])
    assert all(entry["link_resolved"] and entry["aggregator_link"].startswith(SITE) for entry in record["entries"])
    assert all(one["link_resolved"] for entry in record["entries"] for one in entry["sub_articles"])
    validate(NEWS_SEARCH, record)


@pytest.mark.timed
@pytest.mark.slow
def test_links_of_a_slow_aggregator_are_resolved_in_time(running):
    """With 300 ms a reply a hundred links take at most MOST_SECONDS; once they are cached, the time of one reply."""
    running.get("/v1/news/q=warm")
    for most in (MOST_SECONDS, 1.0):
        begun = time.monotonic()
        _, _, record = running.get("/v1/news/?q=coffee+sandbox:slow=0.3&resolve_links=true")
        assert time.monotonic() - begun < most
        assert record["links_resolved"] == 100


@pytest.mark.timed
@pytest.mark.parametrize("scenario", ["links_down", "links_limited", "links_consent"])
def test_links_are_unchanged_with_the_aggregator_down(running, scenario):
    """Links that cannot be resolved are returned unchanged, and marked."""
    begun = time.monotonic()
    status, headers, record = running.get(f"/v1/news/?q=coffee+sandbox:{scenario}&resolve_links=true")
    assert time.monotonic() - begun < MOST_SECONDS
    assert (status, headers["x-outcome"], record["links_resolved"]) == (200, "ok", 0)
    assert all(link.startswith(SITE) for link in all_links(record))
    assert not any(entry["link_resolved"] for entry in record["entries"])
    assert all(entry["link"] == entry["aggregator_link"] for entry in record["entries"])
    validate(NEWS_SEARCH, record)


@pytest.mark.slow
def test_links_are_resolved_within_the_deadline(start):
    """With an aggregator that is too slow fewer links are resolved, and the answer is in time."""
    with start(WEBDATA_DEADLINE="4") as one:
        one.get("/v1/news/q=warm")
        for seconds, fewest in ((0.7, 25), (60, 0)):
            status, _, record = one.get(f"/v1/news/?q=coffee+sandbox:links_slow={seconds}&resolve_links=true")
            assert status == 200
            assert fewest <= record["links_resolved"] < 100


@pytest.mark.parametrize(
    ("scenario", "status", "outcome"),
    [
        ("empty", 200, "empty"),
        ("huge", 200, "ok"),
        ("encoding", 200, "ok"),
        ("unsupported", 404, "not_found"),
        ("captcha", 502, "blocked"),
        ("consent", 200, "ok"),
        ("denied", 502, "blocked"),
        ("limited", 502, "blocked"),
        ("layout", 502, "layout"),
        ("error", 502, "upstream"),
        ("reset", 502, "upstream"),
        ("truncated", 502, "upstream"),
    ],
)
def test_a_failure_has_its_outcome(running, scenario, status, outcome):
    """Each failure and each empty answer has its status and outcome."""
    got, headers, _ = running.get(f"/v1/news/q=coffee+sandbox:{scenario}&resolve_links=true")
    assert (got, headers["x-outcome"]) == (status, outcome)


@pytest.mark.parametrize(
    ("query", "name", "right"),
    [
        ("q=coffee&ceid=xx", "ceid", "such as ceid=US:en"),
        ("q=coffee&resolve_links=maybe", "resolve_links", "one of true, false"),
        ("q=", "q", "such as q=coffee+shops"),
        ("coffee", "q", "/v1/news/q=coffee"),
    ],
)
def test_a_wrong_query_is_refused(running, query, name, right):
    """A wrong parameter is a 422 with its name and the valid values."""
    status, _, body = running.get(f"/v1/news/{query}")
    assert (status, body["detail"][0]["loc"]) == (422, ["query", name])
    assert right in body["detail"][0]["msg"]


@pytest.mark.slow
def test_a_batch_resolves_links_too(tmp_path):
    """`scrapy crawl google_news` writes records with resolved links, and failures."""
    (tmp_path / "queries.txt").write_text("coffee\nsandbox:limited\n")
    arguments = ["-a", "queries=queries.txt", "-a", "resolve_links=true", "-O", "out.jsonl", "-s", "SANDBOX=1"]
    environ = {"PATH": "/usr/bin:/bin", "SCRAPY_SETTINGS_MODULE": "webdata.settings", "WEBDATA_SAMPLES": ""}
    command = [SCRAPY, "crawl", "google_news", *arguments]
    subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, timeout=60, check=True)
    (record,) = map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines())
    (failure,) = map(orjson.loads, (tmp_path / "out.failures.jsonl").read_bytes().splitlines())
    assert (record["query"], record["links_resolved"], failure["outcome"]) == ("coffee", 100, "blocked")
    validate(NEWS_SEARCH, record)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.failures.jsonl", "out.jsonl", "queries.txt"]


@pytest.mark.captures
def test_a_saved_feed_is_parsed(captures, invoke):
    """`webdata parse google_news` parses a real feed, and reads the query from it."""
    feed = captures / "news" / "gnews-2026-07-bears-ears-search-en.xml"
    verdict = orjson.loads(invoke("parse", "google_news", feed).stdout)
    assert (verdict["outcome"], verdict["record"]["query"]) == ("ok", '"Bears Ears" monument')
    assert len(verdict["record"]["entries"]) == 92


@pytest.mark.captures
def test_old_links_are_resolved_without_a_network(captures, invoke):
    """Ids of a saved feed of 2022 are resolved, those of 2026 are not."""
    files = sorted((captures / "news").glob("*.xml"))
    done = invoke("parse", "google_news", *files, "-a", "q=news", "-a", "resolve_links=true")
    verdicts = map(orjson.loads, done.stdout.splitlines())
    counted = {Path(one["file"]).name[:10]: one["record"]["links_resolved"] for one in verdicts}
    assert counted == {"gnews-2022": 38, "gnews-2026": 0}
