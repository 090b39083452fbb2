"""Feeds of jobs that are killed and resumed."""

import logging
from collections import Counter

import pytest
from pytest_twisted import ensureDeferred

from webdata.batch.journal import NAME
from webdata.domain.errors import ConfigError
from webdata.extensions.exporters import RowsExporter

QUERIES = ["coffee 2", "layout", "none", "tea 3", "bug", "milk 1"]
BOTH = {"out.jsonl": {"format": "jsonl", "overwrite": True}, "rows.jsonl": {"format": "rows", "overwrite": True}}
FEEDS = ["out.jsonl", "rows.jsonl", "out.failures.jsonl"]
RESULTS = {"coffee 2": 2, "tea 3": 3, "milk 1": 1}


class FailingExporter(RowsExporter):
    """Fails to export the record of one query."""

    def export_item(self, item):
        if item["query"] == "q7":
            raise KeyError("position")
        super().export_item(item)


def assert_exactly_once(job):
    records = [record["query"] for record in job.lines("out.jsonl")]
    failures = [failure["query"]["q"] for failure in job.lines("out.failures.jsonl")]
    assert sorted(records + failures) == sorted(QUERIES)
    assert sorted(failures) == ["bug", "layout"]
    assert Counter(row["query"] for row in job.lines("rows.jsonl")) == RESULTS


def bytes_of(job):
    return [(job.folder / name).read_bytes() for name in FEEDS]


@ensureDeferred
async def test_a_finished_job_fetches_nothing(job):
    """The same command again leaves the feeds unchanged."""
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)
    before = bytes_of(job)
    ended = await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert bytes_of(job) == before
    assert "response_received_count" not in ended.stats
    assert ended.crawler.spider.batch.ended.total() == len(QUERIES)


@ensureDeferred
async def test_each_query_ends_once_after_any_kill(job):
    """A run after a truncated journal and torn lines in the feeds neither loses nor repeats a record."""
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    journal = job.folder / "job" / NAME
    whole, feeds = journal.read_bytes(), bytes_of(job)
    header = whole.index(b"\n") + 1
    for end in [*range(header, len(whole), 7), len(whole)]:
        journal.write_bytes(whole[:end])
        for name, content in zip(FEEDS, feeds, strict=True):
            (job.folder / name).write_bytes(content + b'{"query": "torn')
        await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
        assert_exactly_once(job)


@ensureDeferred
async def test_a_stopped_job_is_resumed(job):
    """Runs that stop early finish the job together."""
    queries = [f"q{number} 1" for number in range(40)]
    reasons = []
    while "finished" not in reasons:
        ended = await job(*queries, JOBDIR="job", CLOSESPIDER_ITEMCOUNT=5, CONCURRENT_REQUESTS=2)
        reasons.append(ended.stats["finish_reason"])
    assert len(reasons) > 2
    assert sorted(record["query"] for record in ended.records) == sorted(queries)


@ensureDeferred
async def test_an_appending_job_preserves_the_file(job):
    """A job that appends (-o) never truncates the records that were in the file before it."""
    append = {"out.jsonl": {"format": "jsonl"}}
    (job.folder / "out.jsonl").write_bytes(b'{"query":"older"}\n')
    await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    journal = job.folder / "job" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:1]))
    ended = await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == ["coffee", "older", "tea"]


@ensureDeferred
async def test_an_overwriting_job_begins_with_empty_files(job):
    """A job that overwrites (-O) removes the old content."""
    for name in FEEDS:
        (job.folder / name).write_bytes(b"old\n" * 1000)
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)


