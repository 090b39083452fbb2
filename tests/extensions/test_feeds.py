"""Feeds that lose and repeat nothing."""

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
    """Cannot tell the seventh query."""

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
async def test_a_job_that_is_done_does_nothing(job):
    """The same command again fetches nothing and leaves the feeds as they are."""
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)
    before = bytes_of(job)
    ended = await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert bytes_of(job) == before
    assert "response_received_count" not in ended.stats
    assert ended.crawler.spider.batch.ended.total() == len(QUERIES)


@ensureDeferred
async def test_wherever_the_journal_ends_each_query_ends_once(job):
    """Cut the journal anywhere, leave torn lines in the feeds: the next run loses and repeats nothing."""
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
async def test_a_run_that_stops_early_goes_on(job):
    """A job that was stopped gracefully is continued, as often as it takes."""
    queries = [f"q{number} 1" for number in range(40)]
    reasons = []
    while "finished" not in reasons:
        ended = await job(*queries, JOBDIR="job", CLOSESPIDER_ITEMCOUNT=5, CONCURRENT_REQUESTS=2)
        reasons.append(ended.stats["finish_reason"])
    assert len(reasons) > 2
    assert sorted(record["query"] for record in ended.records) == sorted(queries)


@ensureDeferred
async def test_what_was_there_before_a_job_stays(job):
    """A job that appends (-o) keeps what the file held, whenever it goes on."""
    append = {"out.jsonl": {"format": "jsonl"}}
    (job.folder / "out.jsonl").write_bytes(b'{"query":"older"}\n')
    await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    journal = job.folder / "job" / NAME
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:1]))
    ended = await job("coffee", "tea", FEEDS=append, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == ["coffee", "older", "tea"]


@ensureDeferred
async def test_what_a_job_overwrites_is_gone(job):
    """A job that overwrites (-O) begins with empty files, however old ones looked."""
    for name in FEEDS:
        (job.folder / name).write_bytes(b"old\n" * 1000)
    await job(*QUERIES, FEEDS=BOTH, JOBDIR="job")
    assert_exactly_once(job)


@ensureDeferred
async def test_a_name_with_the_time_in_it_stays_the_first(job):
    """A file that was named after the time is continued under that name."""
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
    """A folder of another job is refused before anything is fetched or cut off."""
    await job("coffee", "tea", JOBDIR="job")
    before = (job.folder / "out.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=f"holds another job, with other {what}"):
        await job(*change.pop("queries", ["coffee", "tea"]), JOBDIR="job", **change)
    assert (job.folder / "out.jsonl").read_bytes() == before


@ensureDeferred
async def test_a_feed_that_is_gone_is_refused(job):
    """A job whose feed was taken away does not go on as if it were there."""
    await job("coffee", "tea", JOBDIR="job")
    (job.folder / "out.jsonl").unlink()
    with pytest.raises(ConfigError, match="holds 0 bytes, but the job"):
        await job("coffee", "tea", JOBDIR="job")


@pytest.mark.parametrize("uri", ["out.json", "stdout:", "out.csv"])
@ensureDeferred
async def test_feeds_that_cannot_go_on_are_told(job, caplog, uri):
    """A feed that cannot be cut off at a line is named in a warning, and written all the same."""
    feeds = {uri: {"format": "json" if uri == "stdout:" else uri[4:]}}
    with caplog.at_level(logging.WARNING):
        ended = await job("coffee", FEEDS=feeds, JOBDIR="job")
    told = [record.getMessage() for record in caplog.records if "cannot be resumed" in record.getMessage()]
    assert told == [f"{uri} cannot be resumed: only files of the formats jsonl and rows can"]
    assert ended.stats["item_scraped_count"] == 1


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}])
@ensureDeferred
async def test_a_feed_that_cannot_be_written_stops_the_job(job, caplog, settings):
    """Nothing is fetched for a feed that takes nothing."""
    (job.folder / "file").write_text("in the way")
    feeds = {"file/out.jsonl": {"format": "jsonl"}}
    ended = await job(*[f"q{number}" for number in range(500)], FEEDS=feeds, FAILURES_FEED="f.jsonl", **settings)
    assert ended.stats["finish_reason"] == "feed_error"
    assert ended.stats.get("response_received_count", 0) < 200
    assert "A feed cannot be" in caplog.text


@ensureDeferred
async def test_a_query_that_one_feed_cannot_take_is_in_none_after_a_resume(job):
    """A feed that fails for one query stops the job, and the next run repeats that query whole."""
    feeds = {"out.jsonl": {"format": "jsonl"}, "rows.jsonl": {"format": "rows"}}
    queries = [f"q{number}" for number in range(50)]
    broken = {**job.exporters, "rows": FailingExporter}
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job", FEED_EXPORTERS=broken, CONCURRENT_REQUESTS=2)
    assert ended.stats["finish_reason"] == "feed_error"
    ended = await job(*queries, FEEDS=feeds, JOBDIR="job")
    assert sorted(record["query"] for record in ended.records) == sorted(queries)
    assert sorted(row["query"] for row in job.lines("rows.jsonl")) == sorted(queries)


@ensureDeferred
async def test_a_job_without_files_goes_on_too(job):
    """Where no feed can be cut off, the queries that have ended are still left out."""
    for fetched in (2, None):
        ended = await job(
            "coffee", "tea", FEEDS={"out.json": {"format": "json"}}, FAILURES_FEED="stdout:", JOBDIR="job"
        )
        assert ended.stats.get("response_received_count") == fetched


@ensureDeferred
async def test_a_single_query_is_a_job_too(job):
    """A query from the arguments is run once in a folder."""
    for _ in range(2):
        ended = await job(arguments={"q": "coffee"}, JOBDIR="job")
        assert [record["query"] for record in ended.records] == ["coffee"]