@ensureDeferred
async def test_a_resumed_job_writes_to_the_same_file(job):
    """A file with the time in its name is continued under its first name."""
    feeds = {"out-%(time)s.jsonl": {"format": "jsonl"}}
    await job("coffee", "tea", FEEDS=feeds, JOBDIR="job")
    journal = job.folder / "job" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]).replace(b"out-2", b"out-1"))
    for path in job.folder.glob("out-2*"):
        path.rename(path.with_name(path.name.replace("out-2", "out-1")))
    await job("coffee", "tea", FEEDS=feeds, JOBDIR="job")
    (path,) = [path for path in job.folder.glob("out-*") if "failures" not in path.name]
    assert sorted(record["query"] for record in job.lines(path)) == ["coffee", "tea"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"queries": ["coffee", "cocoa"]}, "queries "),
        ({"arguments": {"queries": "q.txt", "num": "5"}}, "arguments"),
        ({"FEEDS": {"other.jsonl": {"format": "jsonl"}}}, "feeds"),
    ],
)
@ensureDeferred
async def test_another_job_is_refused(job, change, what):
    """A folder of another job is refused before anything is fetched or truncated."""
    await job("coffee", "tea", JOBDIR="job")
    before = (job.folder / "out.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=f"holds another job, with other {what}"):
        await job(*change.pop("queries", ["coffee", "tea"]), JOBDIR="job", **change)
    assert (job.folder / "out.jsonl").read_bytes() == before


@ensureDeferred
async def test_a_missing_feed_is_refused(job):
    """A job whose feed was removed is not resumed."""
    await job("coffee", "tea", JOBDIR="job")
    (job.folder / "out.jsonl").unlink()
    with pytest.raises(ConfigError, match="holds 0 bytes, but the job"):
        await job("coffee", "tea", JOBDIR="job")


@pytest.mark.parametrize("uri", ["out.json", "stdout:", "out.csv"])
@ensureDeferred
async def test_a_feed_that_cannot_be_resumed_is_named_in_a_warning(job, caplog, uri):
    """A feed that cannot be truncated at a line is written nevertheless."""
    feeds = {uri: {"format": "json" if uri == "stdout:" else uri[4:]}}
    with caplog.at_level(logging.WARNING):
        ended = await job("coffee", FEEDS=feeds, JOBDIR="job")
    warnings = [record.getMessage() for record in caplog.records if "cannot be resumed" in record.getMessage()]
    assert warnings == [f"{uri} cannot be resumed: only files of the formats jsonl and rows can"]
    assert ended.stats["item_scraped_count"] == 1


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}])
@ensureDeferred
async def test_a_feed_that_cannot_be_written_stops_the_job(job, caplog, settings):
    """Nothing more is fetched once a feed has failed."""
    (job.folder / "file").write_text("no folder")
    feeds = {"file/out.jsonl": {"format": "jsonl"}}
    ended = await job(*[f"q{number}" for number in range(500)], FEEDS=feeds, FAILURES_FEED="f.jsonl", **settings)
    assert ended.stats["finish_reason"] == "feed_error"
    assert ended.stats.get("response_received_count", 0) < 200
    assert "A feed cannot be" in caplog.text


@ensureDeferred
async def test_a_query_that_one_feed_cannot_write_is_repeated_for_all(job):
    """A feed that fails for one query stops the job, and the next run writes that query to all feeds."""
    feeds = {"out.jsonl": {"format": "jsonl"}, "rows.jsonl": {"format": "rows"}}
    queries = [f"q{number}" for number in range(50)]
    broken = {**job.exporters, "rows": FailingExporter}
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job", FEED_EXPORTERS=broken, CONCURRENT_REQUESTS=2)
    assert ended.stats["finish_reason"] == "feed_error"
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == sorted(queries)
    assert sorted(row["query"] for row in job.lines("rows.jsonl")) == sorted(queries)


@ensureDeferred
async def test_a_job_without_files_is_resumed_too(job):
    """Queries that have ended are skipped though no feed can be truncated."""
    for fetched in (2, None):
        ended = await job(
            "coffee", "tea", FEEDS={"out.json": {"format": "json"}}, FAILURES_FEED="stdout:", JOBDIR="job"
        )
        assert ended.stats.get("response_received_count") == fetched


@ensureDeferred
async def test_a_single_query_is_a_job_too(job):
    """A query from the arguments is run once per job folder."""
    for _ in range(2):
        ended = await job(arguments={"q": "coffee"}, JOBDIR="job")
        assert [record["query"] for record in ended.records] == ["coffee"]
